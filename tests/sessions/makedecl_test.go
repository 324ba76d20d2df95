package sessions

import (
	"fmt"
	"slices"
)

// declaration makes one.
func (k *maker) declaration() decl {
	defer func() { k.level, k.local = 0, nil }()
	switch k.r.IntN(9) {
	case 0:
		return k.constant()
	case 1, 2:
		return k.structType()
	case 3:
		if l := k.types(); len(l) > 0 {
			return k.method(pick(k, l...))
		}
		return k.structType()
	case 4:
		k.level = 1
		if k.chance(50) {
			return &pairDecl{"U" + pick(k, "1", "2")}
		}
		return &genericDecl{"t" + pick(k, "1", "2"), bin{"*", intLit(1), intLit(k.r.IntN(2) + 1)}}
	case 5:
		return k.changer()
	}
	return k.function()
}

func (k *maker) constant() decl {
	n := 1 + k.r.IntN(4)
	name := fmt.Sprint("k", n)
	var x expr = intLit(k.r.IntN(9))
	if l := k.named(func(s *symbol) bool { return s.role == isConst && number(s.name) < n }); len(l) > 0 && k.chance(50) {
		x = bin{"+", ref{pick(k, l...)}, x}
	}
	return &constDecl{name, x}
}

func (k *maker) structType() decl {
	n := 1 + k.r.IntN(3)
	d := &typeDecl{name: fmt.Sprint("T", n), fields: []param{{"A", tref{kind: tInt}}}}
	if k.chance(15) {
		d.fields = nil
	}
	if k.chance(40) {
		d.fields = append(d.fields, param{"B", tref{kind: tInt}})
	}
	if k.chance(30) {
		d.fields = append(d.fields, param{"s", tref{kind: tString}})
	}
	if k.chance(30) {
		d.fields = append(d.fields, param{"h", tref{kind: tInt}})
	}
	if n > 1 && k.chance(50) {
		lower := fmt.Sprint("T", 1+k.r.IntN(n-1))
		if slices.Contains(k.types(), lower) {
			d.fields = append(d.fields, param{"In", tref{tStruct, lower}})
		}
	}
	return d
}

// function makes a function without side effects.
func (k *maker) function() decl {
	k.level = 1 + k.r.IntN(5)
	d := &funcDecl{name: fmt.Sprint("f", k.level), result: tref{kind: tInt}}
	p := pick(k, "n", "n", "n", "x1")
	switch k.r.IntN(5) {
	case 0:
		d.params = []param{{"s", tref{kind: tString}}}
		d.value = bin{"+", length{ref{"s"}}, k.int(2)}
		return d
	case 1:
		if l := k.types(); len(l) > 0 {
			t := pick(k, l...)
			d.params = []param{{"t", tref{tStruct, t}}}
			d.value = bin{"+", field{ref{"t"}, k.fieldOf(typ{tStruct, k.m.ns[t]})}, k.int(2)}
			if k.chance(30) {
				d.params, d.result = []param{{"n", tref{kind: tInt}}}, tref{tStruct, t}
				k.local = []string{"n"}
				d.value = k.composite(tref{tStruct, t}, 2)
			}
			return d
		}
	case 2:
		k.local = []string{p}
		d.params = []param{{p, tref{kind: tInt}}}
		d.result, d.value = tref{kind: tString}, k.string(3)
		return d
	}
	k.local = []string{p}
	d.params = []param{{p, tref{kind: tInt}}}
	d.value = k.int(3)
	return d
}

// changer makes a function that changes a variable.
func (k *maker) changer() decl {
	k.level = 6
	k.local = []string{"n"}
	d := &funcDecl{name: "g" + pick(k, "1", "2"), params: []param{{"n", tref{kind: tInt}}}, result: tref{kind: tInt}}
	if s := k.change(); s != nil {
		d.body = append(d.body, s)
	}
	d.value = k.int(2)
	return d
}

func (k *maker) method(t string) decl {
	k.level = 3
	k.local = []string{"n"}
	d := &funcDecl{recv: t, params: []param{{"n", tref{kind: tInt}}}, result: tref{kind: tInt}}
	if k.chance(40) {
		d.name, d.ptr = pick(k, "P1", "P2"), true
		d.body = []stmt{assign{field{ref{receiver}, "A"}, "+", k.int(2)}}
		d.value = field{ref{receiver}, "A"}
		return d
	}
	d.name = pick(k, "M1", "M2")
	d.value = bin{pick(k, "+", "*"), field{ref{receiver}, k.fieldOf(typ{tStruct, k.m.ns[t]})}, k.int(2)}
	return d
}
