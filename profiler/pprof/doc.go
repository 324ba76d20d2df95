// Package pprof turns profile.proto, the format of `go tool pprof`, into samples of a trace.Trace and back.
//
// It knows nothing of the older text formats (internal/open converts those) and does no aggregation beyond what the
// format demands. It imports only the standard library, because cells export profiles from the process they run in.
//
// Its invariant: Read(Write(t)) has the samples of t.
package pprof

import (
	"errors"
	"io"

	"github.com/gander-go/gander/profiler/trace"
)

// Read builds a trace from a profile, gzip-compressed or not.
func Read(r io.Reader) (*trace.Trace, error) { return nil, errors.New("reading profile: not there yet") }

// Write writes the samples of t of one kind as a gzip-compressed profile.
func Write(w io.Writer, t *trace.Trace, kind trace.SampleKind) error {
	return errors.New("writing profile: not there yet")
}
