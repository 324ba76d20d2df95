package reflected

import (
	"go/token"
	"go/types"
	"reflect"
	"strings"
)

var basic = map[reflect.Kind]types.BasicKind{
	reflect.Bool: types.Bool, reflect.String: types.String, reflect.Int: types.Int, reflect.Int8: types.Int8, reflect.Int16: types.Int16,
	reflect.Int32: types.Int32, reflect.Int64: types.Int64, reflect.Uint: types.Uint, reflect.Uint8: types.Uint8, reflect.Uint16: types.Uint16,
	reflect.Uint32: types.Uint32, reflect.Uint64: types.Uint64, reflect.Uintptr: types.Uintptr, reflect.Float32: types.Float32,
	reflect.Float64: types.Float64, reflect.Complex64: types.Complex64, reflect.Complex128: types.Complex128, reflect.UnsafePointer: types.UnsafePointer,
}

// typ is t for the checker.
func (m *Importer) typ(t reflect.Type) types.Type {
	if r := m.types[t]; r != nil {
		return r
	}
	switch t {
	case reflect.TypeFor[error]():
		return types.Universe.Lookup("error").Type()
	case reflect.TypeFor[any]():
		return types.Universe.Lookup("any").Type()
	}
	if t.Name() != "" && t.PkgPath() != "" && t.Kind() != reflect.UnsafePointer {
		return m.named(t)
	}
	r := m.underlying(t)
	m.types[t] = r
	return r
}

// named makes a declared type with its methods, the promoted ones as its own: that makes no difference to those who use it. It is known before what it is made of: types may refer to themselves.
func (m *Importer) named(t reflect.Type) types.Type {
	pkg := m.pkg(t.PkgPath())
	name := t.Name()
	obj := types.NewTypeName(token.NoPos, pkg, name, nil)
	n := types.NewNamed(obj, nil, nil)
	m.types[t] = n
	if token.IsExported(name) && !strings.Contains(name, "[") { // an instance of a generic type cannot be looked up
		pkg.Scope().Insert(obj)
	}
	n.SetUnderlying(m.underlying(t).Underlying())
	if t.Kind() == reflect.Interface {
		return n
	}
	ptr := reflect.PointerTo(t)
	for i := range ptr.NumMethod() {
		me := ptr.Method(i)
		_, byValue := t.MethodByName(me.Name)
		var recv types.Type = n
		if !byValue {
			recv = types.NewPointer(n)
		}
		sig := m.signature(me.Type, 1, types.NewVar(token.NoPos, pkg, "", recv))
		n.AddMethod(types.NewFunc(token.NoPos, pkg, me.Name, sig))
	}
	return n
}

func (m *Importer) underlying(t reflect.Type) types.Type {
	if k, ok := basic[t.Kind()]; ok {
		return types.Typ[k]
	}
	switch t.Kind() {
	case reflect.Pointer:
		return types.NewPointer(m.typ(t.Elem()))
	case reflect.Slice:
		return types.NewSlice(m.typ(t.Elem()))
	case reflect.Array:
		return types.NewArray(m.typ(t.Elem()), int64(t.Len()))
	case reflect.Map:
		return types.NewMap(m.typ(t.Key()), m.typ(t.Elem()))
	case reflect.Chan:
		dir := types.SendRecv
		switch t.ChanDir() {
		case reflect.SendDir:
			dir = types.SendOnly
		case reflect.RecvDir:
			dir = types.RecvOnly
		}
		return types.NewChan(dir, m.typ(t.Elem()))
	case reflect.Func:
		return m.signature(t, 0, nil)
	case reflect.Struct:
		var fields []*types.Var
		var tags []string
		for i := range t.NumField() {
			f := t.Field(i)
			pkg := m.pkg(f.PkgPath)
			if f.PkgPath == "" {
				pkg = m.pkg(t.PkgPath())
			}
			fields = append(fields, types.NewField(token.NoPos, pkg, f.Name, m.typ(f.Type), f.Anonymous))
			tags = append(tags, string(f.Tag))
		}
		return types.NewStruct(fields, tags)
	case reflect.Interface:
		var methods []*types.Func
		for i := range t.NumMethod() {
			me := t.Method(i)
			pkg := m.pkg(t.PkgPath())
			if me.PkgPath != "" {
				pkg = m.pkg(me.PkgPath)
			}
			methods = append(methods, types.NewFunc(token.NoPos, pkg, me.Name, m.signature(me.Type, 0, nil)))
		}
		return types.NewInterfaceType(methods, nil).Complete()
	}
	return types.Typ[types.Invalid]
}

// signature is a function type without its first skip parameters.
func (m *Importer) signature(t reflect.Type, skip int, recv *types.Var) *types.Signature {
	var in, out []*types.Var
	for i := skip; i < t.NumIn(); i++ {
		in = append(in, types.NewParam(token.NoPos, nil, "", m.typ(t.In(i))))
	}
	for i := range t.NumOut() {
		out = append(out, types.NewParam(token.NoPos, nil, "", m.typ(t.Out(i))))
	}
	return types.NewSignatureType(recv, nil, nil, types.NewTuple(in...), types.NewTuple(out...), t.IsVariadic())
}
