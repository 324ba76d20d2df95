package analyze

import (
	"os"
	"sync"
	"testing"

	"github.com/gander-go/gander/profiler/kineto"
	"github.com/gander-go/gander/profiler/trace"
)

var (
	tracesMu sync.Mutex
	traces   = map[string]*trace.Trace{} // guarded by tracesMu
)

// readTrace reads a Kineto file, once for all tests, which must not change it.
func readTrace(t testing.TB, path string) *trace.Trace {
	t.Helper()
	tracesMu.Lock()
	defer tracesMu.Unlock()
	if tr := traces[path]; tr != nil {
		return tr
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := kineto.Read(f, kineto.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	traces[path] = tr
	return tr
}
