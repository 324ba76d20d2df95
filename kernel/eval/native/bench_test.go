package native

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// speeds are functions whose speed in a cell is compared with the same program built by `go build`. Each program defines func work() int,
// which takes some milliseconds.
var speeds = []struct {
	name, code string
	limit      float64 // times what go build's takes
}{
	{"fib", `func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }
func work() int { return fib(32) }`, 1.1},
	{"matmul", `func mul(a, b, c [][]float64) {
	n := len(a)
	for i := 0; i < n; i++ {
		for j := 0; j < n; j++ {
			s := 0.0
			for k := 0; k < n; k++ { s += a[i][k] * b[k][j] }
			c[i][j] = s
		}
	}
}
func square(n int) [][]float64 { m := make([][]float64, n); for i := range m { m[i] = make([]float64, n); for j := range m[i] { m[i][j] = float64(i+j) } }; return m }
func work() int { n := 200; a, b, c := square(n), square(n), square(n); mul(a, b, c); return int(c[3][4]) }`, 1.1},
	{"map", `import "strconv"
func work() int { m := map[string]int{}; for i := 0; i < 200000; i++ { m[strconv.Itoa(i%5000)] += i }; return len(m) }`, 1.1},
	{"string", `import "strings"
func work() int { var b strings.Builder; for i := 0; i < 1000000; i++ { b.WriteString("ab"); b.WriteByte('c') }; return strings.Count(b.String(), "bc") }`, 1.1},
	{"struct methods", `type vec struct{ x, y, z float64 }
func (v vec) add(w vec) vec { return vec{v.x + w.x, v.y + w.y, v.z + w.z} }
func (v *vec) scale(f float64) { v.x *= f; v.y *= f; v.z *= f }
func (v vec) dot(w vec) float64 { return v.x*w.x + v.y*w.y + v.z*w.z }
func work() int {
	a, s := vec{1, 2, 3}, 0.0
	for i := 0; i < 10000000; i++ { b := a.add(vec{float64(i), 1, 2}); b.scale(0.5); s += b.dot(a) }
	return int(s)
}`, 1.1},
	{"sieve", `func sieve(n int) int {
	c := make([]bool, n+1)
	k := 0
	for i := 2; i <= n; i++ {
		if !c[i] {
			k++
			for j := i * 2; j <= n; j += i { c[j] = true }
		}
	}
	return k
}
func work() int { return sieve(2000000) }`, 1.3},
	{"collatz", `func collatz(n int) int { k := 0; for n != 1 { if n%2 == 0 { n /= 2 } else { n = 3*n + 1 }; k++ }; return k }
func work() int { t := 0; for i := 1; i < 100000; i++ { t += collatz(i) }; return t }`, 1.3},
	{"life", `type grid struct { w, h int; cells []uint8 }
func (g *grid) at(x, y int) uint8 { return g.cells[(y+g.h)%g.h*g.w+(x+g.w)%g.w] }
func (g *grid) step(to *grid) {
	for y := 0; y < g.h; y++ {
		for x := 0; x < g.w; x++ {
			n := uint8(0)
			for dy := -1; dy <= 1; dy++ { for dx := -1; dx <= 1; dx++ { if dx != 0 || dy != 0 { n += g.at(x+dx, y+dy) } } }
			to.cells[y*g.w+x] = 0
			if n == 3 || n == 2 && g.at(x, y) == 1 { to.cells[y*g.w+x] = 1 }
		}
	}
}
func work() int { a, b := &grid{200, 200, make([]uint8, 40000)}, &grid{200, 200, make([]uint8, 40000)}; for i := range a.cells { a.cells[i] = uint8(i * i % 7 & 1) }
	for range 4 { a.step(b); a, b = b, a }; return int(a.cells[777]) }`, 1.1},
	{"insertion sort", `func work() int { x := make([]int, 5000); r := uint32(1); for i := range x { r = r*1664525 + 1013904223; x[i] = int(r >> 8) }
	for i := 1; i < len(x); i++ { for j := i; j > 0 && x[j-1] > x[j]; j-- { x[j-1], x[j] = x[j], x[j-1] } }; return x[17] }`, 1.1},
	{"tree", `type node struct { l, r *node; v int }
func (n *node) insert(v int) *node { if n == nil { return &node{v: v} }; if v < n.v { n.l = n.l.insert(v) } else { n.r = n.r.insert(v) }; return n }
func (n *node) sum() int { if n == nil { return 0 }; return n.l.sum() + n.v + n.r.sum() }
func work() int { var t *node; r := uint32(1); for range 20000 { r = r*1664525 + 1013904223; t = t.insert(int(r >> 8)) }; k := 0; for range 20 { k += t.sum() }; return k }`, 1.1},
	{"count", `func work() int { x := uint32(1); for i := 0; i < 30000000; i++ { x = x*1664525 + 1013904223 }; return int(x) }`, 1.3},
	{"sort", `import "sort"
func work() int { s := make([]int, 300000); x := uint32(1); for i := range s { x = x*1664525 + 1013904223; s[i] = int(x) }; sort.Slice(s, func(i, j int) bool { return s[i] < s[j] }); return s[0] }`, 1.1},
}

// best runs work several times and prints the shortest time in nanoseconds.
const best = `
func best() int64 {
	min := int64(1 << 62)
	for i := 0; i < 5; i++ {
		t := time.Now()
		sink = work()
		if d := int64(time.Since(t)); d < min { min = d }
	}
	return min
}
`

// BenchmarkSpeed compares compiled cells with go build; the metric "x" is their ratio.
func BenchmarkSpeed(b *testing.B) {
	for _, s := range speeds {
		b.Run(strings.ReplaceAll(s.name, " ", "-"), func(b *testing.B) {
			p := start(b)
			if _, c, err := p.run("import \"time\"\nvar sink int\n" + s.code + best); err != nil {
				b.Fatal(err, p.emitted(c))
			}
			program := builtProgram(b, "package main\nimport \"time\"\nimport \"fmt\"\n"+s.code+"\nvar sink int\n"+best+"func main() { fmt.Println(best()) }\n")
			cell, built := int64(1<<62), int64(1<<62)
			for range 10 { // in turn: what else the machine does hits both
				r, _, err := p.run("best()")
				if err != nil {
					b.Fatal(err)
				}
				cell = min(cell, number(b, r.Shown[0]))
				out, err := exec.Command(program).Output()
				if err != nil {
					b.Fatal(err)
				}
				built = min(built, number(b, strings.TrimSpace(string(out))))
			}
			b.ReportMetric(float64(cell)/float64(built), "x")
			b.ReportMetric(float64(built)/1e6, "go-build-ms")
			b.ReportMetric(0, "ns/op")
			if r := float64(cell) / float64(built); r > s.limit {
				b.Logf("%s takes %.2f times what go build's takes; the aim is %.2f", s.name, r, s.limit)
			}
		})
	}
}

func number(b *testing.B, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// builtProgram builds a program as a user would and returns its path.
func builtProgram(b *testing.B, code string) string {
	dir := b.TempDir()
	// Imports come first in a file.
	var imports, rest []string
	for _, l := range strings.Split(strings.TrimPrefix(code, "package main\n"), "\n") {
		if strings.HasPrefix(l, "import ") {
			imports = append(imports, l)
		} else {
			rest = append(rest, l)
		}
	}
	text := "package main\n" + strings.Join(imports, "\n") + "\n" + strings.Join(rest, "\n")
	for name, s := range map[string]string{"main.go": text, "go.mod": "module program\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-o", "program", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s\n%s", err, out, text)
	}
	return filepath.Join(dir, "program")
}

// BenchmarkNewCell measures a cell that was never built: check, emit, compile, link, load and run.
func BenchmarkNewCell(b *testing.B) {
	p := start(b)
	if _, _, err := p.run("x := 1"); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if _, _, err := p.run(fmt.Sprintf("func f%d(n int) int { return n * %d }\nx = f%d(x)", i, i, i)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSameCell measures a cell that is run again unchanged.
func BenchmarkSameCell(b *testing.B) {
	p := start(b)
	for range 2 {
		if _, _, err := p.run("type T struct{ n int }\nfunc (t T) Double() int { return t.n * 2 }\ny := T{4}.Double()\ny"); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, _, err := p.run("type T struct{ n int }\nfunc (t T) Double() int { return t.n * 2 }\ny := T{4}.Double()\ny"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCachedCell measures a cell that an earlier session built, with the start of a session process taken out.
func BenchmarkCachedCell(b *testing.B) {
	dir := b.TempDir()
	const code = "func g(n int) int { return n * 3 }\ng(14)"
	if _, _, err := startCached(b, dir).run(code); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		p := startCached(b, dir)
		b.StartTimer()
		if _, _, err := p.run(code); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		p.stop()
		b.StartTimer()
	}
}

// BenchmarkMemory measures what a compiled cell costs the session process for good: the growth of its resident memory.
func BenchmarkMemory(b *testing.B) {
	p := start(b)
	cellAt := func(i int) {
		if _, _, err := p.run(fmt.Sprintf("func f%d(n int) int { return n * %d }\nv%d := f%d(1)", i, i, i, i)); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 3 {
		cellAt(i)
	}
	before := resident(b, p.cmd.Process.Pid)
	for i := range b.N {
		cellAt(10 + i)
	}
	after := resident(b, p.cmd.Process.Pid)
	b.ReportMetric(float64(after-before)/1e6/float64(b.N), "MB/cell")
	b.ReportMetric(float64(after)/1e6, "MB")
}

// resident is a process's resident memory in bytes.
func resident(b *testing.B, pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		b.Skip(err)
	}
	f := strings.Fields(string(data))
	return number(b, f[1]) * int64(os.Getpagesize())
}
