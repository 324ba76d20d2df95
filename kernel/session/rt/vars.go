package rt

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// Variable is a session variable: storage of a Go type, alive as long as anything points to it.
type Variable struct {
	Name string
	Type reflect.Type
	Ptr  unsafe.Pointer // to a Type
}

// Value is the variable as an addressable, settable reflect.Value.
func (v *Variable) Value() reflect.Value { return reflect.NewAt(v.Type, v.Ptr).Elem() }

var names struct {
	// mu guards what follows.
	mu    sync.RWMutex
	vars  map[string]*Variable
	types map[string]reflect.Type
	vals  map[string]reflect.Value // functions and other values
}

func init() {
	names.vars = map[string]*Variable{}
	names.types = map[string]reflect.Type{}
	names.vals = map[string]reflect.Value{}
}

// Declare makes *ptr the storage of the session variable name; an older variable of that name is forgotten, not touched.
// A compiled cell that declares a variable calls it with the address of a package-level variable.
func Declare[T any](name string, ptr *T) *T {
	setVariable(&Variable{name, reflect.TypeFor[T](), unsafe.Pointer(ptr)})
	return ptr
}

// New creates a zero variable of type t. An interpreted cell's variables are made so.
func New(name string, t reflect.Type) *Variable {
	v := &Variable{name, t, reflect.New(t).UnsafePointer()}
	setVariable(v)
	return v
}

func setVariable(v *Variable) {
	names.mu.Lock()
	defer names.mu.Unlock()
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

// Var gives a compiled cell the address of an earlier cell's variable. It panics when the variable is missing or has another
// type: the session process and the front then disagree, which only a bug can cause.
func Var[T any](name string) *T {
	v := Lookup(name)
	if v == nil {
		panic(fmt.Errorf("using session variable %q: there is none", name))
	}
	if t := reflect.TypeFor[T](); t != v.Type {
		panic(fmt.Errorf("using session variable %q: it is a %v of %q, not a %v of %q", name, v.Type, v.Type.PkgPath(), t, t.PkgPath()))
	}
	return (*T)(v.Ptr)
}

// Retype gives a variable the type T, which has the same layout as its present type: the version of that type that has
// more methods. It returns the variable's address.
func Retype[T any](name string) *T {
	v := Lookup(name)
	if v == nil {
		panic(fmt.Errorf("retyping session variable %q: there is none", name))
	}
	t := reflect.TypeFor[T]()
	if t.Kind() != v.Type.Kind() || t.Size() != v.Type.Size() || t.Align() != v.Type.Align() {
		panic(fmt.Errorf("retyping session variable %q: %v and %v are laid out differently", name, v.Type, t))
	}
	setVariable(&Variable{name, t, v.Ptr})
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

// Ptr returns the address of a copy of v.
func Ptr[T any](v T) *T { return &v }
