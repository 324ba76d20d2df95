package interp_test

import "fmt"

func (m *maker) line(format string, args ...any) { fmt.Fprintf(&m.b, format+"\n", args...) }

// block writes a block of statements with a scope of its own.
func (m *maker) block(n int) {
	vars := len(m.vars)
	m.depth++
	m.statements(n)
	m.depth--
	m.vars = m.vars[:vars]
}

// statement writes one random statement.
func (m *maker) statement() {
	n := m.r.IntN(33)
	if m.depth >= 2 && n >= 20 && n < 30 {
		n = m.r.IntN(20)
	}
	switch n {
	case 0, 1:
		m.define()
	case 2, 3, 4:
		m.assign()
	case 5:
		m.opAssign()
	case 6:
		if v, ok := m.some(m.pick("int", "int8", "uint8", "uint64", "float64", "Small", "Weekday", "int16", "uint32")); ok {
			m.line("%s%s", v, m.pick("++", "--"))
		}
	case 7, 8:
		m.element()
	case 9:
		m.method()
	case 10, 11:
		t := m.pick("int", "string", "bool", "uint8", "int8", "float64", "Point", "Weekday", "[]int", "Text", "Octet", "float32", "error", "[3]int", "Names")
		m.line("fmt.Println(%s)", m.expr(t, 3))
	case 12:
		t := m.pick("int", "int64", "Point", "Weekday", "Small", "Celsius", "[]Point", "[2]Point", "map[int]Point", "Square", "uint16")
		m.line("fmt.Printf(\"%%T %%v|\", %s, %s)", m.expr(t, 2), m.expr(t, 2))
	case 13:
		m.line("fmt.Println(%s, %s)", m.condition(3), m.condition(2))
	case 14:
		x, y := m.fresh(), m.fresh()
		switch m.r.IntN(4) {
		case 0:
			m.line("%s, %s := Divmod(%s, %s)", x, y, m.expr("int", 2), m.expr("int", 1))
			m.vars = append(m.vars, variable{x, "int"}, variable{y, "int"})
		case 1:
			m.line("%s, %s := Try(%s)", x, y, m.expr("int", 1))
			m.vars = append(m.vars, variable{x, "int"}, variable{y, "error"})
		case 2:
			m.line("%s, %s := %s[%s]", x, y, m.expr("map[string]int", 1), m.expr("string", 0))
			m.vars = append(m.vars, variable{x, "int"}, variable{y, "bool"})
		case 3:
			t := m.pick("int", "Point", "Shape", "error", "string", "fmt.Stringer", "*Point")
			m.line("%s, %s := %s.(%s)", x, y, m.expr("any", 2), t)
			if t == "fmt.Stringer" {
				t = "any?"
			}
			m.vars = append(m.vars, variable{x, t}, variable{y, "bool"})
		}
		m.line("_, _ = %s, %s", x, y)
		if m.vars[len(m.vars)-2].typ == "any?" {
			m.vars = append(m.vars[:len(m.vars)-2], m.vars[len(m.vars)-1])
		}
	case 15:
		m.swap()
	case 16:
		if v, ok := m.some("map[string]int"); ok {
			m.line("delete(%s, %s)", v, m.expr("string", 1))
		}
	case 17:
		if v, ok := m.some("[]int"); ok {
			m.line("fmt.Println(copy(%s, %s), len(%s), cap(%s) >= len(%s))", v, m.expr("[]int", 1), v, v, v)
		}
	case 18:
		if m.loops > 0 {
			m.line("if (%s) { %s }", m.condition(1), m.pick("break", "continue"))
		}
	case 19:
		if v, ok := m.some(m.pick("[]int", "map[string]int", "[]Point")); ok && m.r.IntN(3) == 0 {
			m.line("clear(%s)", v)
		}
	case 20, 21:
		m.line("if (%s) {", m.condition(2))
		m.block(2)
		if m.r.IntN(2) == 0 {
			m.line("} else if (%s) {", m.condition(1))
			m.block(1)
		}
		m.line("} else {")
		m.block(1)
		m.line("}")
	case 22, 23:
		m.loop()
	case 24, 25:
		m.rangeLoop()
	case 26, 27:
		m.switchOn()
	case 28:
		m.typeSwitch()
	case 29:
		m.line("{")
		m.block(3)
		m.line("}")
	case 30:
		if v, ok := m.some("int"); ok && m.depth == 0 {
			m.line("fmt.Println(%s, Bump(&%s), %s)", m.expr(m.pick("int", "bool", "Point", "string", "[]int", "uint8", "[3]int"), 2), v, m.expr("int", 2))
			if w, ok := m.some("int"); ok && m.r.IntN(2) == 0 {
				m.line("%s %s %s + Bump(&%s)", w, m.pick("=", "+=", "-="), m.expr("int", 1), v)
			}
			break
		}
		m.line("fmt.Println(%s[%s], Trace(\"o\", %s), %s)", m.expr("[]int", 1), m.small(), m.expr("int", 1), m.expr(m.pick("bool", "Point", "string", "uint8", "[3]int"), 2))
	case 31:
		if v, ok := m.some("[]int"); ok {
			m.line("%s[%s] %s Trace(\"p\", %s)", v, m.small(), m.pick("=", "+=", "-="), m.expr("int", 2))
		}
		x, y := m.fresh(), m.fresh()
		m.line("%s, %s := %s[%s], TraceB(\"q\", %s)\n_, _ = %s, %s", x, y, m.expr("[]int", 1), m.small(), m.condition(2), x, y)
		m.vars = append(m.vars, variable{x, "int"}, variable{y, "bool"})
	case 32:
		m.generic()
	}
}

// generic calls generic functions of packages, and passes functions as values.
func (m *maker) generic() {
	list, n := m.expr("[]int", 2), m.expr("int", 1)
	switch m.r.IntN(8) {
	case 0:
		if v, ok := m.some("[]int"); ok {
			m.line("slices.%s(%s)", m.pick("Sort", "Reverse"), v)
		}
	case 1:
		m.line("fmt.Println(slices.Contains(%s, %s), slices.Index(%s, %s), slices.IsSorted(%s))", list, n, list, n, list)
	case 2:
		m.line("fmt.Println(slices.Concat(%s, %s), slices.Clone(%s), slices.Equal(%s, %s))", list, m.expr("[]int", 1), list, list, m.expr("[]int", 1))
	case 3:
		m.line("fmt.Println(slices.Sorted(maps.Keys(%s)), slices.Sorted(maps.Values(%s)))", m.expr("map[string]int", 1), m.expr("map[string]int", 1))
	case 4:
		m.line("fmt.Println(slices.%s(%s), Trace(\"g\", %s))", m.pick("Max", "Min"), list, n)
	case 5:
		m.line("fmt.Println(cmp.Compare(%s, %s), cmp.Less(%s, %s), cmp.Or(%s, %s))", m.expr("float64", 1), m.expr("float64", 1), n, m.expr("int", 1), m.expr("string", 1), m.expr("string", 1))
	case 6:
		m.line("fmt.Println(slices.Insert(%s, %s, %s, 9))", list, m.small(), n)
	case 7:
		words := m.expr("[]string", 1)
		m.line("fmt.Println(slices.MaxFunc(%s, strings.Compare), slices.IsSortedFunc(%s, strings.Compare))", words, words)
	}
}

func (m *maker) assign() {
	if len(m.vars) == 0 {
		return
	}
	v := m.vars[m.r.IntN(len(m.vars))]
	if m.r.IntN(8) == 0 {
		switch v.typ {
		case "error", "any", "Shape", "[]int", "map[string]int", "*Point", "Names", "[]Point":
			m.line("%s = nil", v.name)
			return
		}
	}
	m.line("%s = %s", v.name, m.expr(v.typ, 3))
}

func (m *maker) opAssign() {
	t := m.pick("int", "int", "int8", "uint8", "int16", "uint32", "int64", "uint64", "float64", "float32", "string", "Small", "Octet", "Celsius", "Weekday")
	v, ok := m.some(t)
	if !ok {
		return
	}
	switch k := kinds[t]; {
	case k == 's':
		m.line("%s += %s", v, m.expr(t, 2))
	case k == 'f':
		m.line("%s %s= %s", v, m.pick("+", "-", "*", "/"), m.expr(t, 2))
	default:
		switch m.r.IntN(3) {
		case 0:
			m.line("%s %s= %s", v, m.pick("+", "-", "*", "&", "|", "^", "&^"), m.expr(t, 2))
		case 1:
			m.line("%s %s= (%s | 1)", v, m.pick("/", "%"), m.expr(t, 1))
		case 2:
			m.line("%s %s= %s", v, m.pick("<<", ">>"), m.pick("1", "3", "(uint("+m.expr("uint8", 0)+") & 15)", m.small()))
		}
	}
}

// element assigns to a part of something.
func (m *maker) element() {
	type part struct{ of, place, typ string }
	parts := []part{
		{"[]int", "[%s]", "int"}, {"[3]int", "[1]", "int"}, {"map[string]int", "[\"a\"]", "int"}, {"Point", ".X", "int"}, {"*Point", ".Y", "int"},
		{"[]Point", "[%s].X", "int"}, {"[]Point", "[%s]", "Point"}, {"[]*Point", "[%s].Y", "int"}, {"[]*Point", "[%s]", "*Point"}, {"Plain", ".A", "int"}, {"Plain", ".F.Y", "int"}, {"Plain", ".F", "Point"},
		{"Plain", ".C", "[]int"}, {"Plain", ".E", "*Point"}, {"Plain", ".G", "any"}, {"Plain", ".H", "[3]int"}, {"Plain", ".H[2]", "int"}, {"Plain", ".J", "error"}, {"Plain", ".D[\"z\"]", "int"},
		{"*Plain", ".A", "int"}, {"*Plain", ".F", "Point"}, {"*Plain", ".F.X", "int"}, {"*Plain", ".C[%s]", "int"}, {"*Plain", ".H[0]", "int"}, {"*Plain", ".B", "string"},
		{"[][]int", "[%s][%s]", "int"}, {"[][]int", "[%s]", "[]int"}, {"map[int]Point", "[1]", "Point"}, {"map[string][]int", "[\"k\"]", "[]int"}, {"map[string][]int", "[\"l\"][%s]", "int"},
		{"Outer", ".ID", "int"}, {"Outer", ".Base.Name", "string"}, {"Outer", ".X", "int"}, {"[]any", "[%s]", "any"}, {"[2]Point", "[0]", "Point"}, {"[2]Point", "[1].Y", "int"}, {"Counts", "[\"c\"]", "int"},
		{"Names", "[0]", "string"}, {"[]byte", "[0]", "uint8"}, {"[]string", "[%s]", "string"}, {"Square", ".Side", "float64"}, {"*Circle", ".R", "float64"},
	}
	for range 6 {
		p := parts[m.r.IntN(len(parts))]
		v, ok := m.some(p.of)
		if !ok {
			continue
		}
		place := p.place
		for i := 0; i+1 < len(place); i++ {
			if place[i:i+2] == "%s" {
				place = place[:i] + m.small() + place[i+2:]
			}
		}
		switch {
		case p.typ == "int" && m.r.IntN(3) == 0:
			m.line("%s%s %s= %s", v, place, m.pick("+", "-", "*"), m.expr("int", 1))
		case p.typ == "int" && m.r.IntN(4) == 0:
			m.line("%s%s++", v, place)
		default:
			m.line("%s%s = %s", v, place, m.expr(p.typ, 2))
		}
		return
	}
}

func (m *maker) method() {
	type call struct{ of, text string }
	calls := []call{
		{"Point", "%s.Move(1, 2)"}, {"*Point", "%s.Move(3, 4)"}, {"[]Point", "%s[" + m.small() + "].Move(1, 1)"}, {"[]*Point", "%s[" + m.small() + "].Move(1, 1)"}, {"Plain", "%s.F.Move(5, 5)"},
		{"*Plain", "%s.F.Move(5, 5)"}, {"Outer", "%s.Rename(\"r\")"}, {"Outer", "fmt.Println(%s.Inc(), %[1]s.Hello())"}, {"Outer", "%s.Move(1, 1)"}, {"Names", "%s.Add(\"n\")"}, {"Names", "fmt.Println(%s.Join())"},
		{"Counts", "fmt.Println(%s.Inc(\"i\"))"}, {"Shape", "fmt.Println(%s.Area(), %[1]s.Name())"}, {"error", "fmt.Println(%s.Error())"}, {"Square", "fmt.Println(%s.Area())"}, {"*Circle", "fmt.Println(%s.Area())"},
		{"Celsius", "fmt.Println(%s.String(), %[1]s)"}, {"Text", "fmt.Println(%s.Len())"}, {"[2]Point", "%s[1].Move(2, 2)"}, {"Point", "fmt.Println(%s.Get())"},
	}
	for range 6 {
		c := calls[m.r.IntN(len(calls))]
		if v, ok := m.some(c.of); ok {
			m.line(c.text, v)
			return
		}
	}
}

func (m *maker) swap() {
	t := m.pick("int", "string", "Point", "[]int", "error", "any", "[3]int")
	a, ok := m.some(t)
	b, _ := m.some(t)
	switch {
	case ok && m.r.IntN(2) == 0:
		m.line("%s, %s = %s, %s", a, b, m.expr(t, 1), a)
	case ok && a != b:
		m.line("%s, %s = %s, %s", a, b, b, a)
	default:
		if s, ok := m.some("[]int"); ok {
			m.line("%s[%s], %s[%s] = %s, %s", s, m.small(), s, m.small(), m.expr("int", 1), m.expr("int", 1))
		}
	}
}

func (m *maker) loop() {
	i := m.fresh()
	m.line("for %s := %s; %s < %d; %s++ {", i, m.small(), i, 2+m.r.IntN(3), i)
	m.inLoop(i, "int")
}

// inLoop writes the body of a loop. The loop variable is read only, so that the loop ends.
func (m *maker) inLoop(name, typ string) {
	vars := len(m.vars)
	m.loops++
	if name != "_" {
		copied := m.fresh()
		m.line("%s := %s\n_ = %s", copied, name, copied)
		m.vars = append(m.vars, variable{copied, typ})
	}
	m.block(2)
	m.loops--
	m.vars = m.vars[:vars]
	m.line("}")
}

func (m *maker) rangeLoop() {
	v := m.fresh()
	switch m.r.IntN(7) {
	case 0:
		m.line("for %s := range %d {", v, 1+m.r.IntN(4))
		m.inLoop(v, "int")
	case 1:
		m.line("for _, %s := range (%s) {", v, m.expr("[]int", 2))
		m.inLoop(v, "int")
	case 2:
		m.line("for _, %s := range (%s) {", v, m.expr("[]Point", 2))
		m.inLoop(v, "Point")
	case 3:
		m.line("for %s := range (%s) {\nfmt.Print(%s, \" \")", v, m.expr("string", 1), v)
		m.inLoop(v, "int")
	case 4:
		m.line("for _, %s := range (%s) {", v, m.expr("string", 1))
		m.inLoop(v, "int32")
	case 5:
		m.line("for _, %s := range (%s) {", v, m.expr("[3]int", 1))
		m.inLoop(v, "int")
	case 6:
		m.line("for _, %s := range ([]any{1, %s, nil, %s}) {", v, m.expr("any", 1), m.expr("error", 1))
		m.inLoop(v, "any")
	}
}

func (m *maker) switchOn() {
	t := m.pick("int", "string", "uint8", "Weekday", "any", "error", "Point")
	loops := m.loops
	m.loops = 0
	defer func() { m.loops = loops }()
	m.line("switch (%s) {", m.expr(t, 2))
	m.line("case %s, %s:", m.expr(t, 1), m.expr(t, 1))
	m.block(1)
	if t == "any" || t == "error" {
		m.line("case nil:")
		m.block(1)
	}
	m.line("default:")
	m.block(1)
	m.line("}")
}

func (m *maker) typeSwitch() {
	v := m.fresh()
	loops := m.loops
	m.loops = 0
	defer func() { m.loops = loops }()
	m.line("switch %s := (%s).(type) {", v, m.expr("any", 2))
	for _, t := range []string{"int", "Point", "*Point", "string"} {
		m.line("case %s:\n_ = %s", t, v)
		vars := len(m.vars)
		m.vars = append(m.vars, variable{v, t})
		m.block(1)
		m.vars = m.vars[:vars]
	}
	m.line("case %s:\nfmt.Println(\"iface\", %s != nil)", m.pick("error", "Shape", "fmt.Stringer"), v)
	m.line("case %s:\nfmt.Println(\"two\", %s)", m.pick("bool, float64", "nil, uint8", "Small, nil"), v)
	m.line("default:\nfmt.Println(\"default\", %s != nil)", v)
	m.line("}")
}
