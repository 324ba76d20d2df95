package kineto

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/internal/tracegen"
	"github.com/gander-go/gander/profiler/trace"
)

// endless yields head, then what next appends, n times, then tail.
type endless struct {
	buf  []byte
	n, i int
	next func(b []byte, i int) []byte
	tail string
}

func (e *endless) Read(b []byte) (int, error) {
	for len(e.buf) < len(b) && e.i < e.n {
		e.buf = e.next(e.buf, e.i)
		if e.i++; e.i == e.n {
			e.buf = append(e.buf, e.tail...)
		}
	}
	if len(e.buf) == 0 {
		return 0, io.EOF
	}
	k := copy(b, e.buf)
	e.buf = append(e.buf[:0], e.buf[k:]...)
	return k, nil
}

// repeated yields head, n times what unit appends, and tail.
func repeated(head string, n int, unit func(b []byte, i int) []byte, tail string) *endless {
	return &endless{buf: []byte(head), n: n, next: unit, tail: tail}
}

// peak runs f and returns the most heap that was in use meanwhile, sampled, above what was in use before.
func peak(f func()) int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, most := m.HeapAlloc, m.HeapAlloc
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-done
	return int64(most - before)
}

func problemCount(t *trace.Trace, kind string) int64 {
	for _, p := range t.Problems {
		if p.Kind == kind {
			return p.Count
		}
	}
	return 0
}

func distinctNames(n int) *endless {
	return repeated("[", n, func(b []byte, i int) []byte {
		b = append(b, `{"ph":"X","cat":"cpu_op","pid":1,"tid":1,"dur":1,"name":"a name that no other event has `...)
		b = strconv.AppendInt(b, int64(i), 10)
		return append(strconv.AppendInt(append(b, `","ts":`...), int64(i)*2, 10), "},\n"...)
	}, "]")
}

func TestMemoryLimitHolds(t *testing.T) {
	const limit = 32 << 20
	var tr *trace.Trace
	used := peak(func() {
		var err error
		if tr, err = Read(distinctNames(1_000_000), ReadOptions{MaxModelBytes: limit}); err != nil {
			t.Fatal(err)
		}
	})
	if err := tr.Validate(); err != nil {
		t.Fatal(err)
	}
	if problemCount(tr, "memory-limit") != 1 || len(tr.Slices) == 0 || len(tr.Slices) > limit/48 {
		t.Errorf("%d slices, problems %v", len(tr.Slices), tr.Problems)
	}
	// The model, its ordering, the scanners' tables and units, and garbage not collected yet.
	if used > 12*limit {
		t.Errorf("%d MB of heap were in use for a model of %d MB", used>>20, limit>>20)
	}
}

func TestEveryEventOfManyNamesIsRead(t *testing.T) {
	// More strings than a scanner's table holds, so that it starts anew several times.
	const n = 3 * maxLocalStrings
	if testing.Short() {
		t.Skip("SKIPPED: reads 150 MB")
	}
	tr, err := Read(distinctNames(n), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Validate(); err != nil {
		t.Fatal(err)
	}
	if len(tr.Slices) != n {
		t.Fatalf("%d slices, want %d", len(tr.Slices), n)
	}
	for _, i := range []int{0, 1, maxLocalStrings - 1, maxLocalStrings, n / 2, n - 1} {
		if want := fmt.Sprint("a name that no other event has ", i); tr.Name(&tr.Slices[i]) != want || tr.Slices[i].Start != int64(i)*2000 {
			t.Errorf("slice %d is %q at %d, want %q", i, tr.Name(&tr.Slices[i]), tr.Slices[i].Start, want)
		}
	}
}

// zeros yields n times the same byte.
func bomb(t *testing.T, head, fill string, n int, tail string) []byte {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(z, repeated(head, n, func(b []byte, _ int) []byte { return append(b, fill...) }, tail)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestBombsStayWithinMemory(t *testing.T) {
	const after = `{"ph":"X","name":"after","pid":1,"tid":1,"ts":1,"dur":1}`
	kilo := func(s string) string { return strings.Repeat(s, 1<<10) }
	opt := ReadOptions{MaxEventBytes: 4 << 20}
	for name, c := range map[string]struct {
		text []byte
		lost string // the problem that must be told
		rest bool   // the event behind must be there
	}{
		"blanks":      {bomb(t, "[", kilo("  "), 50<<10, after+"]"), "", true},
		"one string":  {bomb(t, `[{"ph":"X","name":"`, kilo("xy"), 50<<10, `","pid":1},`+after+"]"), "oversized-events", true},
		"depth":       {bomb(t, `[{"ph":"X","ts":1,"args":{"a":`, kilo("[["), 1<<10, ""), "truncated", false},
		"deep object": {bomb(t, `[`, kilo(`{"a":`), 1<<10, ""), "truncated", false},
		"nothing":     {bomb(t, "[", kilo("{},"), 20<<10, after+"]"), "skipped-elements", true},
		"metadata":    {bomb(t, `{"INFO":"`, kilo("ab"), 50<<10, `","traceEvents":[`+after+"]}"), "oversized-events", true},
		"commas":      {bomb(t, "[", kilo(",,"), 50<<10, after+"]"), "", true},
	} {
		var tr *trace.Trace
		used := peak(func() {
			var err error
			if tr, err = Read(bytes.NewReader(c.text), opt); err != nil {
				t.Errorf("%s: %v", name, err)
				tr = &trace.Trace{}
			}
		})
		if used > 200<<20 {
			t.Errorf("%s: %d MB of heap in use", name, used>>20)
		}
		if err := tr.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.lost != "" && problemCount(tr, c.lost) == 0 {
			t.Errorf("%s: problems %v, want %s", name, tr.Problems, c.lost)
		}
		if found := len(tr.Slices) > 0 && tr.Name(&tr.Slices[len(tr.Slices)-1]) == "after"; found != c.rest {
			t.Errorf("%s: the event behind was found: %v, problems %v", name, found, tr.Problems)
		}
	}
}

func TestInputLimitAndInterrupt(t *testing.T) {
	tr, err := Read(distinctNames(100_000), ReadOptions{MaxInputBytes: 1 << 20})
	if err != nil || problemCount(tr, "input-limit") != 1 || len(tr.Slices) < 1000 || len(tr.Slices) > 20_000 {
		t.Errorf("%v, %d slices, problems %v", err, len(tr.Slices), tr.Problems)
	}
	stop := io.MultiReader(io.LimitReader(distinctNames(100_000), 3<<20), failing{context.Canceled})
	if _, err := Read(stop, ReadOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted read must be an error, got %v", err)
	}
	disk := io.MultiReader(io.LimitReader(distinctNames(100_000), 3<<20), failing{errors.New("bad sector")})
	if tr, err := Read(disk, ReadOptions{}); err != nil || problemCount(tr, "truncated") != 1 || len(tr.Slices) < 10_000 {
		t.Errorf("what was read before an error must be shown: %v", err)
	}
	if _, err := Read(failing{errors.New("bad sector")}, ReadOptions{}); err == nil || !strings.Contains(err.Error(), "bad sector") {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestGeneratedTraceIsReadExactly(t *testing.T) {
	var text bytes.Buffer
	tot, err := tracegen.Write(&text, tracegen.Options{Bytes: 6 << 20, Python: true, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	tr, m := mustRead(t, text.Bytes(), ReadOptions{Workers: 3})
	cats, memory, points, _ := tallies(tr)
	for name, want := range tot.Categories {
		if got := cats[name]; got.Count != want.Count || got.Duration != want.Sum {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	if memory.Count != tot.Memory.Count || memory.Duration != tot.Memory.Sum || points != 2*tot.Flows || m.events != tot.Events || len(tr.Problems) != 0 {
		t.Errorf("memory %+v, ends %d, events %d, problems %v; want %+v", memory, points, m.events, tr.Problems, tot)
	}
	bound := 0
	for _, f := range tr.Flows {
		if f.From != trace.NoSlice && f.To != trace.NoSlice {
			bound++
		}
	}
	if int64(bound) != tot.Flows {
		t.Errorf("%d of %d arrows are bound", bound, tot.Flows)
	}
	roundTrip(t, tr)
}

// TestEndlessElementsEnd reads elements that all last to the end of the text: looking for the next one again and again must
// not take time that grows with the square of the length.
func TestEndlessElementsEnd(t *testing.T) {
	text := "[" + strings.Repeat(`{"ph":[},`, 1<<18)
	for _, limit := range []int{1 << 18, 64 << 20} {
		tr, err := Read(strings.NewReader(strings.ReplaceAll(text, "[}", "[[")), ReadOptions{MaxEventBytes: limit})
		if err != nil {
			t.Fatal(err)
		}
		if problemCount(tr, "gave-up")+problemCount(tr, "damaged-events")+problemCount(tr, "truncated") == 0 {
			t.Errorf("problems %v", tr.Problems)
		}
	}
}

// TestDamageAnywhere overwrites one place after another and expects to lose no more than what is near.
func TestDamageAnywhere(t *testing.T) {
	var text bytes.Buffer
	if _, err := tracegen.Write(&text, tracegen.Options{Steps: 1, Layers: 4}); err != nil {
		t.Fatal(err)
	}
	whole, _ := mustRead(t, text.Bytes(), ReadOptions{})
	total := func(tr *trace.Trace) int {
		_, memory, points, _ := tallies(tr)
		return len(tr.Slices) + int(memory.Count) + int(points)
	}
	from := bytes.Index(text.Bytes(), []byte("traceEvents")) + 20
	for at := from; at < text.Len(); at += 17 {
		for _, c := range []byte{'"', '}', '{', ']', '\\', 0} {
			broken := bytes.Clone(text.Bytes())
			broken[at] = c
			tr, err := Read(bytes.NewReader(broken), ReadOptions{})
			if err != nil {
				t.Fatalf("%q at %d: %v", c, at, err)
			}
			if err := tr.Validate(); err != nil {
				t.Fatalf("%q at %d: %v", c, at, err)
			}
			// A bracket that seems to end the array, with what follows as metadata, loses all behind it; others lose few.
			if lost := total(whole) - total(tr); lost > 3 && len(tr.Problems) == 0 {
				t.Fatalf("%q at %d: %d events lost without a word", c, at, lost)
			} else if lost > 3 && c != ']' && c != '\\' {
				t.Fatalf("%q at %d (%q): %d events lost, problems %v", c, at, text.Bytes()[max(0, at-30):at+30], lost, tr.Problems)
			}
		}
	}
}

// TestLongFile measures the memory that the traces take which GANDER_LONG names in MB, generated on the fly.
func TestLongFile(t *testing.T) {
	mb, err := strconv.ParseInt(os.Getenv("GANDER_LONG"), 10, 64)
	if err != nil {
		t.Skip("SKIPPED: GANDER_LONG gives no size in MB")
	}
	r, w := io.Pipe()
	go func() {
		_, err := tracegen.Write(w, tracegen.Options{Bytes: mb << 20, Python: true})
		w.CloseWithError(err)
	}()
	var tr *trace.Trace
	used := peak(func() { tr, err = Read(r, ReadOptions{}) })
	if err != nil {
		t.Fatal(err)
	}
	status, _ := os.ReadFile("/proc/self/status")
	i := bytes.Index(status, []byte("VmHWM:"))
	events := len(tr.Slices) + len(tr.Memory) + 2*len(tr.Flows)
	t.Logf("%d events, model %d MB (%d B an event), heap peak %d MB, %s", events, modelBytes(tr)>>20, modelBytes(tr)/int64(events), used>>20, bytes.SplitN(status[i:], []byte("\n"), 2)[0])
}
