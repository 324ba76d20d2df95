package sessions

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// maker makes random cells for a session. It looks at the model for names that there are, and takes care of two things that the model cannot
// tell: no recursion (what is numbered may only use what has a lower number), and no expression whose result depends on the order in
// which Go evaluates its operands (functions that change variables, whose names begin with g and P, stand alone).
type maker struct {
	r     *rand.Rand
	m     *model
	past  [][]part // cells, for running again
	local []string // int parameters in scope
	level int      // of what is being declared
}

func (k *maker) chance(percent int) bool { return k.r.IntN(100) < percent }

func pick[T any](k *maker, l ...T) T { return l[k.r.IntN(len(l))] }

// named are the session's names that are as wanted.
func (k *maker) named(want func(s *symbol) bool) []string {
	var l []string
	for n, s := range k.m.ns {
		if want(s) {
			l = append(l, n)
		}
	}
	slices.Sort(l)
	return l
}

func (k *maker) vars(kinds ...kind) []string {
	return k.named(func(s *symbol) bool {
		return s.role == isVar && slices.Contains(kinds, s.typ.kind) && s.name != "strings"
	})
}

func number(name string) int {
	n := 0
	fmt.Sscanf(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyzTUMP"), "%d", &n)
	return n
}

// change makes a statement that changes a variable; nil when there is none to change.
func (k *maker) change() stmt {
	l := k.vars(tInt, tString, tInts, tCounts, tStruct, tAny, tPair, tPtr)
	if len(l) == 0 {
		return nil
	}
	name := pick(k, l...)
	s := k.m.ns[name]
	switch s.typ.kind {
	case tInt:
		return assign{ref{name}, pick(k, "", "+", "-"), k.int(2)}
	case tString:
		return assign{ref{name}, "", k.string(2)}
	case tInts:
		return push{ref{name}, k.int(2)}
	case tCounts:
		return put{ref{name}, pick(k, "a", "b"), k.int(2)}
	case tAny:
		if t := k.types(); len(t) > 0 && k.chance(60) {
			return assign{ref{name}, "", k.composite(tref{tStruct, pick(k, t...)}, 1)}
		}
		return assign{ref{name}, "", k.int(1)}
	case tPair:
		return assign{field{ref{name}, pick(k, "A", "B")}, "+", k.int(2)}
	}
	if k.chance(30) && s.typ.kind == tStruct && s.typ.sym == k.m.ns[s.typ.sym.name] {
		return assign{ref{name}, "", k.composite(tref{tStruct, s.typ.sym.name}, 2)}
	}
	return assign{field{ref{name}, k.fieldOf(s.typ)}, pick(k, "", "+"), k.int(2)}
}

// definition makes a variable. Names are few, so that many get another type.
func (k *maker) definition() *define {
	name := pick(k, "x1", "x2", "x3", "x4", "x5", "v1", "v2", "a1", "c1", "c2", "max", "k2", "f2")
	if k.chance(2) {
		name = "strings"
	}
	d := &define{name: name, short: k.chance(60)}
	switch k.r.IntN(9) {
	case 0:
		d.typ, d.x = tref{kind: tString}, strLit(pick(k, "p", "qr"))
		if k.chance(50) {
			d.x = sprint{[]expr{k.any(2)}}
		}
	case 1:
		d.typ, d.x = tref{kind: tInts}, values{[]expr{k.int(1), k.int(1)}}
	case 2:
		d.typ, d.x = tref{kind: tCounts}, counts{k.int(1)}
	case 3, 4:
		if l := k.types(); len(l) > 0 {
			t := tref{tStruct, pick(k, l...)}
			d.typ, d.x = t, k.composite(t, 2)
			if k.chance(20) {
				d.typ, d.short = tref{kind: tAny}, false
			} else if k.chance(30) {
				d.typ.kind = tPtr
				d.x = k.composite(d.typ, 2)
			}
			break
		}
		fallthrough
	case 5:
		k.level = 7
		d.typ, d.x = tref{kind: tFunc}, &lambda{"n", k.int(2)}
		k.local = []string{"n"}
		d.x.(*lambda).body = k.int(3)
		k.level, k.local = 0, nil
	case 6:
		if l := k.named(func(s *symbol) bool {
			if s.role != isType {
				return false
			}
			_, ok := k.m.w.impls[s].decl.(*pairDecl)
			return ok
		}); len(l) > 0 {
			t := tref{tPair, pick(k, l...)}
			d.typ, d.x = t, composite{t, []string{"A", "B"}, []expr{k.int(1), k.int(1)}}
			break
		}
		fallthrough
	default:
		d.typ, d.x = tref{kind: tInt}, k.int(3)
		if d.short {
			d.x = intLit(k.r.IntN(50))
		} else if k.chance(30) {
			d.x = nil
		}
	}
	return d
}

// statement makes one for a cell.
func (k *maker) statement() stmt {
	for {
		switch k.r.IntN(9) {
		case 0, 1:
			var args []expr
			for range 1 + k.r.IntN(3) {
				args = append(args, k.any(3))
			}
			return print{args}
		case 2, 3:
			if s := k.change(); s != nil {
				return s
			}
		case 4:
			if s := k.change(); s != nil {
				return loop{k.r.IntN(4), s}
			}
		case 5:
			if s := k.change(); s != nil {
				return when{k.int(1), k.r.IntN(5), s}
			}
		case 6:
			if s := k.change(); s != nil {
				return spawn{s}
			}
		case 7:
			if l := k.named(func(s *symbol) bool { return s.role == isFunc && s.name[0] == 'g' }); len(l) > 0 {
				return print{[]expr{call{pick(k, l...), []expr{k.int(1)}}}}
			}
		case 8:
			if l := k.vars(tStruct, tPtr); len(l) > 0 {
				name := pick(k, l...)
				m := pick(k, "P1", "P2")
				if k.m.w.methods[k.m.ns[name].typ.sym][m] != nil || k.chance(5) {
					return print{[]expr{method{ref{name}, m, k.int(1)}}}
				}
			}
		}
	}
}

// cell makes the next cell of a session.
func (k *maker) cell() []part {
	if len(k.past) > 0 && k.chance(15) {
		return k.past[k.r.IntN(len(k.past))]
	}
	var cell []part
	for range 1 + k.r.IntN(5) {
		switch n := k.r.IntN(100); {
		case n < 30:
			cell = append(cell, part{decl: k.declaration()})
		case n < 55:
			cell = append(cell, part{define: k.definition()})
		case n < 58:
			cell = append(cell, part{imp: pick(k, "strings", "str")})
		case n < 61:
			k.local, k.level = nil, 6
			if s := k.change(); s != nil {
				cell = append(cell, part{decl: &funcDecl{name: "init", body: []stmt{s}}})
			}
			k.level = 0
		default:
			cell = append(cell, part{stmt: k.statement()})
		}
	}
	cell = k.single(cell)
	switch n := k.r.IntN(100); {
	case n < 8:
		cell = slices.Insert(cell, k.r.IntN(len(cell)+1), part{stmt: fail{pick(k, "explicit", "nil", "index", "error", "map", "goroutine")}})
	case n < 12:
		at := k.r.IntN(len(cell) + 1)
		cell = slices.Insert(cell, at, part{stmt: print{[]expr{strLit("go")}}}, part{stmt: hang{pick(k, "loop", "channel", "select", "sleep", "work")}})
	case n < 17:
		cell = append(cell, part{stmt: wrong(pick(k, "undefined1()", "var wrong int = \"s\"", "x1 = nil + 1", "fmt.Missing()", "if {"))})
	case n < 40:
		cell = append(cell, part{stmt: evaluate{k.int(3)}})
	}
	return cell
}

// single leaves out what declares a name for the second time.
func (k *maker) single(cell []part) []part {
	seen := map[string]bool{}
	return slices.DeleteFunc(cell, func(p part) bool {
		name := ""
		switch {
		case p.define != nil:
			name = p.define.name
		case p.decl != nil:
			name = p.decl.declares()
			if f, ok := p.decl.(*funcDecl); ok && f.recv != "" {
				name = f.recv + "." + f.name
			}
		}
		if name == "" {
			return false
		}
		again := seen[name]
		seen[name] = true
		return again
	})
}

// hangsIn reports whether a cell has to be interrupted.
func hangsIn(cell []part) bool {
	return slices.ContainsFunc(cell, func(p part) bool { _, ok := p.stmt.(hang); return ok })
}
