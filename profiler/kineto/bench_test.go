package kineto

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/gander-go/gander/internal/tracegen"
	"github.com/gander-go/gander/profiler/trace"
)

// benchInput is the file named by GANDER_TRACE, or a generated one of about 64 MB.
func benchInput(b *testing.B) []byte {
	if p := os.Getenv("GANDER_TRACE"); p != "" {
		text, err := os.ReadFile(p)
		if err != nil {
			b.Fatal(err)
		}
		return text
	}
	var text bytes.Buffer
	if _, err := tracegen.Write(&text, tracegen.Options{Bytes: 64 << 20, Python: true}); err != nil {
		b.Fatal(err)
	}
	return text.Bytes()
}

func BenchmarkRead(b *testing.B) {
	text := benchInput(b)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var t *trace.Trace
	for b.Loop() {
		var err error
		if t, err = Read(bytes.NewReader(text), ReadOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	events := len(t.Slices) + len(t.Instants) + len(t.Memory) + 2*len(t.Flows)
	b.ReportMetric(float64(modelBytes(t))/float64(events), "B/event")
}

func BenchmarkWrite(b *testing.B) {
	t, err := Read(bytes.NewReader(benchInput(b)), ReadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	var n counter
	if err := Write(&n, t, WriteOptions{}); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(n))
	b.ReportAllocs()
	for b.Loop() {
		if err := Write(io.Discard, t, WriteOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(b []byte) (int, error) { *c += counter(len(b)); return len(b), nil }

// modelBytes is the memory that the columns and strings of t take.
func modelBytes(t *trace.Trace) int64 {
	n := bytesOf(t.Slices) + bytesOf(t.Instants) + bytesOf(t.Flows) + bytesOf(t.Memory) + bytesOf(t.Ops) + bytesOf(t.Calls) +
		bytesOf(t.Kernels) + bytesOf(t.Copies) + bytesOf(t.Syncs) + bytesOf(t.Generics)
	for _, s := range t.Strings.List() {
		n += int64(len(s)) + 32
	}
	return n
}

func bytesOf[T any](s []T) int64 {
	var v T
	return int64(cap(s)) * int64(unsafe.Sizeof(v))
}

// TestReadFile prints what reading the file named by GANDER_TRACE costs.
func TestReadFile(t *testing.T) {
	p := os.Getenv("GANDER_TRACE")
	if p == "" {
		t.Skip("GANDER_TRACE names no file")
	}
	f, err := os.Open(p)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	start := time.Now()
	tr, err := Read(f, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	size, _ := f.Seek(0, io.SeekCurrent)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	status, _ := os.ReadFile("/proc/self/status")
	i := bytes.Index(status, []byte("VmHWM:"))
	t.Logf("%d bytes in %v (%.0f MB/s), %d slices, model %d MB, heap %d MB, sys %d MB, %s", size, took, float64(size)/1e6/took.Seconds(), len(tr.Slices),
		modelBytes(tr)>>20, m.HeapAlloc>>20, m.Sys>>20, bytes.SplitN(status[i:], []byte("\n"), 2)[0])
}
