// Package interp is the interpreter inside the session process: it runs the lowered cells of kernel/eval/interp with
// yaegi over the session's variables, functions and types.
//
// It decides nothing: what it is given has been checked and lowered. Every unit gets an interpreter of its own, because
// yaegi keeps whatever an interpreter has seen for ever; making one costs some ten microseconds. Its one invariant: no
// state of a cell outlives its unit except in kernel/session/rt.
package interp

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/traefik/yaegi/interp"

	"github.com/gander-go/gander/kernel/session/link"
	"github.com/gander-go/gander/kernel/session/rt"
	"github.com/gander-go/gander/kernel/session/worker"
)

//go:generate go run ./gen

func init() {
	worker.RegisterInterpreter(func() (worker.Interpreter, error) { return New(), nil })
}

// New makes an interpreter over the session of this process.
func New() worker.Interpreter { return &runner{made: map[string]map[string]reflect.Value{}} }

// Import paths of lowered code.
const (
	namesPath = "gander.session/names"
	stdPrefix = "gander.session/std/"
)

// runner implements worker.Interpreter.
type runner struct {
	made       map[string]map[string]reflect.Value // symbol tables by import path, or by the name that they are registered under
	registered map[string]string                   // of the unit: names of tables by import path
}

// Run implements worker.Interpreter.
func (r *runner) Run(_ context.Context, u *link.Unit) error {
	exports := interp.Exports{}
	r.registered = u.Tables
	for _, path := range u.Symbols {
		table, err := r.table(path)
		if err != nil {
			return err
		}
		exports[stdPrefix+path+"/"+baseName(path)] = table
	}
	for _, v := range u.Vars {
		t, err := r.typeOf(v.Type)
		if err != nil {
			return fmt.Errorf("making variable %q: %w", v.Name, err)
		}
		rt.DefineType(v.Name, t)
	}
	var line atomic.Int64
	own, err := r.sessionSymbols(u.Names, &line)
	if err != nil {
		return err
	}
	exports[namesPath+"/names"] = own

	trap := &stackTrap{}
	i := interp.New(interp.Options{Stderr: trap, Stdout: trap})
	if err := i.Use(exports); err != nil {
		return fmt.Errorf("loading symbols: %w", err)
	}
	cell, err := compile(i, u.Source)
	if err != nil {
		return err
	}
	return call(cell, trap, &line, u)
}

// compile makes a function of the unit's source. yaegi may panic while it compiles.
func compile(i *interp.Interpreter, source string) (cell func(), err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("interpreting: %v", p)
		}
	}()
	if _, err := i.Eval(source); err != nil {
		return nil, fmt.Errorf("interpreting: %w", err)
	}
	v, err := i.Eval("cell.Cell")
	if err != nil {
		return nil, fmt.Errorf("interpreting: %w", err)
	}
	cell, ok := v.Interface().(func())
	if !ok {
		return nil, errors.New("interpreting: the unit defines no func Cell()")
	}
	return cell, nil
}

// call runs the cell. A panic leaves as it is, or as a *worker.Panic when yaegi has changed it.
func call(cell func(), trap *stackTrap, line *atomic.Int64, u *link.Unit) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if v, ok := p.(reflect.Value); ok && v.IsValid() && v.CanInterface() {
			p = v.Interface()
		}
		if _, ok := p.(rt.Interrupted); ok {
			panic(p)
		}
		err = &worker.Panic{Value: goValue(p), Stack: trap.withCell(int(line.Load()), u.Cell)}
	}()
	cell()
	return nil
}

// stackTrap is where yaegi reports a panic. It does so while the stack of the panic is still there, which is the only
// chance to see the frames of compiled functions.
type stackTrap struct{ stack []byte }

// Write implements io.Writer.
func (t *stackTrap) Write(p []byte) (int, error) {
	if t.stack == nil {
		t.stack = debug.Stack()
	}
	return len(p), nil
}

// withCell is the stack without the interpreter's own frames, and with one for the cell's own line.
func (t *stackTrap) withCell(line, cell int) []byte {
	var b strings.Builder
	lines := strings.Split(strings.TrimRight(string(t.stack), "\n"), "\n")
	b.WriteString("goroutine 1 [running]:\n")
	for k := 1; k+1 < len(lines); k += 2 {
		if strings.HasPrefix(lines[k], "github.com/traefik/yaegi/") {
			if b.Len() > len("goroutine 1 [running]:\n") && strings.Contains(b.String(), "In[") {
				break
			}
			continue
		}
		b.WriteString(lines[k] + "\n" + lines[k+1] + "\n") // of cells, and of packages that may be the user's
	}
	fmt.Fprintf(&b, "main.Cell(...)\n\tIn[%d]:%d\n", cell, line)
	return []byte(b.String())
}

func (r *runner) table(path string) (map[string]reflect.Value, error) {
	if name := r.registered[path]; name != "" {
		t, ok := r.made[name]
		if !ok {
			if t = rt.Table(name); t == nil {
				return nil, fmt.Errorf("loading symbols: no table of package %q was registered", path)
			}
			r.made[name] = t
		}
		return t, nil
	}
	if t, ok := r.made[path]; ok {
		return t, nil
	}
	make, ok := tables[path]
	if !ok {
		return nil, fmt.Errorf("loading symbols: there is no table of package %q", path)
	}
	t := make()
	if path == "fmt" {
		t["Print"] = reflect.ValueOf(func(a ...any) (int, error) { return fmt.Fprint(rt.Stdout, a...) })
		t["Printf"] = reflect.ValueOf(func(format string, a ...any) (int, error) { return fmt.Fprintf(rt.Stdout, format, a...) })
		t["Println"] = reflect.ValueOf(func(a ...any) (int, error) { return fmt.Fprintln(rt.Stdout, a...) })
	}
	r.made[path] = t
	return t, nil
}

// baseName is the name that yaegi gives a package of this import path.
func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
