package native

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/kernel/eval/check"
)

var (
	loopPrograms = flag.Int("loops", 2, "random programs of loops to compare")
	loopSeed     = flag.Uint64("loop-seed", 0, "seed of the first of them; 0: one that changes with the time")
)

// mostTurns is more than a loop may make without a look, whatever its body.
const mostTurns = 1<<24/4 + 1

// TestRandomLoops compares loops as the engine writes them with the user's own: both run in one program of the go command, with a stand-in
// for package rt whose flag is always up. They must do the same, and a loop that makes many turns must look.
func TestRandomLoops(t *testing.T) {
	seed := *loopSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano()) % 1e9
	}
	p := start(t)
	for n := range *loopPrograms {
		g := &loopWriter{rand.New(rand.NewPCG(seed+uint64(n), 0))}
		const funcs = 80
		var code, calls strings.Builder
		for i := range funcs {
			fmt.Fprintf(&code, "func f%d() (turns int, h int64) {\n%s\nreturn\n}\n", i, g.function())
			fmt.Fprintf(&calls, "same(%d, f%d, emitted.G__f%d)\n", i, i, i)
		}
		p.n++
		p.check.Reset()
		c := p.check.Check(p.n, loopTypes+code.String())
		if len(c.Errors) > 0 {
			t.Fatalf("seed %d: %v\n%s", seed+uint64(n), c.Errors, code.String())
		}
		q, err := newUnit(p.engine, c, check.BuildOptions{}).emit(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		emitted := strings.Replace(strings.ReplaceAll(q.declText, rtPath, "program/rt"), "package main", "package emitted", 1)
		if c := strings.Count(emitted, "else { stop__ := "); c < funcs/10 {
			t.Errorf("seed %d: only %d loops are written twice", seed+uint64(n), c)
		}
		dir := t.TempDir()
		for name, text := range map[string]string{
			"go.mod": "module program\ngo 1.26\n", "rt/rt.go": loopRT, "emitted/emitted.go": emitted, "user.go": "package main\n" + loopTypes + code.String(),
			"main.go": strings.Replace(strings.Replace(loopMain, "MOST", fmt.Sprint(mostTurns), 1), "CALLS", calls.String(), 1),
		} {
			os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755)
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("go", "run", ".")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil || out.String() != "same\n" {
			t.Fatalf("-loop-seed %d: %v\n%s\n%s\n%s", seed+uint64(n), err, out.String(), code.String(), emitted)
		}
	}
}

const loopRT = `package rt
var Stopping uint32 = 1
var StopFlag = &Stopping
var Looked bool
func Halt() { Looked = true }
`

const loopTypes = `import "math"
type box struct { f int; next *box }
type num int32
func (b *box) grow() { b.f++ }
func (b box) get() int { return b.f }
func (b *box) list() []int { return []int{b.f, 2, 3} }
func plus(a, b int64) int64 { _ = math.Pi; return a*31 + b }
`

const loopMain = `package main
import ("fmt"; "program/emitted"; "program/rt")
func run(f func() (int, int64)) (turns int, h int64, end any) {
	defer func() { end = fmt.Sprint(recover()) }()
	turns, h = f()
	return
}
func same(n int, user, cell func() (int, int64)) {
	t1, h1, e1 := run(user)
	rt.Looked = false
	t2, h2, e2 := run(cell)
	if t1 != t2 || h1 != h2 || e1 != e2 { fmt.Println("f", n, "is not the same:", t1, h1, e1, "; as a cell:", t2, h2, e2) }
	if t2 >= MOST && !rt.Looked { fmt.Println("f", n, "makes", t2, "turns without a look") }
}
func main() {
CALLS
fmt.Println("same")
}
`

// loopWriter writes functions with a loop.
type loopWriter struct{ *rand.Rand }

func (g *loopWriter) pick(l ...string) string { return l[g.IntN(len(l))] }

// value is an expression for a number of type t: a small one, or one at an end of the type.
func (g *loopWriter) value(t string) string {
	ends := map[string][]string{
		"int": {"math.MaxInt", "math.MaxInt - 3", "math.MinInt", "math.MinInt + 4", "1 << 40", "-1 << 40", "1 << 30", "-1 << 30 - 2", "1 << 24"}, "int64": {"math.MaxInt64 - 1", "math.MinInt64 + 1", "1 << 30"},
		"uint": {"math.MaxUint - 2", "1 << 63", "1 << 30 - 1"}, "uint32": {"math.MaxUint32", "math.MaxUint32 - 4", "1 << 31", "1 << 30"}, "uint64": {"math.MaxUint64 - 1"},
		"int32": {"math.MaxInt32", "math.MaxInt32 - 2", "math.MinInt32", "math.MinInt32 + 2", "1 << 30", "1 << 29"}, "num": {"math.MaxInt32 - 1", "math.MinInt32"},
		"int8": {"127", "-128", "100"}, "uint8": {"255", "250"}, "int16": {"32767", "-32768"},
	}[t]
	small := []string{"0", "1", "2", "3", "7", "20", "100"}
	if !strings.HasPrefix(t, "u") {
		small = append(small, "-1", "-2", "-20")
	}
	if g.IntN(3) == 0 {
		return g.pick(ends...)
	}
	return g.pick(small...)
}

func (g *loopWriter) function() string {
	t := g.pick("int", "int", "int", "int", "int64", "uint", "uint32", "uint64", "int32", "num", "int8", "uint8", "int16")
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("var n, s %s = %s, %s; _, _ = n, s", t, g.value(t), g.pick("1", "2", "3", g.value(t)))
	line("x := make([]int, %s); for k := range x { x[k] = k * 7 %% 11 }", g.pick("0", "5", "64"))
	line("y := []%s{n, s, 3}; v := box{f: %s}; q := &box{f: 9, next: &v}; p := %s; _, _, _, _ = y, v, q, p", t, g.value("int"), g.pick("&n", "&n", "&s", "new("+t+")", "&y[0]"))
	line("str := \"añb\\xff%s\"; arr := [4]int{3, 1, 2}; e := make([]struct{}, %s); _, _, _ = str, arr, e", strings.Repeat("q", g.IntN(9)), g.pick("3", "1 << 50"))
	body := g.body(t)
	switch g.IntN(4) {
	case 0:
		head := g.rangeHead()
		if strings.HasPrefix(head, "for i, c") {
			head += " {\n_ = c"
		} else {
			head += " {"
		}
		line("%s", head)
		line("%s}", strings.ReplaceAll(strings.ReplaceAll(body, "i++", "h++"), "i--", "h--"))
	default:
		line("%s {\n%s}", g.forHead(t), body)
	}
	line("h = h*31 + int64(n) + int64(s) + int64(len(x)) + int64(v.f) + int64(q.f) + int64(y[0]) + int64(*p)")
	return b.String()
}

func (g *loopWriter) rangeHead() string {
	return "for " + g.pick("i", "i", "i, c") + " := range " + g.pick("x", "str", "arr", "x[:len(x)/2]", "append(x, 1, 2)", "&arr", "e", "[]byte(str)", "[3]int{1, 2}", "q.next.list()")
}

// forHead is the head of a for statement, or of a range over an integer, whose counter is i.
func (g *loopWriter) forHead(t string) string {
	to := g.pick("n", "n", "n", g.value(t), t+"(len(x))", "n - 1", "n / 2", "y[0]", "*p", t+"(v.f)", t+"(q.f)", t+"(q.next.f)", t+"(arr[1]) * s", t+"(len(y))")
	if g.IntN(3) == 0 {
		to = "n"
	}
	if g.IntN(8) == 0 {
		return "for i := range " + g.pick("n", "s", "n-s", "y[0]", "*p")
	}
	cond := "i " + g.pick("<", "<", "<", "<", "<=", "<=", ">", ">=", "!=") + " " + to
	if g.IntN(6) == 0 {
		cond = to + g.pick(" > ", " >= ", " < ", " <= ", " != ") + "i"
	}
	switch g.IntN(6) {
	case 0:
		cond += " && h%13 != 5"
	case 1:
		cond += " && (h%11 != 2 || i == 3)"
	}
	post := g.pick("i++", "i++", "i++", "i++", "i++", "i++", "i++", "i--", "i--", "i--", "i += 2", "i -= 3", "i += s", "i += s", "i -= s", "i *= 2", "i += 100", "i, s = i+1, s+1", "s, i = s, i-2", "i, n = i+1, n-1")
	from := g.pick("0", "0", "1", "n", "s * 2", g.value(t))
	if g.IntN(8) == 0 {
		return fmt.Sprintf("for i, j := %s(%s), %s(%s); i < j; i, j = i+1, j-%s", t, from, t, to, g.pick("1", "1", "2"))
	}
	if g.IntN(10) == 0 {
		return fmt.Sprintf("for i, _ := %s(%s), 5; %s; %s", t, from, cond, post)
	}
	return fmt.Sprintf("for i := %s(%s); %s; %s", t, from, cond, post)
}

func (g *loopWriter) body(t string) string {
	var b strings.Builder
	// Every loop ends some time. The look of a longer body would not tell.
	fmt.Fprintf(&b, "turns++\nif turns > %d { break }\nh = h*31 + int64(i)\n", mostTurns)
	for range g.IntN(3) {
		if g.IntN(2) == 0 { // what may move the limit
			b.WriteString(g.pick("n++", "n++", "n--", "s++", "*p = *p + 1", "*p = *p + 1", "*p = *p + 1", "i--", "y[0]++", "y = append(y, n)", "v.f++", "q.f++", "q.grow()", "v.grow()",
				"q.next.grow()", "v = box{f: v.f + 1}", "*q = box{f: q.f + 1}", "q.next.f++") + "\n")
			continue
		}
		b.WriteString(g.pick(
			"h += int64(v.get())",
			"h = plus(h, 3)", "if h%3 == 0 { continue }", "if h%5 == 0 { i++ }", "if h%7 == 0 { i-- }", "if h%97 == 0 { break }", "if h%193 == 0 { return }",
			"switch h % 4 { case 0: continue; case 1: h++; default: h-- }", "for k := 0; k < 4; k++ { if k == 2 { continue }; h += int64(k) }",
			"for k := range 3 { h ^= int64(k) }", "if len(x) > 0 { x[uint(h)%uint(len(x))]++ }", "x = append(x[:0:0], 1)", "h += int64(x[uint64(i)%64])", "v = box{f: 3}", "*q = box{f: v.f}",
			"arr[1]++", "{ i := i; i++; h += int64(i) }", "func() { n++ }()", "h += int64(math.Sqrt(float64(h & 255)))", "n, s = s, n", "_ = &i", "if h%2 == 0 { var z [3]int; z[1] = 4; h += int64(z[1]) }",
		) + "\n")
	}
	return b.String()
}
