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

// tables makes the symbol table of each package that interpreted cells may use. Filled by init functions.
var tables = map[string]func() map[string]reflect.Value{}

func init() {
	worker.RegisterInterpreter(func() (worker.Interpreter, error) { return &runner{made: map[string]map[string]reflect.Value{}}, nil })
}

// Import paths of lowered code.
const (
	namesPath = "gander.session/names"
	stdPrefix = "gander.session/std/"
)

// runner implements worker.Interpreter.
type runner struct {
	made map[string]map[string]reflect.Value // symbol tables by import path
}

// Run implements worker.Interpreter.
func (r *runner) Run(_ context.Context, u *link.Unit) error {
	exports := interp.Exports{}
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
	own, err := sessionSymbols(u.Names, &line)
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
		if strings.HasPrefix(strings.TrimSpace(lines[k+1]), "In[") {
			b.WriteString(lines[k] + "\n" + lines[k+1] + "\n")
		}
	}
	fmt.Fprintf(&b, "main.Cell(...)\n\tIn[%d]:%d\n", cell, line)
	return []byte(b.String())
}

// runtimeError is what Go's own run-time errors look like: yaegi raises reflect's instead.
type runtimeError string

func (e runtimeError) Error() string { return "runtime error: " + string(e) }

// RuntimeError makes it a runtime.Error.
func (runtimeError) RuntimeError() {}

// goValue is the value that compiled code would have panicked with.
func goValue(p any) any {
	var text string
	switch v := p.(type) {
	case *reflect.ValueError:
		text = v.Error()
	case string:
		text = v
	default:
		return p
	}
	switch {
	case text == "reflect: slice index out of range", text == "reflect: array index out of range", text == "reflect: string index out of range":
		return runtimeError("index out of range")
	case strings.HasPrefix(text, "reflect.Value.Slice"), strings.HasPrefix(text, "reflect.Value.Slice3"):
		return runtimeError("slice bounds out of range")
	case strings.HasPrefix(text, "reflect: call of reflect.Value.") && strings.HasSuffix(text, " on zero Value"),
		strings.Contains(text, "nil pointer"):
		return runtimeError("invalid memory address or nil pointer dereference")
	}
	return p
}

func (r *runner) table(path string) (map[string]reflect.Value, error) {
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

// sessionSymbols makes the package that lowered code knows the session by.
func sessionSymbols(names []string, line *atomic.Int64) (map[string]reflect.Value, error) {
	own := map[string]reflect.Value{
		"At":    reflect.ValueOf(func(n int) { line.Store(int64(n)) }),
		"Show":  reflect.ValueOf(rt.Show),
		"Check": reflect.ValueOf(check),
		"Panic": reflect.ValueOf(func(v any) { panic(v) }),
	}
	for _, name := range names {
		kind, rest, _ := strings.Cut(name, "_")
		switch kind {
		case "V":
			v := rt.Lookup(rest)
			if v == nil {
				return nil, fmt.Errorf("using session variable %q: there is none", rest)
			}
			own[name] = v.Value().Addr()
		case "F":
			f := rt.Func(rest)
			if !f.IsValid() {
				return nil, fmt.Errorf("using session function %q: there is none", rest)
			}
			own[name] = f
		case "T":
			t := rt.Type(rest)
			if t == nil {
				return nil, fmt.Errorf("using session type %q: there is none", rest)
			}
			own[name] = reflect.Zero(reflect.PointerTo(t))
		}
	}
	return own, nil
}

// check ends an interpreted loop that is to stop.
func check() {
	if atomic.LoadUint32(rt.StopFlag) != 0 {
		rt.Halt()
	}
}
