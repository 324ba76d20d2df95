package analyze

import (
	"os"
	"testing"

	"github.com/gander-go/gander/profiler/kineto"
	"github.com/gander-go/gander/profiler/trace"
)

// readTrace reads a Kineto file.
func readTrace(t testing.TB, path string) *trace.Trace {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := kineto.Read(f, kineto.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}
