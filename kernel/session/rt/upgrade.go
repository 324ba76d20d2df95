package rt

import (
	"reflect"
	"strings"
	"unsafe"
)

// Upgrade gives the values that the session's variables hold in interfaces the new versions of their types: pairs are old and new types, which are
// laid out alike. Values in channels, in closures and in the sync package's containers cannot be reached and stay what they are.
//
// Variables whose own types are written with an old type must have been retyped before.
func Upgrade(pairs ...reflect.Type) {
	u := &upgrade{to: map[reflect.Type]reflect.Type{}, seen: map[place]bool{}, reaches: map[reflect.Type]bool{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		if old, now := pairs[i], pairs[i+1]; old != now && old.Kind() == now.Kind() && old.Size() == now.Size() {
			u.to[old] = now
		}
	}
	if len(u.to) == 0 {
		return
	}
	for _, v := range Variables() {
		u.walk(v.Value())
	}
}

type place struct {
	p unsafe.Pointer
	t reflect.Type
}

type upgrade struct {
	to      map[reflect.Type]reflect.Type
	seen    map[place]bool
	reaches map[reflect.Type]bool // types from which an interface can be reached
}

// walk upgrades what v, which is addressable and settable, leads to.
func (u *upgrade) walk(v reflect.Value) {
	t := v.Type()
	if !u.leads(t) {
		return
	}
	at := place{v.Addr().UnsafePointer(), t}
	if u.seen[at] {
		return
	}
	u.seen[at] = true
	switch t.Kind() {
	case reflect.Interface:
		u.dynamic(v)
	case reflect.Pointer:
		if !v.IsNil() {
			u.walk(reflect.NewAt(t.Elem(), v.UnsafePointer()).Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			u.walk(v.Index(i))
		}
	case reflect.Struct:
		for i := range t.NumField() {
			f := v.Field(i)
			u.walk(reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()) // also where unexported
		}
	case reflect.Map:
		u.entries(v)
	}
}

// dynamic gives the value in the interface v the new version of its type.
func (u *upgrade) dynamic(v reflect.Value) {
	if v.IsNil() {
		return
	}
	old := v.Elem().Type()
	c := reflect.New(old).Elem()
	c.Set(v.Elem())
	now := u.version(old)
	c = reflect.NewAt(now, c.Addr().UnsafePointer()).Elem()
	u.walk(c)
	if now == old && !u.holds(old) {
		return
	}
	if now.AssignableTo(v.Type()) {
		v.Set(c)
	}
}

// holds reports whether a copy of a value of type t has to be put back after a walk: what it leads to is not all behind pointers.
func (u *upgrade) holds(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Array:
		return u.leads(t)
	}
	return false
}

// entries upgrades a map's keys and values, which are not addressable.
func (u *upgrade) entries(m reflect.Value) {
	t := m.Type()
	it := m.MapRange()
	type entry struct{ k, k2, v reflect.Value }
	var list []entry
	for it.Next() {
		k, v := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		k.Set(it.Key())
		v.Set(it.Value())
		list = append(list, entry{it.Key(), k, v})
	}
	for _, e := range list {
		u.walk(e.k2)
		u.walk(e.v)
		if u.leads(t.Key()) {
			m.SetMapIndex(e.k, reflect.Value{})
		}
		m.SetMapIndex(e.k2, e.v)
	}
}

// version is t written with the new versions of types.
func (u *upgrade) version(t reflect.Type) reflect.Type {
	if n, ok := u.to[t]; ok {
		return n
	}
	if t.Name() != "" {
		return t
	}
	switch t.Kind() {
	case reflect.Pointer:
		return reflect.PointerTo(u.version(t.Elem()))
	case reflect.Slice:
		return reflect.SliceOf(u.version(t.Elem()))
	case reflect.Array:
		return reflect.ArrayOf(t.Len(), u.version(t.Elem()))
	case reflect.Map:
		if e, k := u.version(t.Elem()), u.version(t.Key()); e != t.Elem() || k != t.Key() {
			return reflect.MapOf(k, e)
		}
	case reflect.Chan:
		return reflect.ChanOf(t.ChanDir(), u.version(t.Elem()))
	case reflect.Func:
		var in, out []reflect.Type
		changed := false
		for i := range t.NumIn() {
			in = append(in, u.version(t.In(i)))
			changed = changed || in[i] != t.In(i)
		}
		for i := range t.NumOut() {
			out = append(out, u.version(t.Out(i)))
			changed = changed || out[i] != t.Out(i)
		}
		if changed {
			return reflect.FuncOf(in, out, t.IsVariadic())
		}
	}
	return t
}

// closed are packages whose values are not walked: their locks and tables are not ours to read.
var closed = []string{"sync", "runtime", "reflect", "internal", "os", "net", "time", "context", "syscall", "unique", "weak", "crypto", "log", "testing"}

// leads reports whether an interface can be reached from a value of type t.
func (u *upgrade) leads(t reflect.Type) bool {
	if r, ok := u.reaches[t]; ok {
		return r
	}
	u.reaches[t] = false // for types that lead to themselves only
	r := false
	switch t.Kind() {
	case reflect.Interface:
		r = true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		r = u.leads(t.Elem())
	case reflect.Map:
		r = u.leads(t.Key()) || u.leads(t.Elem())
	case reflect.Struct:
		root, _, _ := strings.Cut(t.PkgPath(), "/")
		for _, p := range closed {
			if root == p {
				return false
			}
		}
		for i := range t.NumField() {
			r = r || u.leads(t.Field(i).Type)
		}
	}
	if r {
		u.reaches[t] = true
		return true
	}
	delete(u.reaches, t) // a type further up may still turn out to lead somewhere by another way
	return false
}
