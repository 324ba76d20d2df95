package render

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/gander-go/gander/profiler/trace"
)

func jsonRaw(b []byte) json.RawMessage { return json.RawMessage(b) }

// Profile draws one trace as the output of a notebook cell.
func Profile(t *trace.Trace, o Options) (Bundle, error) {
	return Bundle{}, errors.New("rendering a profile: not built yet")
}

// Diff draws the comparison of two traces as the output of a notebook cell.
func Diff(base, next *trace.Trace, o Options) (Bundle, error) {
	return Bundle{}, errors.New("rendering a diff: not built yet")
}

// Page writes one self-contained HTML page for ts; several traces are the ranks of one job.
func Page(w io.Writer, ts []*trace.Trace, o Options) error {
	return errors.New("rendering a page: not built yet")
}

// DiffPage writes one self-contained HTML page that compares two traces.
func DiffPage(w io.Writer, base, next *trace.Trace, o Options) error {
	return errors.New("rendering a diff page: not built yet")
}
