package interp_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

var (
	randomCells = flag.Int("cells", 400, "how many random programs to compare with go run")
	randomSeed  = flag.Uint64("seed", 1, "of the random programs")
)

// TestRandom makes random statements over the types of package probe, and compares what they print interpreted with what one compiled
// program of all of them prints. Every program has two cells, so that state passes through the session.
func TestRandom(t *testing.T) {
	const batch = 400
	right, refused := 0, map[string]int{}
	for start := 0; start < *randomCells; start += batch {
		n := min(batch, *randomCells-start)
		programs := make([]string, n)
		for i := range programs {
			programs[i] = checked(t, uint64(start+i))
		}
		want := goRun(t, withoutCells(programs))
		for i, p := range programs {
			b := newBench(t)
			got, why := b.program(p)
			if why != "" {
				_, why, _ = strings.Cut(why, ": ")
				refused[why]++
				continue
			}
			right++
			if address.ReplaceAllString(got, "address") != address.ReplaceAllString(want[i], "address") {
				right--
				t.Errorf("seed %d program %d printed\n%s\nwant\n%s\nprogram\n%s", *randomSeed, start+i, got, want[i], p)
			}
		}
	}
	t.Logf("%d programs, %d right, refused: %v", *randomCells, right, refused)
	if right < *randomCells*3/4 {
		t.Errorf("only %d of %d programs were interpreted: the generator proves too little", right, *randomCells)
	}
}

// address is where something is, which no two runs agree on.
var address = regexp.MustCompile(`0x[0-9a-f]{6,}`)

// checked is a random program that type-checks: the generator does not know which of its constants overflow.
func checked(t *testing.T, i uint64) string {
	t.Helper()
	b := newBench(t)
	for try := range uint64(200) {
		p := newMaker(*randomSeed, i<<8|try).program()
		if c := b.check.Check(2, strings.ReplaceAll(p, "\n---\n", "\n")); len(c.Errors) == 0 {
			return p
		} else if testing.Verbose() && try > 100 {
			t.Log(c.Errors[0])
		}
	}
	t.Fatal("the generator makes no program that type-checks")
	return ""
}

// program runs the cells of a program until one panics; refused says why one was not interpreted.
func (b *bench) program(p string) (printed, refused string) {
	var got strings.Builder
	for _, code := range strings.Split(p, "\n---\n") {
		s, refused := b.run(code)
		if refused != "" {
			return got.String(), refused
		}
		got.WriteString(s)
		if b.failed {
			break
		}
	}
	return got.String(), ""
}

// maker makes one random program that type-checks.
type maker struct {
	r     *rand.Rand
	b     strings.Builder
	vars  []variable
	n     int
	depth int
	loops int
}

type variable struct{ name, typ string }

func newMaker(seed, i uint64) *maker { return &maker{r: rand.New(rand.NewPCG(seed, i))} }

// scalarTypes and their kinds: i signed, u unsigned, f float, s string, b bool.
var kinds = map[string]byte{
	"int": 'i', "int8": 'i', "int16": 'i', "int32": 'i', "int64": 'i', "uint": 'u', "uint8": 'u', "uint16": 'u', "uint32": 'u',
	"uint64": 'u', "float32": 'f', "float64": 'f', "string": 's', "bool": 'b', "Weekday": 'i', "Small": 'i', "Octet": 'u', "Celsius": 'f', "Text": 's',
}

var typesOfVars = []string{
	"int", "int", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "string", "bool",
	"Weekday", "Small", "Octet", "Celsius", "Text", "Point", "*Point", "[]int", "map[string]int", "any", "[3]int", "[]Point", "[]*Point", "Plain", "*Plain",
	"error", "Shape", "Square", "*Circle", "Names", "Counts", "[][]int", "map[int]Point", "map[string][]int", "Outer", "[]any", "[2]Point", "[]string", "[]byte",
	"func(int) int",
}

func (m *maker) pick(l ...string) string { return l[m.r.IntN(len(l))] }

func (m *maker) program() string {
	for range 3 + m.r.IntN(4) {
		m.define()
	}
	m.statements(2 + m.r.IntN(4))
	m.b.WriteString("---\n")
	m.statements(3 + m.r.IntN(6))
	for _, v := range m.vars {
		m.print(v)
	}
	return strings.TrimRight(m.b.String(), "\n")
}

func (m *maker) print(v variable) {
	if v.typ == "func(int) int" {
		return
	}
	fmt.Fprintf(&m.b, "%s\n", "fmt.Println(\""+v.name+"\", "+m.printable(v)+")")
}

// printable is an expression that prints without addresses.
func (m *maker) printable(v variable) string {
	switch v.typ {
	case "*Point":
		return v.name + " == nil || " + v.name + ".X == " + v.name + ".X"
	case "[]*Point":
		return "len(" + v.name + ")"
	case "*Plain":
		return v.name + ".A, " + v.name + ".B, " + v.name + ".C, " + v.name + ".D, " + v.name + ".F, " + v.name + ".H"
	case "Plain":
		return v.name + ".A, " + v.name + ".B, " + v.name + ".C, " + v.name + ".D, " + v.name + ".F, " + v.name + ".H, " + v.name + ".E == nil, " + v.name + ".J"
	case "*Circle":
		return v.name + " == nil"
	case "Shape":
		return v.name + " == nil"
	case "Outer":
		return v.name + ".Base, " + v.name + ".Tag"
	case "any", "[]any":
		return "len(fmt.Sprint(" + v.name + ")) > 0"
	}
	return v.name
}

func (m *maker) fresh() string {
	m.n++
	return fmt.Sprintf("x%d", m.n)
}

func (m *maker) define() {
	t := typesOfVars[m.r.IntN(len(typesOfVars))]
	name := m.fresh()
	switch {
	case m.r.IntN(4) == 0:
		fmt.Fprintf(&m.b, "var %s %s\n", name, t)
	case t == "func(int) int":
		fmt.Fprintf(&m.b, "%s := Adder(%s)\n", name, m.expr("int", 1))
	default:
		fmt.Fprintf(&m.b, "var %s %s = %s\n", name, t, m.expr(t, 2))
	}
	fmt.Fprintf(&m.b, "_ = %s\n", name)
	m.vars = append(m.vars, variable{name, t})
}

func (m *maker) some(t string) (string, bool) {
	var l []string
	for _, v := range m.vars {
		if v.typ == t {
			l = append(l, v.name)
		}
	}
	if len(l) == 0 {
		return "", false
	}
	return m.pick(l...), true
}

func (m *maker) statements(n int) {
	for range n {
		m.statement()
	}
}
