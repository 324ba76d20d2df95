package interp

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/gander-go/gander/kernel/session/rt"
)

// sessionSymbols makes the package that lowered code knows the session by.
func (r *runner) sessionSymbols(names []string, line *atomic.Int64) (map[string]reflect.Value, error) {
	own := map[string]reflect.Value{
		"At":    reflect.ValueOf(func(n int) { line.Store(int64(n)) }),
		"Show":  reflect.ValueOf(rt.Show),
		"Check": reflect.ValueOf(check),
		"Panic": reflect.ValueOf(func(v any) { panic(v) }),
	}
	maps.Copy(own, helpers)
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
		case "G":
			f, err := r.instance(rest)
			if err != nil {
				return nil, err
			}
			name, _, _ := strings.Cut(name, "|")
			own[name] = f
		default: // KIND_number|type|note
			name, spec, _ := strings.Cut(name, "|")
			typ, note, _ := strings.Cut(spec, "|")
			t, err := r.typeOf(typ)
			if err != nil {
				return nil, fmt.Errorf("making a function for type %s: %w", typ, err)
			}
			own[name] = typed(kind, t, note)
		}
	}
	return own, nil
}

// instance is the instance of a generic function that spec, number|"path".Name|type arguments, means.
func (r *runner) instance(spec string) (reflect.Value, error) {
	parts := strings.SplitN(spec, "|", 3)
	if len(parts) == 3 {
		quoted, name, _ := strings.Cut(strings.TrimPrefix(parts[1], `"`), `".`)
		key := "instances of " + quoted
		if r.made[key] == nil && instances[quoted] != nil {
			r.made[key] = instances[quoted]()
		}
		if f := r.made[key][name+"["+parts[2]+"]"]; f.IsValid() {
			return f, nil
		}
	}
	return reflect.Value{}, fmt.Errorf("using the generic function %s: it is not carried", spec)
}

// check ends an interpreted loop that is to stop.
func check() {
	if atomic.LoadUint32(rt.StopFlag) != 0 {
		rt.Halt()
	}
}
