package magics

import (
	"fmt"
	"os"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/profiler/trace"
)

// bind gives the session a variable with the profile, as profiler.Load reads it: cells can then group, sort and export
// it again. The trace travels through a file because the session is another process.
func (m *call) bind(t *trace.Trace, o profileOptions) *cell.Result {
	f, err := os.CreateTemp("", "gander-profile-*.trace")
	if err != nil {
		return m.failure(fmt.Errorf("binding the profile to %s: %w", o.output, err))
	}
	defer os.Remove(f.Name())
	err = trace.Encode(f, t)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return m.failure(fmt.Errorf("binding the profile to %s: %w", o.output, err))
	}
	code := fmt.Sprintf("%s := profiler.MustLoad(%q)", o.output, f.Name())
	r, _ := m.lang.Run(m.ctx, m.cell, code, m.line, RunOptions{Quiet: true}, m.out, m.in)
	return r
}
