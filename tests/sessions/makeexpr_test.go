package sessions

import (
	"strings"
)

// int is an expression of type int.
func (k *maker) int(depth int) expr {
	if depth <= 0 || k.chance(20) {
		return intLit(k.r.IntN(20) - 3)
	}
	for {
		switch k.r.IntN(11) {
		case 0, 1:
			return bin{pick(k, "+", "-", "*"), k.int(depth - 1), k.int(depth - 1)}
		case 2, 3:
			if len(k.local) > 0 {
				return ref{pick(k, k.local...)}
			}
		case 4, 5:
			if l := k.vars(tInt); len(l) > 0 {
				return ref{pick(k, l...)}
			}
		case 6:
			if l := k.named(func(s *symbol) bool { return s.role == isConst }); len(l) > 0 {
				return ref{pick(k, l...)}
			}
		case 7:
			if x := k.callInt(depth); x != nil {
				return x
			}
		case 8:
			if l := k.vars(tStruct, tPair, tPtr); len(l) > 0 {
				name := pick(k, l...)
				return field{ref{name}, k.fieldOf(k.m.ns[name].typ)}
			}
		case 9:
			if l := k.vars(tString, tInts, tCounts); len(l) > 0 {
				return length{ref{pick(k, l...)}}
			}
		case 10:
			if l := k.vars(tCounts); len(l) > 0 {
				return index{ref{pick(k, l...)}, strLit(pick(k, "a", "b"))}
			}
		}
		if k.chance(10) {
			return intLit(k.r.IntN(9))
		}
	}
}

// fieldOf is a field of type int, nearly always one that there is.
func (k *maker) fieldOf(t typ) string {
	if t.kind == tPair {
		return pick(k, "A", "B")
	}
	l := []string{"A"}
	if !k.chance(5) {
		l = nil
		for _, f := range k.m.w.impls[t.sym].decl.(*typeDecl).fields {
			if f.typ.kind == tInt {
				l = append(l, f.name)
			}
		}
	}
	return pick(k, append(l, "A")...)
}

// callInt is a call of a pure function or method that yields an int.
func (k *maker) callInt(depth int) expr {
	switch k.r.IntN(3) {
	case 0:
		if k.level > 0 && k.level < 3 {
			return nil
		}
		if l := k.vars(tStruct, tPtr); len(l) > 0 {
			name := pick(k, l...)
			m := pick(k, "M1", "M2")
			if k.m.w.methods[k.m.ns[name].typ.sym][m] != nil || k.chance(5) {
				return method{ref{name}, m, k.int(depth - 1)}
			}
		}
	case 1:
		if k.level > 0 {
			return nil
		}
		if l := k.vars(tFunc); len(l) > 0 {
			return call{pick(k, l...), []expr{k.int(depth - 1)}}
		}
	}
	l := k.named(func(s *symbol) bool {
		return s.role == isFunc && s.name[0] == 'f' && (k.level == 0 || number(s.name) < k.level)
	})
	if len(l) == 0 {
		return nil
	}
	return k.callOf(pick(k, l...), depth)
}

// callOf calls a function with arguments that fit its parameters.
func (k *maker) callOf(name string, depth int) expr {
	im := k.m.w.impls[k.m.ns[name]]
	d, ok := im.decl.(*funcDecl)
	if !ok {
		return nil
	}
	c := call{name: name}
	for _, p := range d.params {
		switch p.typ.kind {
		case tInt:
			c.args = append(c.args, k.int(depth-1))
		case tString:
			c.args = append(c.args, k.string(depth-1))
		default:
			c.args = append(c.args, k.composite(tref{tStruct, p.typ.name}, depth-1))
		}
	}
	if d.result.kind == tStruct {
		return field{c, "A"}
	}
	if d.result.kind == tString {
		return length{c}
	}
	return c
}

// string is an expression of type string.
func (k *maker) string(depth int) expr {
	if depth <= 0 || k.chance(15) {
		return strLit(pick(k, "a", "bc", "Def", "é"))
	}
	for {
		switch k.r.IntN(6) {
		case 0:
			return bin{"+", k.string(depth - 1), k.string(depth - 1)}
		case 1:
			if l := k.vars(tString); len(l) > 0 {
				return ref{pick(k, l...)}
			}
		case 2:
			if len(k.named(func(s *symbol) bool { return s.role == isPkg })) == 0 {
				continue
			}
			return upper{pick(k, k.named(func(s *symbol) bool { return s.role == isPkg })...), k.string(depth - 1)}
		case 3, 4:
			var args []expr
			for range 1 + k.r.IntN(2) {
				args = append(args, k.any(depth-1))
			}
			return sprint{args}
		case 5:
			if l := k.named(func(s *symbol) bool { return s.role == isFunc && s.name[0] == 't' }); len(l) > 0 {
				return twice{pick(k, l...), k.int(depth - 1), k.r.IntN(2)}
			}
		}
	}
}

// any is an expression of a type that can be printed.
func (k *maker) any(depth int) expr {
	switch k.r.IntN(6) {
	case 0:
		return k.string(depth)
	case 1, 2:
		if l := k.vars(tStruct, tPair, tInts, tCounts, tAny, tString, tInt); len(l) > 0 {
			return ref{pick(k, l...)}
		}
	case 3:
		if l, t := k.vars(tAny), k.types(); len(l) > 0 && len(t) > 0 {
			return isA{ref{pick(k, l...)}, tref{tStruct, pick(k, t...)}}
		}
	case 4:
		if t := k.types(); len(t) > 0 && depth > 0 {
			return k.composite(tref{tStruct, pick(k, t...)}, depth-1)
		}
	}
	return k.int(depth)
}

// types are the names of the session's struct types.
func (k *maker) types() []string {
	return k.named(func(s *symbol) bool {
		if s.role != isType {
			return false
		}
		d, ok := k.m.w.impls[s].decl.(*typeDecl)
		return ok && (k.level == 0 || d != nil)
	})
}

func (k *maker) composite(t tref, depth int) expr {
	c := composite{t: t}
	var d *typeDecl
	if s := k.m.ns[t.name]; s != nil && s.role == isType {
		d, _ = k.m.w.impls[s].decl.(*typeDecl)
	}
	if d == nil {
		c.fields, c.vals = []string{"A"}, []expr{k.int(depth - 1)}
		return c
	}
	for _, f := range d.fields {
		if k.chance(25) {
			continue
		}
		c.fields = append(c.fields, f.name)
		switch f.typ.kind {
		case tInt:
			c.vals = append(c.vals, k.int(depth-1))
		case tString:
			c.vals = append(c.vals, k.string(depth-1))
		default:
			c.vals = append(c.vals, k.composite(tref{tStruct, f.typ.name}, depth-1))
		}
	}
	return c
}

// upper is strings.ToUpper(x), by a name of the package.
type upper struct {
	pkg string
	x   expr
}

func (x upper) text() string         { return x.pkg + ".ToUpper(" + x.x.text() + ")" }
func (x upper) names(f func(string)) { f(x.pkg); x.x.names(f) }
func (x upper) check(sc *scope) (typ, bool) {
	s := sc.lookup(x.pkg)
	t, ok := x.x.check(sc)
	return t, ok && t.kind == tString && s != nil && s.role == isPkg
}
func (x upper) eval(ev *env) value { return strings.ToUpper(x.x.eval(ev).(string)) }
