package interp_test

import (
	"fmt"
	"strconv"
)

// literal is a constant of a scalar type.
func (m *maker) literal(t string) string {
	switch kinds[t] {
	case 'i':
		v := m.r.IntN(200) - 100
		if m.r.IntN(6) == 0 {
			return t + "(" + m.pick("127", "-128", "0", "1", "-1") + ")"
		}
		return t + "(" + strconv.Itoa(max(v, -100)) + ")"
	case 'u':
		return t + "(" + strconv.Itoa(m.r.IntN(256)) + ")"
	case 'f':
		return t + "(" + m.pick("0.5", "1.25", "-3", "2", "100", "1e6", "0.1", "0") + ")"
	case 's':
		return t + "(" + strconv.Quote(m.pick("", "a", "hello", "héllo, 世", "x\xffy", "日本")) + ")"
	case 'b':
		return m.pick("true", "false")
	}
	return ""
}

// small is an int that is mostly an index of something short.
func (m *maker) small() string {
	if v, ok := m.some("int"); ok && m.r.IntN(12) == 0 {
		return v
	}
	return m.pick("0", "0", "1", "1", "2", "0", "1", "2", "3")
}

// terminal ends the recursion of compound.
var terminal = map[string]string{
	"Point": "Point{1, 2}", "*Point": "&Point{3, 4}", "[]int": "[]int{1, 2, 3}", "map[string]int": "map[string]int{\"a\": 1}", "any": "any(3)", "[3]int": "[3]int{1, 2, 3}",
	"[]Point": "[]Point{{1, 2}, {3, 4}}", "[]*Point": "[]*Point{{1, 2}}", "Plain": "Plain{A: 1}", "*Plain": "&Plain{A: 2}", "error": "error(nil)", "Shape": "Shape(nil)",
	"Square": "Square{2}", "*Circle": "(*Circle)(nil)", "Names": "Names{\"x\"}", "Counts": "Counts{}", "[][]int": "[][]int{{1}, {2, 3}}", "map[int]Point": "map[int]Point{}",
	"map[string][]int": "map[string][]int{}", "Outer": "Outer{Point: &Point{5, 6}}", "[]any": "[]any{nil, 1}", "[2]Point": "[2]Point{}", "[]string": "[]string{\"s\"}", "[]byte": "[]byte(\"b\")",
	"func(int) int": "Adder(1)",
}

// expr is an expression of type t of bounded depth.
func (m *maker) expr(t string, depth int) string {
	if v, ok := m.some(t); ok && m.r.IntN(3) > 0 {
		if depth <= 0 || m.r.IntN(2) == 0 {
			return v
		}
	}
	if kinds[t] != 0 {
		return m.scalar(t, depth)
	}
	if depth < -1 {
		return terminal[t]
	}
	return m.compound(t, depth-1)
}

func (m *maker) scalar(t string, depth int) string {
	if depth <= 0 {
		return m.literal(t)
	}
	d := depth - 1
	k := kinds[t]
	switch n := m.r.IntN(10); {
	case k == 'b':
		return m.condition(d)
	case k == 's' && n < 4:
		return "(" + m.expr(t, d) + " + " + m.expr(t, d) + ")"
	case k == 's' && n < 6:
		return fmt.Sprintf("%s(%s)", t, m.pick("fmt.Sprint("+m.expr(m.pick("int", "float64", "Weekday", "Point", "error"), d)+")", "strings.ToUpper("+m.expr("string", d)+")",
			"string([]byte("+m.expr("string", d)+"))", "string([]rune("+m.expr("string", d)+"))", "strings.Repeat("+m.expr("string", 0)+", 2)", "string(rune("+m.expr("int32", d)+"))"))
	case k == 's' && n < 7:
		return fmt.Sprintf("%s[%s:]", m.expr(t, d), m.small())
	case k == 's':
		return m.literal(t)
	case n < 3:
		op := m.pick("+", "-", "*")
		return "(" + m.expr(t, d) + " " + op + " " + m.expr(t, d) + ")"
	case n == 3 && k != 'f':
		return "(" + m.expr(t, d) + " " + m.pick("/", "%", "&", "|", "^", "&^") + " (" + m.expr(t, 0) + " | 1))"
	case n == 3:
		return "(" + m.expr(t, d) + " / " + m.expr(t, d) + ")"
	case n == 4 && k != 'f':
		return "(" + m.expr(t, d) + " " + m.pick("<<", ">>") + " " + m.pick("1", "3", "7", "uint8("+m.small()+")", "("+m.expr("int", 0)+" & 15)", "("+m.expr("uint16", 0)+" & 63)") + ")"
	case n == 4:
		return "(-" + m.expr(t, d) + ")"
	case n == 5:
		from := m.pick("int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "Weekday", "Small", "Octet")
		return t + "(" + m.expr(from, d) + ")"
	case n == 6 && t == "int":
		return m.intCall(d)
	case n == 6 && k != 'f':
		return "(" + m.pick("^", "-", "+") + m.expr(t, d) + ")"
	case n == 7 && m.r.IntN(2) == 0:
		return m.pick("min", "max") + "(" + m.expr(t, d) + ", " + m.expr(t, d) + ")"
	case n == 7 && t == "uint8":
		return m.expr("[]byte", d) + "[" + m.small() + "]"
	}
	if v, ok := m.some(t); ok {
		return v
	}
	return m.literal(t)
}

func (m *maker) intCall(d int) string {
	switch m.r.IntN(16) {
	case 0:
		return "Sum(" + m.expr("int", d) + ", " + m.expr("int", d) + ")"
	case 1:
		return "len(" + m.expr(m.pick("string", "[]int", "map[string]int", "Names", "[]Point", "Text", "[3]int"), d) + ")"
	case 2:
		return m.expr("Point", d) + m.pick(".X", ".Y", ".Add(Point{1, 2}).X")
	case 3:
		return m.expr("[]int", d) + "[" + m.small() + "]"
	case 4:
		return m.expr("map[string]int", d) + "[" + m.expr("string", 0) + "]"
	case 5:
		return m.expr("[3]int", d) + "[" + m.pick("0", "1", "2") + "]"
	case 6:
		return "Trace(\"t\", " + m.expr("int", d) + ")"
	case 7:
		return m.expr("*Point", d) + m.pick(".X", ".Y", ".Scale(2).X")
	case 8:
		return m.expr("Plain", d) + m.pick(".A", ".F.X", ".Sum()", ".H[1]", ".D[\"a\"]", ".E.X")
	case 9:
		return m.expr("*Plain", d) + m.pick(".A", ".F.X", ".Sum()", ".H[1]", ".C[0]", ".D[\"k\"]")
	case 10:
		return m.expr("any", d) + ".(int)"
	case 11:
		return m.expr("[]Point", d) + "[" + m.small() + "]" + m.pick(".X", ".Add(Point{3, 4}).Y")
	case 12:
		return m.expr("[][]int", d) + "[" + m.small() + "][" + m.small() + "]"
	case 13:
		return m.expr("map[int]Point", d) + "[" + m.expr("int", 0) + "].Y"
	case 14:
		return m.expr("Outer", d) + m.pick(".ID", ".Base.ID", ".X", ".Point.Y")
	}
	if f, ok := m.some("func(int) int"); ok {
		return f + "(" + m.expr("int", d) + ")"
	}
	return "Adder(" + m.expr("int", d) + ")(3)"
}

func (m *maker) condition(d int) string {
	switch m.r.IntN(12) {
	case 0, 1:
		t := m.pick("int", "int8", "uint8", "uint64", "float64", "float32", "string", "Weekday", "Text")
		return "(" + m.expr(t, d) + " " + m.pick("==", "!=", "<", "<=", ">", ">=") + " " + m.expr(t, d) + ")"
	case 2:
		return "(" + m.condition(d-1) + " " + m.pick("&&", "||") + " " + m.condition(d-1) + ")"
	case 3:
		return "(!" + m.condition(d-1) + ")"
	case 4:
		t := m.pick("Point", "any", "[3]int", "Shape", "*Point", "[2]Point", "Square", "error")
		return "(" + m.expr(t, d) + " " + m.pick("==", "!=") + " " + m.expr(t, d) + ")"
	case 5:
		t := m.pick("error", "any", "Shape", "*Point", "[]int", "map[string]int", "*Circle", "func(int) int")
		if t == "func(int) int" {
			if _, ok := m.some(t); !ok {
				t = "error"
			}
		}
		return "(" + m.expr(t, d) + m.pick(" == ", " != ") + "nil)"
	case 6:
		return "TraceB(\"b\", " + m.condition(d-1) + ")"
	case 7:
		return "(" + m.expr("any", d) + " == " + m.expr(m.pick("int", "string", "Point", "Weekday"), d) + ")"
	case 8:
		return "strings.Contains(" + m.expr("string", d) + ", \"l\")"
	}
	return m.literal("bool")
}

// compound is an expression of a type that is not scalar.
func (m *maker) compound(t string, d int) string {
	deep := d > 0 && m.r.IntN(2) == 0
	p := func() string { return m.expr("Point", d-1) }
	n := func() string { return m.expr("int", d-1) }
	switch t {
	case "Point":
		if deep {
			return m.pick(p()+".Add("+p()+")", "*Fresh()", m.expr("[]Point", d-1)+"["+m.small()+"]", m.expr("Plain", d-1)+".F", "*"+m.expr("*Point", d-1), m.expr("map[int]Point", d-1)+"[1]", m.expr("[2]Point", d-1)+"[1]")
		}
		return m.pick("Point{"+n()+", "+n()+"}", "Point{X: "+n()+"}", "Point{}")
	case "*Point":
		if deep {
			return m.pick("Fresh().Scale("+n()+")", "NilPoint()", m.expr("[]*Point", d-1)+"["+m.small()+"]")
		}
		return m.pick("&Point{"+n()+", "+n()+"}", "Fresh()")
	case "[]int":
		if deep {
			return m.pick("Ints("+m.small()+")", "append("+m.expr("[]int", d-1)+", "+n()+")", m.expr("[]int", d-1)+"[1:]", m.expr("[]int", d-1)+"[:"+m.small()+"]", "append([]int(nil), "+m.expr("[]int", d-1)+"...)",
				"make([]int, "+m.small()+", 5)", m.expr("[][]int", d-1)+"["+m.small()+"]", m.expr("map[string][]int", d-1)+"[\"k\"]", m.expr("Plain", d-1)+".C")
		}
		return "[]int{" + n() + ", " + n() + ", " + n() + "}"
	case "[]byte":
		return m.pick("[]byte("+m.expr("string", d-1)+")", "[]byte{1, "+m.expr("uint8", d-1)+"}", "append([]byte(\"ab\"), "+m.expr("string", d-1)+"...)")
	case "[]string":
		return m.pick("strings.Fields("+m.expr("string", d-1)+")", "[]string{"+m.expr("string", d-1)+", \"z\"}", "strings.Split(\"a,b,c\", \",\")")
	case "Names":
		return m.pick("Names{\"a\", "+m.expr("string", d-1)+"}", "Names(nil)[:0]", "append(Names{\"q\"}, "+m.expr("string", d-1)+")")
	case "Counts":
		return m.pick("Counts{\"a\": "+n()+"}", "make(Counts)")
	case "[3]int":
		if deep {
			return m.expr("Plain", d-1) + ".H"
		}
		return m.pick("[3]int{"+n()+", "+n()+", 7}", "[3]int{}")
	case "[2]Point":
		return "[2]Point{" + p() + ", " + p() + "}"
	case "map[string]int":
		return m.pick("map[string]int{\"a\": "+n()+", "+m.expr("string", 0)+"+\"k\": "+n()+"}", "map[string]int{}", "make(map[string]int, 3)")
	case "map[int]Point":
		return "map[int]Point{1: " + p() + ", 2: {3, " + n() + "}}"
	case "map[string][]int":
		return "map[string][]int{\"k\": " + m.expr("[]int", d-1) + ", \"l\": {1, 2}}"
	case "[]Point":
		return m.pick("[]Point{"+p()+", {1, "+n()+"}, "+p()+"}", "append([]Point{{9, 8}}, "+p()+")", "make([]Point, 3)")
	case "[]*Point":
		return "[]*Point{" + m.expr("*Point", d-1) + ", {1, " + n() + "}, nil}"
	case "[][]int":
		return m.pick("[][]int{"+m.expr("[]int", d-1)+", {1, 2, "+n()+"}, nil}", "make([][]int, 3)")
	case "[]any":
		return "[]any{" + m.expr("any", d-1) + ", 1, nil, " + m.expr("Point", d-1) + "}"
	case "Plain", "*Plain":
		amp := ""
		if t == "*Plain" {
			amp = "&"
		}
		return amp + "Plain{A: " + n() + ", B: " + m.expr("string", d-1) + ", C: " + m.expr("[]int", d-1) + ", D: " + m.expr("map[string]int", d-1) + ", E: " + m.expr("*Point", d-1) + ", F: " + p() +
			", G: " + m.expr("any", d-1) + ", H: " + m.expr("[3]int", d-1) + ", J: " + m.expr("error", d-1) + "}"
	case "any":
		if deep {
			return m.pick("any("+p()+")", "any("+m.expr("Weekday", d-1)+")", "any("+m.expr("*Point", d-1)+")", m.expr("[]any", d-1)+"["+m.small()+"]", "any("+m.expr("error", d-1)+")", "any("+m.expr("Shape", d-1)+")")
		}
		return "any(" + m.expr(m.pick("int", "string", "float64", "uint8", "bool", "Small"), d-1) + ")"
	case "error":
		return m.pick("Fail("+n()+")", "Fail(0)", "ErrPlain", "error(&MyErr{"+n()+"})", "Wrap("+m.expr("error", d-1)+")")
	case "Shape":
		return m.pick("NewSquare("+m.expr("float64", d-1)+")", "NoShape()", "Shape(&Circle{2})", "Shape(Square{"+m.expr("float64", d-1)+"})", "Shape("+m.expr("*Circle", d-1)+")")
	case "Square":
		return "Square{" + m.expr("float64", d-1) + "}"
	case "*Circle":
		return "&Circle{" + m.expr("float64", d-1) + "}"
	case "Outer":
		return "Outer{Base: Base{" + n() + ", \"b\"}, Point: " + m.expr("*Point", d-1) + ", Tag: \"t\"}"
	case "func(int) int":
		return "Adder(" + n() + ")"
	}
	panic("no expression of type " + t)
}
