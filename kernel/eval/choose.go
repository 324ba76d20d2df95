package eval

import (
	"context"
	"errors"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval/check"
	"github.com/gander-go/gander/kernel/session/link"
)

// built is a unit and what belongs to it.
type built struct {
	engine Engine
	unit   link.Unit
	commit func()
}

// choices are the engines to try, in order, and why others are not tried.
func (e *Evaluator) choices(c *check.Checked, mode string) (try []Engine, why string) {
	if mode == "" {
		mode = e.Engine()
	}
	if mode != Native && e.cfg.Interp != nil {
		ok, reason := e.cfg.Interp.Supports(c)
		if ok {
			try = append(try, e.cfg.Interp)
		}
		why = reason
	}
	if mode != Interp && e.cfg.Native != nil {
		ok, reason := e.cfg.Native.Supports(c)
		if ok {
			try = append(try, e.cfg.Native)
		} else {
			why = reason
		}
	}
	return try, why
}

func (e *Evaluator) build(ctx context.Context, c *check.Checked, o RunOptions) (*built, *cell.UserError) {
	try, why := e.choices(c, o.Engine)
	if len(try) == 0 {
		return nil, e.refused(o.Engine, why)
	}
	o.Only = len(try) == 1
	var err error
	for i, eng := range try {
		b := &built{engine: eng}
		b.unit, b.commit, err = eng.Build(ctx, c, o.BuildOptions)
		if err == nil {
			for _, before := range try[:i] {
				if l, ok := before.(Learner); ok {
					l.Learn(c)
				}
			}
			return b, nil
		}
		var ue *cell.UserError
		if errors.As(err, &ue) {
			e.dress(ue)
			return nil, ue
		}
		if ctx.Err() != nil {
			return nil, interrupted()
		}
	}
	return nil, e.plainError("BuildError", err.Error())
}

// refused is the error of a cell that no engine takes.
func (e *Evaluator) refused(mode, why string) *cell.UserError {
	if mode == "" {
		mode = e.Engine()
	}
	msg := "the cell cannot be interpreted right"
	if why != "" {
		msg = "the interpreter is not trusted with this cell: it " + why
	}
	switch {
	case e.cfg.Native != nil && mode == Interp:
		msg += "\n%engine auto compiles such cells."
	case e.cfg.Native == nil:
		msg += "\n" + e.noNative()
	}
	return e.plainError("NotSupported", msg)
}

// tellNotes tells what the engines have to say.
func (e *Evaluator) tellNotes(out cell.Output) {
	for _, eng := range []Engine{e.cfg.Native, e.cfg.Interp} {
		if n, ok := eng.(Noter); ok {
			for _, note := range n.Notes() {
				out.Stream(cell.Stderr, "Note: "+note+"\n")
			}
		}
	}
}
