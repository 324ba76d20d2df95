//go:build linux && cgo && (amd64 || arm64)

package driver

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gander-go/gander/cuda/standin"
)

// TestMain runs the tests against the stand-in driver. A child process with GANDER_DRIVER_CHILD prints what calls say instead.
func TestMain(m *testing.M) {
	if os.Getenv("GANDER_DRIVER_CHILD") != "" {
		child()
		return
	}
	dir, err := os.MkdirTemp("", "standin-")
	if err == nil {
		var file string
		if file, err = standin.Build(dir, standin.Driver); err == nil {
			os.Setenv("GANDER_LIBCUDA", file)
			os.Setenv("STANDIN_DEVICES", "2")
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

func child() {
	n, err := Count()
	fmt.Println(n, err)
	major, minor := Version()
	fmt.Println(major, minor)
	_, err = Open(0)
	fmt.Println(err)
	fmt.Println(NewProgram("x").Launch("k", Over(1, 1)))
	fmt.Println(MissingProgram("no compiler").Launch("k", Over(1, 1)))
	fmt.Println((*Context)(nil).Synchronize())
}

func runChild(t *testing.T, env ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "GANDER_DRIVER_CHILD=1"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the process ended: %v\n%s", err, out)
	}
	return string(out)
}

// TestWithoutDriver has nothing work and everything say why, on machines that lack one thing or another.
func TestWithoutDriver(t *testing.T) {
	for _, c := range []struct {
		name string
		env  []string
		want []string
	}{
		{"no library", []string{"GANDER_LIBCUDA=/nonexistent/libcuda.so.1"}, []string{"0 no CUDA driver: /nonexistent/libcuda.so.1", "0 0", "no CUDA driver", `launching kernel "k": no CUDA driver`, "no compiler", "no CUDA driver"}},
		{"no device", []string{"STANDIN_DEVICES=0"}, []string{"0 no CUDA device: ", "12 4", "no CUDA device", "no CUDA device", "no compiler", "no CUDA device"}},
		{"mismatch", []string{"STANDIN_INIT=803"}, []string{"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803): system has unsupported display driver", "12 4", "803", "803", "no compiler", "803"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := strings.Split(strings.TrimSpace(runChild(t, c.env...)), "\n")
			if len(lines) != len(c.want) {
				t.Fatalf("%d lines: each reason must be one\n%s", len(lines), strings.Join(lines, "\n"))
			}
			for i, w := range c.want {
				if !strings.Contains(lines[i], w) {
					t.Errorf("line %d is %q, without %q", i+1, lines[i], w)
				}
			}
		})
	}
}
