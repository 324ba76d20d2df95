// Package standin builds shared libraries that speak the ABI of NVIDIA's (libcuda, libnvidia-ml, libcupti), for tests and
// for `make gpu-check` on machines without a GPU. They are C sources in the folder c, compiled by the C compiler when they
// are needed.
//
// It is for tests: nothing that users run imports it. The libraries prove that our side of an ABI is right, and that what is
// computed from what comes back is right; what a real driver does differently, only a GPU shows.
package standin

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

//go:embed c/*.c
var sources embed.FS

// Library is a library that can be built.
type Library string

const (
	Driver Library = "libcuda.so.1"      // the CUDA driver
	NVML   Library = "libnvidia-ml.so.1" // the management library
	CUPTI  Library = "libcupti.so.12"    // the profiling interface, telling of what Driver does
)

var source = map[Library]string{Driver: "c/libcuda.c", NVML: "c/libnvidia-ml.c", CUPTI: "c/libcupti.c"}

// Build compiles a library into dir and returns its file.
func Build(dir string, l Library) (string, error) {
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "gcc"
	}
	text, err := sources.ReadFile(source[l])
	if err != nil {
		return "", fmt.Errorf("building stand-in %s: %w", l, err)
	}
	c := filepath.Join(dir, filepath.Base(source[l]))
	if err := os.WriteFile(c, text, 0o644); err != nil {
		return "", fmt.Errorf("building stand-in %s: %w", l, err)
	}
	out := filepath.Join(dir, string(l))
	cmd := exec.Command(cc, "-O1", "-shared", "-fPIC", "-Wl,-soname,"+string(l), "-o", out, c, "-ldl", "-lm", "-lpthread")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building stand-in %s: %w\n%s", l, err, said)
	}
	return out, nil
}

// For builds a library for one test and returns its file.
func For(t testing.TB, l Library) string {
	t.Helper()
	file, err := Build(t.TempDir(), l)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
