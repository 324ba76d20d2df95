package rt

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"unsafe"
	"weak"
)

// Variable is a session variable: storage of a Go type, alive as long as anything points to it.
type Variable struct {
	Name string
	Type reflect.Type
	Ptr  unsafe.Pointer // to a Type
	ID   int64          // of the meaning that it gives to its name, as the front counts them; 0 when that is not known
}

// Value is the variable as an addressable, settable reflect.Value.
func (v *Variable) Value() reflect.Value { return reflect.NewAt(v.Type, v.Ptr).Elem() }

var names struct {
	// mu guards what follows.
	mu    sync.RWMutex
	vars  map[string]*Variable
	types map[string]reflect.Type
	vals  map[string]reflect.Value // functions and other values
	old   map[string][]past
	// recent keeps what a run replaced alive until the run ends: the run may still ask for it.
	recent []*Variable
	// before is what names meant before the last run gave them new variables, in case the front takes that back.
	before map[string]meaning
	ids    map[string]int64   // of the variables that the run defines
	olds   map[string][]int64 // former variables that the run's code asks for, by name and slot
}

// meaning is what a name stands for.
type meaning struct {
	v *Variable
	t reflect.Type
	x reflect.Value
}

func init() {
	names.vars = map[string]*Variable{}
	names.types = map[string]reflect.Type{}
	names.vals = map[string]reflect.Value{}
	names.old = map[string][]past{}
	names.before = map[string]meaning{}
}

// Prepare is called before a run. The names in revert mean again what they did before the last run, whose cell failed before it gave
// them values. ids number the variables that the run may define, and olds the former ones that its code asks for (see Old).
func Prepare(revert []string, ids map[string]int64, olds map[string][]int64) {
	names.mu.Lock()
	defer names.mu.Unlock()
	for _, name := range revert {
		m, ok := names.before[name]
		if !ok {
			continue
		}
		delete(names.vars, name)
		if m.v != nil {
			names.vars[name] = m.v
		}
		if m.t != nil {
			names.types[name] = m.t
		}
		if m.x.IsValid() {
			names.vals[name] = m.x
		}
	}
	clear(names.before)
	names.ids, names.olds = ids, olds
}

// Keep makes the new variables of the last run last: nothing of it will be taken back.
func Keep() {
	names.mu.Lock()
	defer names.mu.Unlock()
	clear(names.before)
}

// Define gives the address of the session variable name with the type T: the variable that there is when it has that type, a new
// zero one otherwise. Older storage under the name lives as long as code that uses it.
func Define[T any](name string) *T {
	return (*T)(DefineType(name, reflect.TypeFor[T]()).Ptr)
}

// DefineType is Define for a type known only at run time. Interpreted cells make their variables with it.
func DefineType(name string, t reflect.Type) *Variable {
	if v := Lookup(name); v != nil && v.Type == t {
		return v
	} else if v != nil && identical(v.Type, t) {
		v = &Variable{name, t, v.Ptr, v.ID}
		setVariable(v)
		return v
	}
	v := &Variable{name, t, reflect.New(t).UnsafePointer(), 0}
	setVariable(v)
	return v
}

// identical reports whether two types are the same to the language. Where reflect has made a type for an interpreted cell, and a plugin
// that is loaded later brings that type itself, there are two descriptions of it.
func identical(a, b reflect.Type) bool {
	if a == b {
		return true
	}
	if a.Kind() != b.Kind() || a.Name() != "" || b.Name() != "" {
		return false
	}
	switch a.Kind() {
	case reflect.Map:
		return identical(a.Key(), b.Key()) && identical(a.Elem(), b.Elem())
	case reflect.Array:
		return a.Len() == b.Len() && identical(a.Elem(), b.Elem())
	case reflect.Slice, reflect.Pointer:
		return identical(a.Elem(), b.Elem())
	case reflect.Func:
		if a.NumIn() != b.NumIn() || a.NumOut() != b.NumOut() || a.IsVariadic() != b.IsVariadic() {
			return false
		}
		for i := range a.NumIn() {
			if !identical(a.In(i), b.In(i)) {
				return false
			}
		}
		for i := range a.NumOut() {
			if !identical(a.Out(i), b.Out(i)) {
				return false
			}
		}
		return true
	}
	return false
}

func setVariable(v *Variable) {
	names.mu.Lock()
	defer names.mu.Unlock()
	old := names.vars[v.Name]
	if old == nil || old.Ptr != v.Ptr {
		if _, ok := names.before[v.Name]; !ok {
			names.before[v.Name] = meaning{old, names.types[v.Name], names.vals[v.Name]}
		}
		if old != nil {
			names.old[v.Name] = append(slices.DeleteFunc(names.old[v.Name], dead), past{old.Type, weak.Make((*byte)(old.Ptr)), old.ID})
			names.recent = append(names.recent, old)
		}
	}
	if id := names.ids[v.Name]; id != 0 {
		v.ID = id
	}
	names.vars[v.Name] = v
	delete(names.types, v.Name)
	delete(names.vals, v.Name)
}

// Lookup finds a session variable, nil when there is none.
func Lookup(name string) *Variable {
	names.mu.RLock()
	defer names.mu.RUnlock()
	return names.vars[name]
}

// past is storage that a name had before. It is held weakly: code that uses it keeps it.
type past struct {
	t  reflect.Type
	p  weak.Pointer[byte]
	id int64
}

func dead(p past) bool { return p.p.Value() == nil }

// Old gives a compiled cell the address of a variable that its name no longer means: the one that the run's list of former variables
// has in that slot, which is of type T or of a version of it with other methods, or else the latest of type T. It panics when there is none: the session process and the front
// then disagree, which only a bug can cause.
func Old[T any](name string, slot int) *T {
	t := reflect.TypeFor[T]()
	names.mu.RLock()
	defer names.mu.RUnlock()
	l, v := names.old[name], names.vars[name]
	if olds := names.olds[name]; slot < len(olds) {
		id := olds[slot]
		if v != nil && v.ID == id && sameLayout(v.Type, t) {
			return (*T)(v.Ptr)
		}
		for _, o := range l {
			if p := o.p.Value(); p != nil && o.id == id && sameLayout(o.t, t) {
				return (*T)(unsafe.Pointer(p))
			}
		}
	}
	for i := len(l) - 1; i >= 0; i-- {
		if p := l[i].p.Value(); p != nil && l[i].t == t {
			return (*T)(unsafe.Pointer(p))
		}
	}
	if v != nil && v.Type == t {
		return (*T)(v.Ptr)
	}
	panic(fmt.Errorf("using the former session variable %q: there is none of type %v", name, t))
}

// sameLayout reports whether b can be another version of type a, one with other methods.
func sameLayout(a, b reflect.Type) bool {
	return a == b || a.Kind() == b.Kind() && a.Size() == b.Size() && a.Align() == b.Align()
}

// settle lets go of the storage that names lost during the last run.
func settle() {
	names.mu.Lock()
	defer names.mu.Unlock()
	names.recent = nil
}

// Retype gives a variable the type T, which has the same layout as its present type: the version of that type that has
// more methods. It returns the variable's address.
func Retype[T any](name string) *T {
	v := Lookup(name)
	if v == nil {
		panic(fmt.Errorf("retyping session variable %q: there is none", name))
	}
	t := reflect.TypeFor[T]()
	if !sameLayout(v.Type, t) {
		panic(fmt.Errorf("retyping session variable %q: %v and %v are laid out differently", name, v.Type, t))
	}
	setVariable(&Variable{name, t, v.Ptr, v.ID})
	return (*T)(v.Ptr)
}

// Variables lists the session's variables by name.
func Variables() []*Variable {
	names.mu.RLock()
	defer names.mu.RUnlock()
	r := make([]*Variable, 0, len(names.vars))
	for _, v := range names.vars {
		r = append(r, v)
	}
	slices.SortFunc(r, func(a, b *Variable) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return r
}

// Forget removes a name: a variable, a function, a type or a value.
func Forget(name string) {
	names.mu.Lock()
	defer names.mu.Unlock()
	delete(names.vars, name)
	delete(names.types, name)
	delete(names.vals, name)
}

// DeclareType registers the session type name.
func DeclareType(name string, t reflect.Type) {
	names.mu.Lock()
	defer names.mu.Unlock()
	names.types[name] = t
	delete(names.vars, name)
	delete(names.vals, name)
}

// Type finds a session type, nil when there is none.
func Type(name string) reflect.Type {
	names.mu.RLock()
	defer names.mu.RUnlock()
	return names.types[name]
}

// DeclareFunc registers a session function that is not generic. Other values that cells declare, such as constants, are
// registered so too.
func DeclareFunc(name string, fn any) {
	names.mu.Lock()
	defer names.mu.Unlock()
	names.vals[name] = reflect.ValueOf(fn)
	delete(names.vars, name)
	delete(names.types, name)
}

// Func finds a session function or constant; the zero Value when there is none.
func Func(name string) reflect.Value {
	names.mu.RLock()
	defer names.mu.RUnlock()
	return names.vals[name]
}

// Cast reinterprets v as a To, a struct type whose fields have the same names, types and order: what Go's conversion does where
// both types are of one package.
func Cast[To, From any](v From) To { return *(*To)(unsafe.Pointer(&v)) }

// Ptr returns the address of a copy of v.
func Ptr[T any](v T) *T { return &v }
