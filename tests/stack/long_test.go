package stack

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/gander-go/gander/kernel/eval"
)

var (
	cells      = flag.Int("cells", 1000, "statement cells of TestManyStatements; its full run is 10000")
	compiled   = flag.Int("compiled", 30, "compiled cells of TestManyCompiledCells; its full run is 200")
	perCell    = int64(3 << 20) // what a compiled cell may keep in the session process; ARCHITECTURE.md states it
	statements = []string{"total += %d %% 7", "for i := range 3 {\n\ttotal += i * %d\n}", "s := fmt.Sprint(total, %d)", "m[%d %% 50] = s", "if total > %d {\n\ttotal = 0\n}"}
)

// sample is what two processes hold at a moment.
type sample struct {
	front, session        int64 // resident bytes
	frontFiles, files     int
	goroutines, inSession int
}

// resident is the memory of a process in bytes.
func resident(t *testing.T, pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Skipf("SKIPPED: %v; growth was NOT checked", err)
	}
	var size, pages int64
	fmt.Sscan(string(b), &size, &pages)
	return pages * int64(os.Getpagesize())
}

func files(pid int) int {
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	return len(all)
}

// measure collects garbage in both processes and looks.
func (b *book) measure() (s sample) {
	b.t.Helper()
	pid := 0
	fmt.Sscan(b.ok("import (\"os\"; \"runtime/debug\"; \"runtime\")\ndebug.FreeOSMemory()\nos.Getpid()"), &pid)
	fmt.Sscan(b.ok("runtime.NumGoroutine()"), &s.inSession)
	runtime.GC()
	time.Sleep(50 * time.Millisecond)
	s.front, s.session = resident(b.t, os.Getpid()), resident(b.t, pid)
	s.frontFiles, s.files, s.goroutines = files(os.Getpid()), files(pid), runtime.NumGoroutine()
	return s
}

// TestManyStatements runs statement cells, and looks for what grows with their number.
func TestManyStatements(t *testing.T) {
	b := open(t, "")
	b.ok("total := 0\nm := map[int]string{}\ns := \"\"")
	run := func(n int) time.Duration {
		start := time.Now()
		for i := range n {
			b.ok(fmt.Sprintf(statements[i%len(statements)], i))
			if i%100 == 0 {
				b.out.Take()
			}
		}
		return time.Since(start) / time.Duration(n)
	}
	first := run(300)
	before := b.measure()
	last := run(*cells)
	after := b.measure()
	t.Logf("%d cells; the first took %v each, the others %v\nbefore %+v\nafter  %+v", *cells, first, last, before, after)
	if after.goroutines > before.goroutines+3 || after.inSession > before.inSession+3 {
		t.Error("goroutines grow")
	}
	if after.frontFiles > before.frontFiles+3 || after.files > before.files+3 {
		t.Error("open files grow")
	}
	if after.front > 2*before.front+(16<<20) || after.session > 2*before.session+(16<<20) {
		t.Error("memory grows to more than twice of what it was")
	}
}

// TestManyCompiledCells keeps the stated bound of what compiled cells cost.
func TestManyCompiledCells(t *testing.T) {
	b := open(t, "")
	cell := func(i int) {
		r := b.run(context.Background(), eval.Native, fmt.Sprintf("type T%d struct{ a, b int }\nfunc (t T%d) Sum() int { return t.a + t.b }\nfunc f%d(n int) int { return T%d{n, %d}.Sum() }\nf%d(1)", i, i, i, i, i, i))
		if r.Err != nil || r.Value.Data["text/plain"] != fmt.Sprint(i+1) {
			t.Fatalf("cell %d: %v", i, r)
		}
	}
	for i := range 5 {
		cell(i)
	}
	before := b.measure()
	start := time.Now()
	for i := range *compiled {
		cell(i + 5)
	}
	each := time.Since(start) / time.Duration(*compiled)
	after := b.measure()
	n := int64(*compiled)
	t.Logf("%d compiled cells of %v; session process %d to %d MiB, %d KiB a cell; front process %d to %d MiB, %d KiB a cell", n, each,
		before.session>>20, after.session>>20, (after.session-before.session)/n>>10, before.front>>20, after.front>>20, (after.front-before.front)/n>>10)
	if (after.session-before.session)/n > perCell {
		t.Errorf("a cell keeps more than %d MiB in the session process", perCell>>20)
	}
	if (after.front-before.front)/n > perCell/2 {
		t.Errorf("a cell keeps more than %d MiB in the front process", perCell/2>>20)
	}
	if after.files > before.files+3 || after.goroutines > before.goroutines+3 {
		t.Errorf("files or goroutines grow: %+v, then %+v", before, after)
	}
}
