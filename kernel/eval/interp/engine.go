package interp

import (
	"context"
	"errors"
	"fmt"
	"go/types"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval/check"
	"github.com/gander-go/gander/kernel/session/link"
)

// Options say how far the engine goes.
type Options struct {
	// HotLoops lets it run loops whose number of rounds is not known to be small. They are right but slow: where cells
	// can be compiled, they are better refused.
	HotLoops bool
	// Carried are the packages whose symbols the session process carries; Packages when empty.
	Carried []string
	// Tables makes the symbols of packages that the session process does not carry known to it. Without it, cells that
	// use such packages are refused.
	Tables Tables
}

func (o *Options) carried() []string {
	if o.Carried != nil {
		return o.Carried
	}
	return Packages
}

// Table is a built symbol table of a package.
type Table struct {
	Name   string // under which the plugin registers it with package rt
	Plugin string // file
}

// Tables builds symbol tables; the compiled engine does. A package is used by one goroutine at a time.
type Tables interface {
	// Table returns the table of p. Where it is not built it is built now if wait is set, otherwise the error is ErrNoTable.
	// Another error means that it cannot be had.
	Table(ctx context.Context, p *types.Package, wait bool) (Table, error)
	// BuildTable begins to build the table of p and returns.
	BuildTable(p *types.Package)
}

// ErrNoTable is the error of Tables for a table that is not built yet.
var ErrNoTable = errors.New("the package's symbols are not at hand yet")

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

// Build implements eval.Engine. A table that is missing is built where no other engine could take the cell.
func (e *Engine) Build(ctx context.Context, c *check.Checked, o check.BuildOptions) (link.Unit, func(), error) {
	l, err := e.lower(c, o)
	if err != nil {
		return link.Unit{}, nil, fmt.Errorf("interpreting In[%d]: the cell %w", c.N, err)
	}
	u := l.unit()
	for _, p := range l.foreign {
		t, err := e.o.Tables.Table(ctx, p, o.Only)
		if err != nil {
			if o.Only && ctx.Err() == nil {
				err = &cell.UserError{Name: "NotSupported", Message: "the interpreter cannot use package " + p.Path() + ": " + err.Error()}
			}
			return link.Unit{}, nil, err
		}
		u.Plugins = append(u.Plugins, t.Plugin)
		if u.Tables == nil {
			u.Tables = map[string]string{}
		}
		u.Tables[p.Path()] = t.Name
	}
	return u, func() {}, nil
}

// Learn implements eval.Learner: it begins to build the tables that c lacked.
func (e *Engine) Learn(c *check.Checked) {
	l, err := e.lower(c, check.BuildOptions{})
	if err != nil {
		return
	}
	for _, p := range l.foreign {
		e.o.Tables.BuildTable(p)
	}
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
