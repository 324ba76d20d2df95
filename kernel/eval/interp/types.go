package interp

import (
	"fmt"
	"go/constant"
	"go/types"
	"math"
	"slices"
	"strconv"
	"strings"
)

// pkg is the name of a package in lowered code.
func (l *lowering) pkg(p *types.Package) string {
	alias, ok := l.packages[p.Path()]
	if ok {
		return alias
	}
	if !slices.Contains(l.opts.carried(), p.Path()) {
		if l.opts.Tables == nil {
			refuse("uses package %s, whose symbols are not at hand", p.Path())
		}
		l.use(foreignPackage)
		l.foreign = append(l.foreign, p)
	}
	alias = "p__" + strconv.Itoa(len(l.packages))
	l.packages[p.Path()] = alias
	return alias
}

// typ spells a type in lowered code.
func (l *lowering) typ(t types.Type) string {
	return l.spell(t, func(n *types.TypeName) string {
		if n.Pkg() == l.c.Pkg {
			l.names["T_"+n.Name()] = true
			return session + ".T_" + n.Name()
		}
		return l.pkg(n.Pkg()) + "." + n.Name()
	})
}

// reflectable spells a type for the session process, which makes variables of it: named types are "path".Name.
func (l *lowering) reflectable(t types.Type) string {
	return l.spell(t, func(n *types.TypeName) string {
		if n.Pkg() == l.c.Pkg {
			return "session." + n.Name()
		}
		l.pkg(n.Pkg())
		return strconv.Quote(n.Pkg().Path()) + "." + n.Name()
	})
}

func (l *lowering) spell(t types.Type, name func(*types.TypeName) string) string {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		if t.Info()&types.IsUntyped != 0 || t.Kind() == types.UnsafePointer || t.Info()&types.IsComplex != 0 {
			refuse("has a value of type %s", t)
		}
		return t.Name()
	case *types.Named:
		obj := t.Obj()
		switch {
		case t.TypeArgs().Len() > 0:
			refuse("uses the generic type %s", obj.Name())
		case obj.Pkg() == nil:
			return obj.Name() // error
		case obj.Pkg() == l.c.Pkg:
			if sym := l.c.Symbol(obj); sym == nil || sym.Name != obj.Name() {
				refuse("uses a type %s that is local or has been redefined", obj.Name())
			}
		case isInternal(obj.Pkg().Path()):
			refuse("uses a type of the internal package %s", obj.Pkg().Path())
		case !obj.Exported():
			refuse("uses the unexported type %s", obj.Name())
		}
		return name(obj)
	case *types.Pointer:
		return "*" + l.spell(t.Elem(), name)
	case *types.Slice:
		return "[]" + l.spell(t.Elem(), name)
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), l.spell(t.Elem(), name))
	case *types.Map:
		return "map[" + l.spell(t.Key(), name) + "]" + l.spell(t.Elem(), name)
	case *types.Interface:
		if t.Empty() {
			return "interface{}"
		}
	case *types.Signature:
		if t.TypeParams().Len() > 0 {
			break
		}
		return "func" + l.tuple(t.Params(), t.Variadic(), name) + l.tuple(t.Results(), false, name)
	}
	refuse("uses the type %s", t)
	return ""
}

func isMap(t types.Type) bool {
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// isInternal reports whether only some packages may import path.
func isInternal(path string) bool {
	return strings.HasPrefix(path, "vendor/") || slices.Contains(strings.Split(path, "/"), "internal")
}

func (l *lowering) tuple(t *types.Tuple, variadic bool, name func(*types.TypeName) string) string {
	var s []string
	for i := range t.Len() {
		if v := t.At(i).Type(); variadic && i == t.Len()-1 {
			s = append(s, "..."+l.spell(v.(*types.Slice).Elem(), name))
		} else {
			s = append(s, l.spell(v, name))
		}
	}
	return "(" + strings.Join(s, ", ") + ")"
}

// constant spells the value of a constant expression with its type.
func (l *lowering) constant(tv types.TypeAndValue) string {
	t := types.Default(tv.Type)
	b, ok := basic(t)
	if !ok {
		refuse("has a constant of type %s", t)
	}
	lit := ""
	switch v := tv.Value; {
	case b.Info()&types.IsBoolean != 0:
		lit = strconv.FormatBool(constant.BoolVal(v))
	case b.Info()&types.IsString != 0:
		lit = strconv.Quote(constant.StringVal(v))
	case b.Info()&types.IsInteger != 0:
		lit = constant.ToInt(v).ExactString()
	case b.Info()&types.IsFloat != 0:
		f, _ := constant.Float64Val(constant.ToFloat(v))
		if math.IsInf(f, 0) {
			refuse("has a constant that is out of range")
		}
		lit = strconv.FormatFloat(f, 'g', -1, 64)
		if !strings.ContainsAny(lit, ".e") {
			lit += ".0"
		}
	default:
		refuse("has a constant of type %s", t)
	}
	switch {
	case t == types.Typ[types.Bool], t == types.Typ[types.String], t == types.Typ[types.Int]:
		return lit
	}
	return l.typ(t) + "(" + lit + ")"
}
