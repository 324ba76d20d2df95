// Package gotrace turns Go execution traces (runtime/trace) into tracks, slices, counters and samples of a trace.Trace.
//
// It runs in the front process only, because the parser it uses is not part of the standard library. It does not analyse:
// slices too short to see are added up, nothing else.
//
// Its invariant: times of the result are on the clock of the recording it is merged into, or on the trace's own wall clock.
package gotrace

import (
	"errors"
	"io"

	"github.com/gander-go/gander/profiler/trace"
)

// Options steer Read and Merge.
type Options struct {
	// Grain is the duration in ns under which neighbouring state slices of a goroutine are added up; 0 picks one from
	// the length of the recording.
	Grain int64
	// MonoZero is the reading of CLOCK_MONOTONIC at time zero of the trace merged into. 0 means unknown: the wall clock
	// of Meta.Epoch is used instead, which is off by what the two clock readings were apart.
	MonoZero int64
}

// Read builds a trace from an execution trace.
func Read(r io.Reader, opt Options) (*trace.Trace, error) {
	return nil, errors.New("reading execution trace: not there yet")
}

// Merge adds to t what an execution trace recorded at the same time says: states and reasons on the goroutines' tracks,
// garbage collection, stop-the-world pauses, samples, tasks, regions and heap counters.
func Merge(t *trace.Trace, r io.Reader, opt Options) error {
	return errors.New("merging execution trace: not there yet")
}
