package native

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/kernel/eval/check"
)

// TestPaces says of loops whether they look at the flag: never, in every turn, in every turn of the second of two twins, or the latter of an
// inner loop.
func TestPaces(t *testing.T) {
	const never, twins, always, both = "never", "twins", "always", "always, and twins"
	p := start(t)
	head := `import ("math"; "strings")
type small int8
type cnt int
func (c *cnt) inc() { *c++ }
type box struct { n int; d []float64; next *box }
func (b *box) grow() { b.n++ }
func (b box) half() int { return b.n / 2 }
func short(a int) int { if a > 3 { return a - 1 }; return a * 2 }
func deep(a int) int { return short(short(a)) }
func walks(a []int) int { t := 0; for _, x := range a { t += x }; return t }
var g = 5
func f[T any, N int | float64](n, m int, u uint, k int32, x []int, y []float64, z [][]float64, s string, q *box, e []struct{}, tx []T, nx []N, w map[int]int, a [8]int, fn func()) {
	var b strings.Builder; v := box{}; h := 0; c := cnt(0); sh := n; ps := &sh
`
	for _, l := range []struct{ loop, want string }{
		// The number of turns is a constant.
		{"for i := 0; i < 100; i++ { h += i }", never},
		{"for i := 10; i >= 0; i-- { h += i }", never},
		{"for i := uint8(0); i < 255; i++ { h++ }", never},
		{"for i := uint8(0); i <= 255; i++ { h++ }", always},
		{"for i := uint(9); i >= 0; i-- { h++ }", always},
		{"for i := int8(100); i < 127; i += 2 { h++ }", always},
		{"for i := 0; i < 1<<29; i++ { h += i }", always},
		{"for i := 0; i < 100; i++ { for j := 0; j < 10; j++ { h += i * j } }", never},
		{"for i := 0; i < 100; i++ { i -= 1 }", always},
		{"for i := 0; i < 100; i++ { h += short(i) + deep(i) }", never},
		{"for i := cnt(0); i < 100; i++ { i.inc() }", always},
		{"for i := range 100 { h += i }", never},
		{"for range a { h++ }", never},
		{"for i := range small(n) { h += int(i) }", never},
		// It is known before the loop.
		{"for i := 0; i < n; i++ { h += i }", twins},
		{"for i := range n { h += i }", twins},
		{"for range n { h++ }", twins},
		{"for i := n; i > 0; i-- { h += i }", twins},
		{"for i := n; i >= 0; i -= 2 { h += i }", twins},
		{"for i := m; i < n-1; i += 3 { h += i }", twins},
		{"for i := m; n/2 > i; i++ { h += i }", twins},
		{"for i := 0; i != n; i++ { h += i }", twins},
		{"for i := 0; i != n; i += 2 { h += i }", always},
		{"for i := u; i > 0; i-- { h++ }", twins},
		{"for i := u; i >= 3; i-- { h++ }", always},
		{"for i := k; i < 1<<20; i++ { h++ }", twins},
		{"for i := 0; i < len(x); i++ { h += x[i] }", twins},
		{"for i := 0; i < len(x) && x[i] < 9; i++ { h += x[i] }", twins},
		{"for i := 0; i < n || i < m; i++ { h += i }", always},
		{"for i, j := 0, len(x)-1; i < j; i, j = i+1, j-1 { x[i], x[j] = x[j], x[i] }", twins},
		{"for i, j := 0, n; i < j; i, j = i+1, j+1 { h++ }", always},
		{"for j := m * 2; j <= n; j += m { y[j] = 1 }", twins},
		{"for j := m * 2; j <= n; j += m { m = 0 }", always},
		{"for j := 1; j <= n; j *= 2 { h++ }", always},
		{"for j := n; j > 1; j -= m { h++ }", twins},
		{"for i := 0; i < n; i++ { h += short(i) + int(math.Sqrt(float64(i))) }", twins},
		{"for i := 0; i < n; i++ { b.WriteString(\"ab\"); b.WriteByte('c') }", twins},
		{"for i := 0; i < n; i++ { b.WriteString(s) }", always},
		{"for i := 0; i < n; i++ { x = append(x, i) }", twins},
		{"for i := 0; i < len(x); i++ { x = append(x, i) }", always},
		{"for i := range x { x = append(x, i) }", twins},
		{"for i, v := range x { h += i * v }", twins},
		{"for i, v := range z[m] { z[m][i] = v * 2 }", twins},
		{"for j := 0; j < len(z[m]); j++ { z[m][j]++ }", twins},
		{"for j := 0; j < len(z[m]); j++ { z[m] = y }", always},
		{"for range e { h++ }", twins},
		{"for range tx { h++ }", twins},
		{"for _, v := range nx { v += v; h += int(v) }", twins},
		{"for i, r := range s { h += i + int(r) }", twins},
		{"for i := range 1 << 40 { h += i }", always},
		{"for i, c := range []byte(s) { h += i + int(c) }", always},
		{"for i := 0; i < q.n; i++ { q.d[i] = 2 }", twins},
		{"for i := 0; i < q.n; i++ { q.n++ }", always},
		{"for i := 0; i < q.n; i++ { x[i]++ }", always}, // x may hold q.n
		{"for i := 0; i < q.n; i++ { q.grow() }", always},
		{"for i := 0; i < v.n; i++ { v.grow() }", always},
		{"for i := 0; i < n; i++ { v.grow() }", twins},
		{"for i := 0; i < v.n; i++ { h += v.half() }", always}, // what a method may do is not looked at
		{"for i := 0; i < v.n; i++ { v.n++ }", always},
		{"for i := 0; i < sh; i++ { h++ }", twins},
		{"for i := 0; i < sh; i++ { *ps = *ps + 1 }", always},
		{"for i := 0; i < sh; i++ { x[i] = 2 }", always}, // x might hold sh
		{"for i := 0; i < n; i++ { x[i] = 2 }", twins},
		{"for i := 0; i < n; i++ { n++ }", always},
		{"for i := 0; i < n; i++ { n, h = h, n }", always},
		{"for i := 0; i < g; i++ { h++ }", twins},
		{"for i := 0; i < g; i++ { g++ }", always},
		{"for i := 0; i < g; i++ { h += short(h) }", always},
		{"for i := 0; i < n; i++ { if i == 3 { continue }; if h > 5 { break }; h++ }", twins},
		{"for i := c; i < 9; i++ { i.inc() }", always},
		// Something in the body may take long.
		{"for i := 0; i < n; i++ { h += walks(x) }", always},
		{"for i := 0; i < n; i++ { fn() }", always},
		{"for i := 0; i < n; i++ { s += \"a\" }", always},
		{"for i := 0; i < n; i++ { w[i]++ }", always},
		{"for i := 0; i < n; i++ { copy(x, x) }", always},
		{"for i := 0; i < n; i++ { for j := 0; j < n; j++ { h++ } }", both},
		{"for i := 0; i < n; i++ { again: h++; if h%7 > 0 { goto again } }", always},
		{"for i := 0; i < n; i++ { _ = func() int { return i } }", always},
		{"for i := 0; i < n; i++ { p := &i; *p = 0 }", always},
		{"for range w { h++ }", always},
		{"for h < n { h++ }", always},
		{"for { h++ }", always},
		{"for i := 0; ; i++ { h += i }", always},
		{"i := 0; for ; i < n; i++ { h++ }", always},
		{"label: for i := 0; i < n; i++ { if h > 3 { continue label } }", always},
		{"label: for range 9 { if h > 3 { break label } }", never},
		{"label: for range n { for range n { if h > 3 { continue label }; h++ } }", both},
		{"len := 3; for range n { h += len }", always},
		{"type uint64 string; for i := 0; i < n; i++ { h++ }", always},
	} {
		p.n++
		c := p.check.Check(p.n, head+l.loop+"\n_, _, _, _, _, _, _ = b, v, h, c, sh, ps, fn }")
		if len(c.Errors) > 0 {
			t.Fatalf("%s: %v", l.loop, c.Errors)
		}
		text := p.emitted(c)
		text = text[strings.Index(text, "func G__f["):]
		got := never
		switch looks, hoists := strings.Count(text, "if *stop__ != 0"), strings.Count(text, "else { stop__ := "); {
		case hoists == 1 && looks == 1:
			got = twins
		case hoists == 1:
			got = both
		case looks > 0:
			got = always
		}
		if got != l.want {
			t.Errorf("%s: the look is %s, want %s\n%s", l.loop, got, l.want, text)
		}
	}
}

// TestLookBeforeCalls counts the looks of functions that call themselves, and the calls that come without one.
func TestLookBeforeCalls(t *testing.T) {
	p := start(t)
	for _, f := range []struct{ code, want string }{
		{"func f(n int) int { if n < 2 { return n }; return f(n-1) + f(n-2) }", "{ if n < 2 { return n }; LOOK return"},
		{"func f(n int) int { if n > 1 { return f(n-1) + f(n-2) }; return n }", "if n > 1 { LOOK return"},
		{"func f(n int) { if n > 1 { f(n-1) } else if n < 0 { n++; f(n) } else { n-- } }", "{ if n > 1 { LOOK f"},
		{"func f(n int) { if n > 1 { f(n-1) } else if n < 0 { n++; f(n) } else { n-- } }", "n++; LOOK f"},
		{"func f(n int) { if n > 1 { f(n-1) }; f(n) }", "{ LOOK if n > 1"},
		{"func f(n int) int { if n > f(n-1) { return 1 }; return 2 }", "{ LOOK if n >"},
		{"func f(n int) int { defer f(n); return 2 }", "{ LOOK defer"},
		{"func f(n int) int { n++; for i := range 3 { n += i }; for range f2 { n++ }; return n }\nfunc f2(y func() bool) { f(1) }", "}; LOOK for range"},
		{"func f(n int) int { if n < 2 { return n }\n\treturn g(n) }\nfunc g(n int) int { return f(n) }", "\n\t LOOK return"},
	} {
		p.n++
		c := p.check.Check(p.n, f.code)
		if len(c.Errors) > 0 {
			t.Fatalf("%s: %v", f.code, c.Errors)
		}
		text := strings.ReplaceAll(p.emitted(c), " if rt__.Stopping != 0 { rt__.Halt() };", " LOOK ")
		text = strings.ReplaceAll(strings.ReplaceAll(text, "G__", ""), "  ", " ")
		if !strings.Contains(text, f.want) {
			t.Errorf("%s: no %q in\n%s", f.code, f.want, text)
		}
	}
}

// endless are pieces of code that never end, each of which would be left without a look by a rule that is a little less careful than ours.
var endless = []string{
	"for i := 0; i < 1<<62; i++ { h += i }",
	"n := 1 << 62; for i := 0; i < n; i++ { h += i }",
	"n := 1 << 62; for i := range n { h += i }",
	"n := 1 << 62; for range n { h++ }",
	"e := make([]struct{}, 1<<62); for range e { h++ }",
	"e := make([]struct{}, 1<<62); for i := 0; i < len(e); i++ { e[i] = struct{}{}; h++ }",
	"for i := uint8(0); i <= 255; i++ { h++ }",
	"for i := int8(0); int(i) < 1000; i++ { h++ }",
	"for i := uint(3); i >= 0; i-- { h++ }",
	"n := math.MaxInt; for i := n - 5; i <= n; i++ { h++ }",
	"n := math.MinInt; for i := n + 5; i >= n; i-- { h++ }",
	"n := int32(math.MaxInt32); for i := n - 5; i <= n; i++ { h++ }",
	"n := uint32(math.MaxUint32); for i := n - 5; i <= n; i++ { h++ }",
	"n := math.MaxInt - 1; for i := n - 7; i <= n; i += 3 { h++ }",
	"n := 10; s := 0; for i := 0; i < n; i += s { h++ }",
	"n := 10; s := -1; for i := 0; i < n; i += s { h++ }",
	"n := 10; s := 1; for i := 0; i < n; i += s { s = -s }",
	"n := 10; for i := 0; i < n; i++ { n++ }",
	"n := 10; p := &n; for i := 0; i < n; i++ { *p = *p + 1 }",
	"n := 10; for i := 0; i < n; i++ { func() { n++ }() }",
	"n := 10; for i := 0; i < n; i++ { i-- }",
	"n := 10; for i := 0; i < n; i++ { p := &i; *p = 0 }",
	"n := 10; for i := 0; i != n; i += 3 { h++ }",
	"x := []int{10}; for i := 0; i < x[0]; i++ { x[0]++ }",
	"x := []int{1}; y := [][]int{x}; for i := 0; i < len(y[0]); i++ { y[0] = append(x[:0:0], make([]int, i+9)...) }",
	"x := [1]int{9}; y := x[:]; for i := 0; i < x[0]; i++ { y[0]++ }",
	"b := &box{9}; for i := 0; i < b.n; i++ { b.n++ }",
	"b := &box{9}; for i := 0; i < b.n; i++ { b.grow() }",
	"b := box{9}; for i := 0; i < b.n; i++ { b.grow() }",
	"b := &box{9}; for i := 0; i < b.n; i++ { *b = box{i + 5} }",
	"var b box; b.n = 9; q := &b.n; for i := 0; i < b.n; i++ { *q = i + 5 }",
	"for i := cnt(0); i < 9; i++ { i.dec() }",
	"global = 9; for i := 0; i < global; i++ { global = i + 5 }",
	"global = 9; for i := 0; i < global; i++ { more() }",
	"for i, j := 0, 9; i < j; i, j = i+1, j+1 { h++ }",
	"for i := 0; i < 10; i++ { again: h++; if h >= 0 { goto again } }",
	"again: for i := 0; i < 10; i++ { if i == 9 { goto again } }",
	"again: for i := 0; i < 10; i++ { if i == 9 { i = -1; continue again } }",
	"for i := 0; i < 10; i++ { for { h++ } }",
	"for i := 0; i < 10; i++ { for h >= 0 { h = (h + 1) % 1000 } }",
	"for i := 1; i < 10; i *= 1 { h++ }",
	"for i := 0.0; i < 10; i += 1e-300 { h++ }",
	"for h < 1 || h > 0 { h++ }",
	"first(1)", "second(1)", "third(1)", "count(1)", "ping(1)", "visit(tree{})", "literal(1)",
	"for v := range feed { h += v }",
	"for range func(yield func(int) bool) { for yield(1) { } } { h++ }",
}

const endlessHead = `import ("math"; "time")
type box struct{ n int }
func (b *box) grow() { b.n++ }
type cnt int
func (c *cnt) dec() { *c-- }
global := 9
feed := make(chan int)
go func() { for { feed <- 1 } }() // of a run that nobody interrupts: the loop never waits in vain
func more() { global++ }
func first(n int) { for range 3 { if n < 0 { return } }; if n > 0 { first2(n); return }; n++ }
func first2(n int) { if n < 0 { return }; for { first(n); third(n) } }
func second(n int) int { if n < 0 { return 1 } else if n > 0 { n = second(n) + second(n) } else { return 2 }; return n }
func third(n int) { switch { case n > 0: third(n); third(n) }; third(n) }
func count(n int) int { if n <= 0 { return 0 }; a, b := count(n), 1; return a + b }
func ping(n int) { if n == 0 { return }; pong(n); pong(n) }
func pong(n int) { if n == 0 { return }; ping(n); time.Sleep(0) }
type visitor interface{ visit(v visitor) }
type tree struct{}
func (t tree) visit(v visitor) { h++; v.visit(v); v.visit(v) }
func visit(v visitor) { v.visit(v) }
func literal(n int) { var f func(n int); f = func(n int) { if n == 0 { return }; f(n); f(n) }; f(n) }
h := 0
_ = math.Pi
`

// TestInterruptEveryShape stops them all. The functions that never return use up their stack in a second or two, which would end the process:
// the interrupt must come first, and does so after some milliseconds.
func TestInterruptEveryShape(t *testing.T) {
	p := start(t)
	var b strings.Builder
	b.WriteString(endlessHead + "next := 0\nvar all = []func(){\n")
	for _, code := range endless {
		b.WriteString("func() {\n" + code + "\n},\n")
	}
	p.must(b.String() + "}")
	p.must("next = 0")
	const one = "next++\nall[next-1]()"
	p.n++
	if c := p.check.Check(p.n, one); len(c.Errors) == 0 { // built before the clock runs
		if _, _, err := p.engine.Build(context.Background(), c, check.BuildOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, code := range endless {
		dead := time.AfterFunc(20*time.Second, func() { p.cmd.Process.Kill() })
		r, _, err := p.runWith(one, check.BuildOptions{}, request{Interrupt: 30 * time.Millisecond})
		dead.Stop()
		if r == nil || !r.Interrupted {
			t.Fatalf("%s: %v, not interrupted", code, err)
		}
	}
}
