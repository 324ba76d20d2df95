//go:build linux && (amd64 || arm64)

package session

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestPackagesThatLinkCUDA builds a program that includes <cuda.h> and links libcuda with the environment of a workspace, and starts
// it without a driver. Several kernels make the library at the same time, in a folder with a blank in its name.
func TestPackagesThatLinkCUDA(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a cache")
	var w [4]*Workspace
	var wg sync.WaitGroup
	for i := range w {
		w[i] = &Workspace{Env: environment()}
		wg.Go(func() { offerCUDA(t.Context(), w[i], root, []string{"gcc"}) })
	}
	wg.Wait()
	for _, x := range w[1:] {
		if !slices.Equal(x.Env, w[0].Env) {
			t.Errorf("environments differ: %v, %v", x.Env, w[0].Env)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(root, "cuda", "new-*")); len(left) > 0 {
		t.Errorf("%v were left", left)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module x\n\ngo 1.26\n")
	write("main.go", `package main

// #cgo LDFLAGS: -lcuda -L/usr/local/cuda/lib64 -L/usr/lib/x86_64-linux-gnu
// #cgo CFLAGS: -I/usr/local/cuda/include
// #include <cuda.h>
import "C"

func main() {
	var n C.int
	println(C.cuInit(0), C.cuDeviceGetCount(&n))
}
`)
	build := exec.CommandContext(context.Background(), "go", "build", "-o", "x", ".")
	build.Dir, build.Env = dir, w[0].Env
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(filepath.Join(dir, "x"))
	run.Env = append(os.Environ(), "GANDER_LIBCUDA=/nonexistent/libcuda.so.1", "LD_BIND_NOW=1")
	out, err := run.CombinedOutput()
	if err != nil || string(out) != "0 100\n" {
		t.Errorf("%q %v", out, err)
	}
}

func TestCUDAOfTheSystem(t *testing.T) {
	t.Setenv("GANDER_CUDA", "system")
	w := &Workspace{Env: environment()}
	offerCUDA(t.Context(), w, t.TempDir(), []string{"gcc"})
	if !slices.Equal(w.Env, environment()) {
		t.Errorf("the environment was changed: %v", w.Env)
	}
}

// TestNoLibraryNoFlags has a compiler fail: cells go on without the library.
func TestNoLibraryNoFlags(t *testing.T) {
	w := &Workspace{Env: environment()}
	offerCUDA(t.Context(), w, t.TempDir(), []string{"false"})
	if slices.ContainsFunc(w.Env, func(s string) bool { return strings.HasPrefix(s, "CGO_LDFLAGS=-L") }) {
		t.Errorf("%v", w.Env)
	}
}

func TestWithFlags(t *testing.T) {
	for _, c := range []struct{ env, flag, want string }{
		{"A=1", "-I/x", "A=1|F=-I/x -g -O2"},
		{"F=-O3|A=1", "-I/x", "F=-I/x -O3|A=1"},
		{"A=1", "-I/x y", "A=1|F='-I/x y' -g -O2"},
	} {
		if got := strings.Join(withFlags(strings.Split(c.env, "|"), "F", c.flag), "|"); got != c.want {
			t.Errorf("%s, not %s", got, c.want)
		}
	}
}
