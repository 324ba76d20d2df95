// Package reflected makes packages for the type checker out of tables of their symbols, by reflection: what is left to
// check cells with on a machine without a Go toolchain, where there is no export data.
//
// It sees what reflection sees: no names of parameters, no comments, and of what is generic only the declarations that it is given. Its one invariant: what it offers has the type that the program has.
package reflected

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"reflect"
	"strings"
)

// Table returns the symbols of a package by name, nil when there are none: functions as themselves, variables as
// addressable values, types as nil pointers to them, untyped constants as go/constant values, typed ones as themselves.
type Table func(path string) map[string]reflect.Value

// Generic returns a Go file with the declarations of what is generic in a package, which no table can have: functions without bodies, structs
// without fields. It is empty when there is nothing.
type Generic func(path string) string

// Importer imports packages from tables. It is for one goroutine at a time.
type Importer struct {
	table   Table
	generic Generic
	pkgs    map[string]*types.Package
	whole   map[string]bool // packages whose tables were entered
	types   map[reflect.Type]types.Type
}

// New makes an importer. generic may be nil.
func New(table Table, generic Generic) *Importer {
	return &Importer{table: table, generic: generic, pkgs: map[string]*types.Package{}, whole: map[string]bool{}, types: map[reflect.Type]types.Type{}}
}

// Import implements types.Importer.
func (m *Importer) Import(p string) (*types.Package, error) {
	if p == "unsafe" {
		return types.Unsafe, nil
	}
	pkg := m.pkg(p)
	if m.whole[p] {
		return pkg, nil
	}
	table := m.table(p)
	if table == nil {
		return nil, fmt.Errorf("package %s is not at hand: without a Go toolchain there are only the packages that Gander carries", p)
	}
	m.whole[p] = true
	for name, v := range table {
		if token.IsExported(name) && pkg.Scope().Lookup(name) == nil {
			if obj := m.object(pkg, name, v); obj != nil {
				pkg.Scope().Insert(obj)
			}
		}
	}
	if err := m.declare(pkg); err != nil {
		return nil, err
	}
	pkg.MarkComplete()
	return pkg, nil
}

// declare adds what is generic.
func (m *Importer) declare(pkg *types.Package) error {
	if m.generic == nil || m.generic(pkg.Path()) == "" {
		return nil
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", m.generic(pkg.Path()), parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("declaring what is generic in package %s: %w", pkg.Path(), err)
	}
	cfg := types.Config{Importer: m, IgnoreFuncBodies: true}
	if err := types.NewChecker(&cfg, fset, pkg, nil).Files([]*ast.File{f}); err != nil {
		return fmt.Errorf("declaring what is generic in package %s: %w", pkg.Path(), err)
	}
	return nil
}

func (m *Importer) pkg(p string) *types.Package {
	if m.pkgs[p] == nil {
		m.pkgs[p] = types.NewPackage(p, packageName(p))
	}
	return m.pkgs[p]
}

// packageName is what the package of that path is called, as far as the path tells.
func packageName(p string) string {
	b := path.Base(p)
	if len(b) > 1 && b[0] == 'v' && strings.Trim(b[1:], "0123456789") == "" {
		b = path.Base(path.Dir(p))
	}
	return b
}

var constantValue = reflect.TypeFor[constant.Value]()

func (m *Importer) object(pkg *types.Package, name string, v reflect.Value) types.Object {
	t := v.Type()
	if t.Implements(constantValue) {
		c := v.Interface().(constant.Value)
		return types.NewConst(token.NoPos, pkg, name, untyped(c), c)
	}
	switch {
	case v.CanAddr():
		return types.NewVar(token.NoPos, pkg, name, m.typ(t))
	case t.Kind() == reflect.Func:
		sig, ok := m.typ(t).(*types.Signature)
		if !ok { // a constant nil of a named function type is none that Go has
			return nil
		}
		return types.NewFunc(token.NoPos, pkg, name, sig)
	case t.Kind() == reflect.Pointer && v.IsNil():
		e := t.Elem()
		if e.PkgPath() == pkg.Path() && e.Name() == name {
			if n, ok := m.typ(e).(*types.Named); ok {
				if pkg.Scope().Lookup(name) != nil {
					return nil // entered with its type
				}
				return n.Obj()
			}
		}
		return types.NewTypeName(token.NoPos, pkg, name, m.typ(e)) // an alias
	}
	if c := constantOf(v); c != nil {
		return types.NewConst(token.NoPos, pkg, name, m.typ(t), c)
	}
	return nil
}

func untyped(c constant.Value) types.Type {
	switch c.Kind() {
	case constant.Bool:
		return types.Typ[types.UntypedBool]
	case constant.String:
		return types.Typ[types.UntypedString]
	case constant.Int:
		return types.Typ[types.UntypedInt]
	case constant.Float:
		return types.Typ[types.UntypedFloat]
	}
	return types.Typ[types.UntypedComplex]
}

// constantOf is the value of a typed constant, nil for what can be none.
func constantOf(v reflect.Value) constant.Value {
	switch {
	case v.CanInt():
		return constant.MakeInt64(v.Int())
	case v.CanUint():
		return constant.MakeUint64(v.Uint())
	case v.CanFloat():
		return constant.MakeFloat64(v.Float())
	case v.Kind() == reflect.Bool:
		return constant.MakeBool(v.Bool())
	case v.Kind() == reflect.String:
		return constant.MakeString(v.String())
	}
	return nil
}
