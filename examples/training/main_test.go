package main

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gander-go/gander/profiler/kineto"
)

func TestRun(t *testing.T) {
	out := filepath.Join(t.TempDir(), "t.json.gz")
	if err := run(out); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	x, err := kineto.Read(z, kineto.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for i := range x.Slices {
		s := &x.Slices[i]
		count[x.Name(s)]++
		if strings.HasPrefix(x.Name(s), "ProfilerStep#") {
			count["steps"]++
		}
	}
	for name, want := range map[string]int{"steps": 2, "load batch": 2, "forward": 2, "backward": 2, "update": 2, "blas.Dgemm": 4} {
		if count[name] != want {
			t.Errorf("%d spans %q in the last cycle, want %d", count[name], name, want)
		}
	}
}
