package kineto

import (
	"errors"
	"io"

	"github.com/gander-go/gander/profiler/trace"
)

// Read builds a trace from Chrome trace JSON, gzip-compressed or not. Damage inside is repaired or skipped and counted in
// Trace.Problems; an error means that the input is not such a file at all, or could not be read.
func Read(r io.Reader, opt ReadOptions) (*trace.Trace, error) {
	return nil, errors.New("reading kineto trace: not there yet")
}
