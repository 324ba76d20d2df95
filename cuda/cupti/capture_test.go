//go:build linux && cgo && (amd64 || arm64)

package cupti

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gander-go/gander/cuda/standin"
	"github.com/gander-go/gander/cuda/standin/feed"
)

// TestMain runs the tests against the stand-in, which needs no driver: records are handed in.
func TestMain(m *testing.M) {
	if os.Getenv("GANDER_CUPTI_CHILD") != "" {
		look()
		return
	}
	dir, err := os.MkdirTemp("", "standin-")
	if err == nil {
		var file string
		if file, err = standin.Build(dir, standin.CUPTI); err == nil {
			os.Setenv("GANDER_LIBCUPTI", file)
			os.Setenv("GANDER_LIBCUDA", "/nowhere/libcuda.so.1")
			os.Setenv("STANDIN_CUPTI_ALONE", "1")
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// as makes the stand-in a library of a toolkit, and opens it.
func as(t *testing.T, v toolkit) (*Library, *feed.Feed, writer) {
	t.Helper()
	var sizes []string
	for k, n := range v.sizes {
		sizes = append(sizes, fmt.Sprintf("%d:%d", k, n))
	}
	t.Setenv("STANDIN_CUPTI_API", fmt.Sprint(v.api))
	t.Setenv("STANDIN_CUPTI_SIZES", strings.Join(sizes, ","))
	l, err := open()
	if err != nil {
		t.Fatal(err)
	}
	f, err := feed.Open(os.Getenv("GANDER_LIBCUPTI"))
	if err != nil {
		t.Fatal(err)
	}
	return l, f, writer{v.version, v.sizes}
}

// TestProbe has the library itself say how large its records are, and so which it is.
func TestProbe(t *testing.T) {
	for _, v := range toolkits {
		l, _, _ := as(t, v)
		want := int(v.version)
		if want == 1201 {
			want = 1200 // the same layouts and the same number
		}
		if l.Version != want {
			t.Errorf("%d is taken for %d", v.version, l.Version)
		}
		for k, n := range v.sizes {
			if l.Sizes[k] != int(n) {
				t.Errorf("%d: records of kind %d have %d bytes, want %d", v.version, k, l.Sizes[k], n)
			}
		}
	}
}

// TestCapture delivers records of every toolkit from several threads, through buffers that hold few of them, in no order: all
// of them come out, and nothing else.
func TestCapture(t *testing.T) {
	for _, v := range toolkits {
		t.Run(FormatVersion(int(v.version)), func(t *testing.T) {
			l, f, w := as(t, v)
			t.Setenv("STANDIN_CUPTI_NOISE", "11")
			c, err := l.Start(Config{Kinds: DefaultKinds, Buffers: 4096, Size: 1024})
			if err != nil {
				t.Fatal(err)
			}
			const threads, each = 4, 500
			name := feed.Text("_Z6kernelPf")
			var all sync.WaitGroup
			for g := range threads {
				all.Go(func() {
					for i := range each {
						n := uint64(g*each + i + 1)
						f.Emit(w.record(KindKernel, map[field]uint64{kernelLayout.correlationId: n, kernelLayout.start: 10 * n, kernelLayout.end: 11 * n, kernelLayout.name: name}))
						f.Emit(w.record(KindMemcpy, map[field]uint64{memcpyLayout.bytes: n}))
						if i%100 == 50 && g == 0 {
							if err := c.Flush(false); err != nil {
								t.Error(err)
							}
						}
					}
				})
			}
			all.Wait()
			r, err := c.Stop()
			if err != nil {
				t.Fatal(err)
			}
			seen := map[uint32]bool{}
			for _, k := range r.Kernels {
				if n := uint64(k.Correlation); k.Start != 10*n || k.End != 11*n || k.Name != "_Z6kernelPf" || seen[k.Correlation] {
					t.Errorf("got %+v", k)
				}
				seen[k.Correlation] = true
			}
			sum := uint64(0)
			for _, k := range r.Copies {
				sum += k.Bytes
			}
			const n = threads * each
			if len(seen) != n || len(r.Copies) != n || sum != n*(n+1)/2 {
				t.Errorf("%d kernels and %d copies of %d bytes", len(seen), len(r.Copies), sum)
			}
			if lost := r.Lost; lost.Dropped != 0 || lost.Bytes != 0 || lost.Refused != 0 || len(lost.Short) != 0 || len(lost.Broken) != 0 || lost.Unknown[13] == 0 {
				t.Errorf("lost %+v", lost)
			}
		})
	}
}

// TestOverrun delivers more than there are buffers for while nobody decodes: what is lost is counted to the byte, and the
// newest records are kept.
func TestOverrun(t *testing.T) {
	for _, v := range []toolkit{toolkits[0], toolkits[len(toolkits)-1]} {
		l, f, w := as(t, v)
		c, err := l.Start(Config{Kinds: []Kind{KindMemcpy}, Buffers: 4, Size: 8 * 128})
		if err != nil {
			t.Fatal(err)
		}
		c.decoding.Lock() // nobody decodes
		const n = 10000
		record := w.record(KindMemcpy, nil)
		for range n {
			f.Emit(record)
		}
		c.decoding.Unlock()
		r, err := c.Stop()
		if err != nil {
			t.Fatal(err)
		}
		lost := int(r.Lost.Bytes) / len(record)
		if got := len(r.Copies) + lost + int(r.Lost.Dropped); got != n || lost == 0 {
			t.Errorf("%d: %d decoded, %d overrun, %d dropped: %d of %d", v.version, len(r.Copies), lost, r.Lost.Dropped, got, n)
		}
	}
}

// TestBroken has a buffer end in what the library cannot step over.
func TestBroken(t *testing.T) {
	l, f, w := as(t, toolkits[0])
	c, err := l.Start(Config{Kinds: []Kind{KindMemcpy}})
	if err != nil {
		t.Fatal(err)
	}
	f.Emit(w.record(KindMemcpy, nil))
	strange := make([]byte, 64)
	strange[0] = 63
	for range 20 {
		f.Emit(strange)
	}
	r, err := c.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Lost.Broken[InvalidKind]; n == 0 || len(r.Copies) > 1 {
		t.Errorf("got %+v", r)
	}
}

func TestRefused(t *testing.T) {
	l, _, _ := as(t, toolkits[5])
	t.Setenv("STANDIN_CUPTI_REFUSE", "50:14,17:27")
	c, err := l.Start(Config{Kinds: []Kind{KindKernel, KindPool, KindOverhead, 60}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Start(Config{Kinds: DefaultKinds}); !errors.Is(err, errBusy) {
		t.Errorf("a second capture: %v", err)
	}
	r, err := c.Stop()
	if want := map[Kind]Result{KindPool: NotCompatible, KindOverhead: NotSupported, 60: InvalidKind}; err != nil || !maps.Equal(r.Lost.Disabled, want) {
		t.Errorf("refused %v, %v", r.Lost.Disabled, err)
	}
	if _, err := c.Stop(); err == nil {
		t.Error("it stopped twice")
	}
	t.Setenv("STANDIN_CUPTI_REFUSE", "10:35")
	var e *Error
	if _, err := l.Start(Config{Kinds: []Kind{KindKernel}}); !errors.As(err, &e) || e.Result != NoPrivileges || e.Remedy() == "" {
		t.Errorf("nothing can be recorded: %v", err)
	}
	t.Setenv("STANDIN_CUPTI_REFUSE", "")
	for range 3 { // what failed left nothing behind
		c, err := l.Start(Config{Kinds: DefaultKinds})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPopInAnyOrder ends ids in other orders than they began, and after their capture.
func TestPopInAnyOrder(t *testing.T) {
	l, f, _ := as(t, toolkits[5])
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	top := func() uint64 { return f.Top() & (1<<idBits - 1) }
	c, err := l.Start(Config{Kinds: DefaultKinds})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []uint64{1, 2, 3} {
		c.Push(id)
	}
	var got []uint64
	for _, id := range []uint64{2, 7, 3, 1, 1} {
		c.Pop(id)
		got = append(got, top())
	}
	if !slices.Equal(got, []uint64{3, 3, 1, 0, 0}) {
		t.Errorf("the innermost ids were %v", got)
	}
	c.Push(5)
	if _, err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	next, err := l.Start(Config{Kinds: DefaultKinds})
	if err != nil {
		t.Fatal(err)
	}
	next.Push(5)
	c.Pop(5)
	if top() != 5 {
		t.Error("an id of the earlier capture took the later one's")
	}
	next.Pop(5)
	if top() != 0 {
		t.Error("an id is left")
	}
	if _, err := next.Stop(); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(1000) { // deeper than the shadow
		next.Push(i)
	}
	for i := range uint64(1000) {
		next.Pop(999 - i)
	}
	if top() != 0 {
		t.Error("deep nesting left ids")
	}
}

func TestDemangle(t *testing.T) {
	if demangler() == nil {
		t.Skip("SKIPPED: there is no C++ runtime library on this machine")
	}
	for in, want := range map[string]string{
		"_Z5saxpyifPKfPf": "saxpy(int, float, float const*, float*)", "saxpy": "saxpy", "_Zbroken": "_Zbroken",
		"_ZN2at6native29vectorized_elementwise_kernelILi4EfEEviT0_": "void at::native::vectorized_elementwise_kernel<4, float>(int, float)",
	} {
		if got := Demangle(in); got != want {
			t.Errorf("%s is %q, want %q", in, got, want)
		}
	}
}

func TestErrorsInWords(t *testing.T) {
	as(t, toolkits[0])
	for r, want := range map[Result]string{
		OtherSubscriber: "x: another profiler is attached to this process (CUPTI error 39)",
		999:             "x: CUPTI error 999: CUPTI_ERROR_STANDIN_999", absent: "x: this version of the library has no such function",
	} {
		if got := failed("x", r).Error(); got != want {
			t.Errorf("%d is %q", r, got)
		}
	}
}
