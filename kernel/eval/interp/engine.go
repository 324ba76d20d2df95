package interp

import (
	"context"
	"errors"
	"fmt"

	"github.com/gander-go/gander/kernel/eval/check"
	"github.com/gander-go/gander/kernel/session/link"
)

// Options say how far the engine goes.
type Options struct {
	// HotLoops lets it run loops whose number of rounds is not known to be small. They are right but slow: where cells
	// can be compiled, they are better refused.
	HotLoops bool
}

// Engine implements eval.Engine.
type Engine struct{ o Options }

// New makes the engine.
func New(o Options) *Engine { return &Engine{o} }

// Supports implements eval.Engine.
func (e *Engine) Supports(c *check.Checked) (ok bool, reason string) {
	_, err := e.lower(c, check.BuildOptions{})
	if err != nil {
		return false, err.Error()
	}
	return true, ""
}

// Build implements eval.Engine.
func (e *Engine) Build(_ context.Context, c *check.Checked, o check.BuildOptions) (link.Unit, func(), error) {
	l, err := e.lower(c, o)
	if err != nil {
		return link.Unit{}, nil, fmt.Errorf("interpreting In[%d]: the cell %w", c.N, err)
	}
	return l.unit(), func() {}, nil
}

// Reset implements eval.Engine. The engine keeps nothing.
func (e *Engine) Reset() {}

// refusal is why a cell is not run; it reads on from "the cell".
type refusal struct{ reason string }

func (r *refusal) Error() string { return r.reason }

func refuse(format string, args ...any) {
	panic(&refusal{fmt.Sprintf(format, args...)})
}

func (e *Engine) lower(c *check.Checked, o check.BuildOptions) (l *lowering, err error) {
	defer func() {
		if r := recover(); r != nil {
			ref, ok := r.(*refusal)
			if !ok {
				panic(r)
			}
			l, err = nil, ref
		}
	}()
	if o.Instrument {
		return nil, errors.New("is profiled call by call")
	}
	l = newLowering(c, e.o, o)
	l.cell()
	return l, nil
}
