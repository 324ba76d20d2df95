package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval/check"
	"github.com/gander-go/gander/kernel/eval/mods"
)

func (p *process) must(code string) *reply {
	p.t.Helper()
	r, c, err := p.run(code)
	if err != nil {
		p.t.Fatalf("%v\n%s\n%s", err, code, p.emitted(c))
	}
	return r
}

// TestInterrupt stops code that would run for ever, and only that of the interrupted run.
func TestInterrupt(t *testing.T) {
	p := start(t)
	p.must(`import "sync/atomic"
var bg atomic.Int64
stop := make(chan bool)
go func() { for { select { case <-stop: return; default: bg.Add(1) } } }()
n := 0
func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }
type node struct{ next *node }
func (n *node) last() *node { for n.next != nil { n = n.next }; return n }
func jump() { i := 0
again: i++
	goto again }`)
	for _, code := range []string{
		"for { n++ }",
		"for i := 0; i >= 0; i = (i + 1) % 1000 { n++ }",
		"for i := range 1 << 62 { n = i }",
		"fib(90)",
		"ring := &node{}; ring.next = ring; ring.last()",
		"func() { for { } }()",
		"jump()",
		"var f func(); f = func() { n++; if n%100 == 99 { return }; f() }; for { f() }",
		"for range func(yield func() bool) { for yield() { } } { n++ }",
	} {
		r, c, err := p.runWith(code, check.BuildOptions{}, request{Interrupt: 150 * time.Millisecond})
		if r == nil || !r.Interrupted {
			t.Fatalf("%s: %v, not interrupted\n%s", code, err, p.emitted(c))
		}
	}
	r := p.must("import \"time\"\na := bg.Load(); for d := time.Now(); bg.Load() == a && time.Since(d) < 10*time.Second; { time.Sleep(time.Millisecond) }; bg.Load() > a && n > 0")
	if r.Shown[0] != "true" {
		t.Error("the goroutine of an earlier cell stopped with an interrupted one, or the variables were lost")
	}
	p.must("close(stop)")
}

// TestPositions finds the line of the user's code in the stack of a panic.
func TestPositions(t *testing.T) {
	p := start(t)
	p.must("type T struct {\n\tA int\n\tb string\n}\n\nfunc idx(s []int, i int) int {\n\tx := 1 +\n\t\ts[i]\n\treturn x\n}")
	r, _, err := p.run("x := T{\n\tA: 1,\n\n\tb: \"s\",\n}\nx.A++\nidx([]int{1}, 5)")
	if err == nil {
		t.Fatal("no panic")
	}
	stack := p.engine.Translate(r.Stack)
	for _, want := range []string{"In[1]:8", "In[2]:7"} {
		if !strings.Contains(stack, want) {
			t.Errorf("no frame at %s in\n%s", want, stack)
		}
	}
	if !strings.Contains(PlainName("gander/d0123.G__idx(...)"), "idx(...)") || PlainName("gander/d0123.(*G__T).G__m") != "(*T).m" {
		t.Error("names of functions are not the user's", PlainName("gander/d0123.(*G__T).G__m"))
	}
	// The same text in another cell: the frame says the later number.
	r, _, err = p.run("x := T{\n\tA: 1,\n\n\tb: \"s\",\n}\nx.A++\nidx([]int{1}, 5)")
	if err == nil || !strings.Contains(p.engine.Translate(r.Stack), "In[3]:7 ") {
		t.Errorf("no frame at In[3]:7 in\n%s", p.engine.Translate(r.Stack))
	}
}

// TestCacheAcrossSessions runs a cell that another session built, with tools that cannot build.
func TestCacheAcrossSessions(t *testing.T) {
	dir := t.TempDir()
	cells := []string{"import \"fmt\"\ntype T struct{ a int }\nfunc (t T) String() string { return fmt.Sprint(\"T\", t.a) }\nv := T{1}", "v.a++\nv"}
	p := startCached(t, dir)
	for _, c := range cells {
		p.must(c)
	}
	q := startCached(t, dir)
	q.engine.tools.toolDir = "/nowhere"
	q.n = 5 // the numbers of cells do not matter
	for i, c := range cells {
		r := q.must(c)
		if i == 1 && r.Shown[0] != "T2" {
			t.Errorf("shown %q", r.Shown)
		}
	}
}

// TestCacheWithGaps builds again what the cache has dropped, file by file: it must fit what is still there.
func TestCacheWithGaps(t *testing.T) {
	dir := t.TempDir()
	cells := []string{"type T struct{ A int }\ntype I interface{ Dbl() int }\nt := T{3}", "func (t T) Dbl() int { return t.A * 2 }\nfunc g[P any](p P) P { return p }",
		"var i I = t\nf := func() int { return g(i).Dbl() }", "f()"}
	play := func() {
		t.Helper()
		p := startCached(t, dir)
		for i, c := range cells {
			if r := p.must(c); i == 3 && r.Shown[0] != "6" {
				t.Errorf("shown %q", r.Shown)
			}
		}
		p.stop()
	}
	play()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 2*len(cells) {
		t.Fatalf("%d files in the cache, %v", len(files), err)
	}
	for _, f := range files {
		if filepath.Ext(f) == sumExt {
			continue
		}
		os.Remove(f)
		os.Remove(f + sumExt)
		play()
	}
}

// TestCacheUnusable builds where the cache can be neither read nor written.
func TestCacheUnusable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, "/proc/no/such"} {
		if r := startCached(t, dir).must("func f() int { return 5 }\nf()"); r.Shown[0] != "5" {
			t.Errorf("%s: shown %q", dir, r.Shown)
		}
	}
}

// TestCacheBound keeps the cache within its size, dropping what was not used for longest.
func TestCacheBound(t *testing.T) {
	c := openCache(t.TempDir(), 1000, discard)
	src := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(src, make([]byte, 100), 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		one := filepath.Join(t.TempDir(), "g")
		if err := copyFile(src, one); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(time.Duration(i-100) * time.Hour)
		os.Chtimes(one, old, old)
		c.store(string(rune('a'+i))+".so", one)
		if i > 0 && !c.fetch("a.so", filepath.Join(t.TempDir(), "h")) {
			t.Fatalf("after %d files: the file that is used all the time was dropped", i)
		}
	}
	entries, _ := filepath.Glob(filepath.Join(c.dir, "*.so"))
	if len(entries) > 10 || len(entries) < 5 {
		t.Errorf("%d files of 100 bytes in a cache of 1000", len(entries))
	}
	if c.fetch("b.so", filepath.Join(t.TempDir(), "h")) {
		t.Error("the oldest file is still there")
	}
}

// TestConcurrentEngines builds the same cells in several sessions at once, over one cache.
func TestConcurrentEngines(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 3 {
		p := startCached(t, dir)
		wg.Go(func() {
			for _, code := range []string{"func f(n int) int { return n + 1 }\nx := f(1)", "x = f(x)\nx"} {
				r, _, err := p.run(code)
				if err != nil {
					t.Error(err)
				} else if len(r.Shown) > 0 && r.Shown[0] != "3" {
					t.Errorf("shown %q", r.Shown)
				}
			}
		})
	}
	wg.Wait()
}

// TestCancelBuild gives up a build when it is interrupted, and builds the cell when it is run again.
func TestCancelBuild(t *testing.T) {
	p := start(t)
	p.must("x := 1")
	ctx, cancel := context.WithCancel(context.Background())
	c := p.check.Check(2, "func g() int { return x }\ng()")
	time.AfterFunc(5*time.Millisecond, cancel)
	if _, _, err := p.engine.Build(ctx, c, check.BuildOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if r := p.must("func g() int { return x }\ng()"); r.Shown[0] != "1" {
		t.Errorf("shown %q", r.Shown)
	}
}

// TestShow shows every kind of trailing expression.
func TestShow(t *testing.T) {
	p := start(t)
	p.must("import (\"fmt\"; \"strconv\")\nfunc two() (int, string) { return 1, \"a\" }\nfunc none() {}\nvar e error")
	for code, want := range map[string][]string{
		"1 + 2": {"3"}, "two()": {"1", "a"}, "nil": {"<nil>"}, "none()": nil, "x := 5": nil, "e": {"<nil>"}, "strconv.Itoa(7)": {"7"},
		"'a'": {"97"}, "[]int{1, 2}": {"[1 2]"}, "func() int { return 3 }()": {"3"}, "two": nil, "len(\"abc\")": {"3"}, "&struct{ a int }{1}": {"&{1}"},
		"m := map[string]int{}; m[\"a\"]": {"0"},
	} {
		if r := p.must(code); code != "two" && !slices.Equal(r.Shown, want) {
			t.Errorf("%s shows %q, want %q", code, r.Shown, want)
		}
	}
}

// TestSpans records the calls of an instrumented cell, with their arguments, in the order of the calls.
func TestSpans(t *testing.T) {
	p := start(t)
	code := `import ("bytes"; "fmt"; "strings"; "sync"; "sort")
type acc struct{ n int }
func (a *acc) add(k ...int) int { for _, x := range k { a.n += x }; return a.n }
func (a acc) get() int { return a.n }
func pair() (string, string) { return "a", "b" }
func id[T any](x T) T { return x }
a := acc{}
s := strings.Join([]string{strings.ToUpper("x"), "y"}, "-")
a.add(1, a.get())
a.add([]int{2, 3}...)
c := strings.Compare(pair())
v := id("q") + id[string]("r")
var mu sync.Mutex
func locked() { mu.Lock(); defer mu.Unlock() }
locked()
var b bytes.Buffer
fmt.Fprintf(&b, "%d %s", 1, "z")
f := func() (r any) { defer func() { r = recover() }(); panic(1) }
done := make(chan bool)
go func() { done <- strings.HasPrefix("ab", "a") }()
ok := <-done
sort.Slice([]int{2, 1}, func(i, j int) bool { return i < j })
res := fmt.Sprint(s, a.n, c, v, b.String(), f(), ok)
res`
	r, c, err := p.runWith(code, check.BuildOptions{Instrument: true}, request{Spans: true})
	if err != nil {
		t.Fatal(err, p.emitted(c))
	}
	if want := "X-y6 -1qr1 z1 true"; r.Shown[0] != want {
		t.Errorf("shown %q, want %q", r.Shown[0], want)
	}
	got := strings.Join(r.Spans, "\n")
	for _, want := range []string{
		"strings.ToUpper[x]\nend strings.ToUpper\nstrings.Join[[X y] -]\nend strings.Join",
		"acc.get[]\nend acc.get\n(*acc).add[[1 0]]\nend (*acc).add",
		"(*acc).add[[2 3]]\nend (*acc).add",
		"pair[]\nend pair\nstrings.Compare[a b]\nend strings.Compare",
		"id[q]\nend id\nid[r]\nend id",
		"locked[]\nsync.(*Mutex).Lock[]\nend sync.(*Mutex).Lock\nsync.(*Mutex).Unlock[]\nend sync.(*Mutex).Unlock\nend locked",
		"strings.HasPrefix[ab a]\nend strings.HasPrefix",
		"bytes.(*Buffer).String[]\nend bytes.(*Buffer).String",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no spans\n%s\nin\n%s", want, got)
		}
	}
	// Only the calls of the statements.
	r, _, err = p.runWith("locked()", check.BuildOptions{Instrument: true, Top: true}, request{Spans: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Spans) == 0 || r.Spans[0] != "locked[]" {
		t.Errorf("spans %q", r.Spans)
	}
}

// TestReset starts over in a new process.
func TestReset(t *testing.T) {
	p := start(t)
	p.must("type T struct{ n int }\nfunc f() int { return 1 }\nx := T{f()}")
	p.stop()
	p.engine.Reset()
	p.check.Reset()
	p.launch()
	p.n = 0
	if _, _, err := p.run("f()"); err == nil {
		t.Error("a function survived the reset")
	}
	if r := p.must("type T struct{ n int }\nfunc f() int { return 1 }\nx := T{f()}\nx.n"); r.Shown[0] != "1" {
		t.Errorf("shown %q", r.Shown)
	}
}

// TestModules uses a module of many packages, a local package with generics and unexported state, and one with cgo.
func TestModules(t *testing.T) {
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	book := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":             "module example.org/book\n\ngo 1.26\n\nrequire gonum.org/v1/gonum v0.17.0\n",
		"local/local.go":     "// Package local is imported by a cell.\npackage local\n\nvar count int\n\n// Count counts.\nfunc Count() int { count++; return count }\n\n// Pair is generic.\ntype Pair[T any] struct{ A, b T }\n\n// Of makes one.\nfunc Of[T any](a, b T) Pair[T] { return Pair[T]{a, b} }\n\n// B gives b.\nfunc (p Pair[T]) B() T { return p.b }\n",
		"withcgo/withcgo.go": "// Package withcgo calls C.\npackage withcgo\n\n/*\n#cgo LDFLAGS: -lm\n#include <math.h>\nstatic int twice(int x) { return 2 * x; }\n*/\nimport \"C\"\n\n// Twice doubles.\nfunc Twice(n int) int { return int(C.twice(C.int(n))) }\n\n// Cos is libm's.\nfunc Cos(x float64) float64 { return float64(C.cos(C.double(x))) }\n",
	} {
		f := filepath.Join(book, name)
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sums, err := os.ReadFile(filepath.Join(s.ws.Dir, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(book, "go.sum"), sums, 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := mods.New(context.Background(), mods.Config{Go: s.ws.Go, Dir: filepath.Join(t.TempDir(), "session"), Notebook: book, Env: s.ws.Env})
	if err != nil {
		t.Fatal(err)
	}
	p := startWith(t, Options{Workspace: s.ws, CacheDir: t.TempDir(), Dir: m.Dir()}, check.New(m))
	r := p.must("import (\"example.org/book/local\"; \"example.org/book/withcgo\")\npr := local.Of(\"x\", \"y\")\nlocal.Count()\n[]any{pr.B(), withcgo.Twice(21), withcgo.Cos(0)}")
	if r.Shown[0] != "[y 42 1]" {
		t.Errorf("shown %q", r.Shown)
	}
	if r := p.must("local.Count()"); r.Shown[0] != "2" { // the package's state is one
		t.Errorf("shown %q", r.Shown)
	}
	r = p.must("import \"gonum.org/v1/gonum/mat\"\na := mat.NewDense(2, 2, []float64{1, 2, 3, 4})\nvar c mat.Dense\nc.Mul(a, a)\nc.At(1, 1)")
	if r.Shown[0] != "22" {
		t.Errorf("shown %q", r.Shown)
	}
	p.must("func count() int { return local.Count() }\nold := local.Of(1, 2)\ntype keeps struct{ local.Pair[int] }")
	local := filepath.Join(book, "local", "local.go")
	b, err := os.ReadFile(local)
	if err != nil {
		t.Fatal(err)
	}
	b = []byte(strings.Replace(string(b), "count++", "count += 10", 1) + "\n// Added is new.\nfunc Added() string { return \"added\" }\n")
	if err := os.WriteFile(local, b, 0o644); err != nil {
		t.Fatal(err)
	}
	os.Chtimes(local, time.Now().Add(time.Hour), time.Now().Add(time.Hour))
	changed := m.Changed()
	if !slices.Contains(changed, "example.org/book/local") || p.engine.Reload(changed) != nil {
		t.Fatalf("changed packages %q are not reloaded", changed)
	}
	m.Adopt()
	if r := p.must("[]any{local.Added(), local.Count(), count(), local.Of(3, 4).B()}"); r.Shown[0] != "[added 10 3 4]" {
		t.Errorf("shown %q", r.Shown)
	}
	if r := p.must("type wrap struct{ *mat.Dense }\nw := wrap{&c}\nmat.Sum(w)"); r.Shown[0] != "54" {
		t.Errorf("shown %q", r.Shown)
	}
}

// TestCompilerComplaint says where in the cell the compiler found what the checker let pass.
func TestCompilerComplaint(t *testing.T) {
	p := start(t)
	c := p.check.Check(1, "x := 1\n\nx++")
	p.engine.remember(1, c.Code)
	tag := tag(c.Code)
	err := p.engine.explain(c, &toolError{tool: "compile", output: tag + ":3: no such thing\n" + tag + ":3:7: another\nnoise", err: errors.New("exit status 2")})
	var ue *cell.UserError
	if !errors.As(err, &ue) || len(ue.Diags) != 2 {
		t.Fatalf("error %v", err)
	}
	if d := ue.Diags[0]; d.Cell != 1 || d.Line != 3 || d.Message != "no such thing" {
		t.Errorf("diagnostic %+v", d)
	}
}

// TestLeftovers removes what an engine left behind whose process was killed, and nothing else.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Skip(err)
	}
	left := filepath.Join(dir, fmt.Sprintf("%s%d-1", workPrefix, gone.Process.Pid))
	mine := filepath.Join(dir, fmt.Sprintf("%s%d-1", workPrefix, os.Getpid()))
	other := filepath.Join(dir, workPrefix+"x-1")
	for _, d := range []string{left, mine, other} {
		if err := os.MkdirAll(filepath.Join(d, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	removeLeftovers(dir)
	for d, want := range map[string]bool{left: false, mine: true, other: true} {
		if _, err := os.Stat(d); (err == nil) != want {
			t.Errorf("%s is there: %v", d, err == nil)
		}
	}
}

// TestProbes records the calls that functions of earlier cells make, without changing what these are.
func TestProbes(t *testing.T) {
	p := start(t)
	p.must(`type shape interface{ area() float64 }
type square struct{ a float64 }
func (s square) area() float64 { return side(s.a) * s.a }
type circle struct{ r float64 }
func (c *circle) area() float64 { return side(c.r) }
func (c *circle) grow(
	f float64, _ int) (r *circle, err error) { c.r *= side(f); return c, nil }
func side(x float64) float64 { count++; return x }
var count int
func sum(l ...shape) (s float64) { for _, x := range l { s += x.area() }; return }
func apply[T any](l []T, f func(T) T) (out []T) { for _, x := range l { out = append(out, f(x)) }; return }
func safe() (r any) { defer func() { r = recover() }(); fail(); return }
func fail() { panic("no") }
func even(n int) bool { return n == 0 || odd(n-1) }
func odd(n int) bool { return n != 0 && even(n-1) }
func leave(done chan bool) { side(1); done <- true }`)
	p.must("c := &circle{2}\nkeep := side")
	const code = `c.grow(2, 0)
total := sum(square{2}, c)
list := apply([]float64{1, 2}, side)
odder := even(3)
done := make(chan bool)
go leave(done)
<-done
fmt.Sprint(total, list, safe(), odder, count)`
	for range 2 { // the second time with the module that is loaded
		r, c, err := p.runWith(code, check.BuildOptions{Instrument: true}, request{Spans: true})
		if err != nil {
			t.Fatal(err, p.emitted(c))
		}
		got := strings.Join(r.Spans, "\n")
		for _, want := range []string{
			"(*circle).grow[2 0]\nside[2]\nend side\nend (*circle).grow",
			"shape.area[]\nside[2]\nend side\nend shape.area\nshape.area[]\nside[",
			"fail[]\nend fail",
			"even[3]\nodd[2]\neven[1]\nodd[0]\nend odd\nend even\nend odd\nend even",
			"leave[]\nside[1]\nend side",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("no spans\n%s\nin\n%s", want, got)
			}
		}
	}
	if n := len(p.engine.probes); n != 1 {
		t.Errorf("%d modules of probes for one cell that ran twice", n)
	}
	if r := p.must("fmt.Sprint(count, c.r)"); r.Shown[0] != "12 8" {
		t.Errorf("variables are %q", r.Shown[0])
	}
	// What a cell without spans calls is what the session has.
	r, _, err := p.runWith("sum(square{1})", check.BuildOptions{}, request{Spans: true})
	if err != nil || len(r.Spans) != 0 {
		t.Errorf("spans %q, %v", r.Spans, err)
	}
	// A function that is defined again has another probe.
	p.must("func side(x float64) float64 { return other(x) }\nfunc other(x float64) float64 { return -x }")
	r, c, err := p.runWith("sum(square{3})", check.BuildOptions{Instrument: true}, request{Spans: true})
	if err != nil {
		t.Fatal(err, p.emitted(c))
	}
	if got := strings.Join(r.Spans, "\n"); r.Shown[0] != "-9" || !strings.Contains(got, "side[3]\nother[3]") {
		t.Errorf("shown %q, spans\n%s", r.Shown[0], got)
	}
}
