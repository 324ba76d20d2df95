package kineto

import (
	"errors"
	"io"

	"github.com/gander-go/gander/profiler/trace"
)

// Write writes t as Chrome trace JSON in Kineto's spelling, for Perfetto, chrome://tracing and PyTorch's tools. It
// streams and does not compress.
func Write(w io.Writer, t *trace.Trace, opt WriteOptions) error {
	return errors.New("writing kineto trace: not there yet")
}
