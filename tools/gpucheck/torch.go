//go:build linux && cgo && (amd64 || arm64)

package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gander-go/gander/profiler/trace"
)

//go:embed torch_check.py
var torchScript []byte

// torchKernels is what torch.profiler recorded: durations by kernel, in ns.
type torchKernels struct {
	Torch   string               `json:"torch"`
	Kernels map[string][]float64 `json:"kernels"`
}

// compareTorch has torch.profiler record the same kernels, launched through the driver API by Python, and compares counts and the
// medians of their durations.
func compareTorch(r *Report, t *trace.Trace, o options) {
	const name = "torch.profiler"
	if out, err := exec.Command(o.python, "-c", "import torch; assert torch.cuda.is_available(); print(torch.__version__)").CombinedOutput(); err != nil {
		why := lastLine(string(out))
		if why == "" {
			why = err.Error()
		}
		r.skip(name, "there is no torch with CUDA here: %s", why)
		return
	}
	theirs, err := runTorch(o.python)
	if err != nil {
		r.add(name, err, "")
		return
	}
	r.add(name, matchTorch(durations(t), theirs.Kernels, o.tolerance), "torch %s: the same kernels, medians within %.0f%%", theirs.Torch, 100*o.tolerance)
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

func runTorch(python string) (*torchKernels, error) {
	dir, err := os.MkdirTemp("", "gpucheck-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	script, ptx := filepath.Join(dir, "torch_check.py"), filepath.Join(dir, "kernels.ptx")
	if err := errors.Join(os.WriteFile(script, torchScript, 0o644), os.WriteFile(ptx, kernels, 0o644)); err != nil {
		return nil, err
	}
	cmd := exec.Command(python, script, ptx, fmt.Sprint(steps), fmt.Sprint(saxpies), fmt.Sprint(elements), fmt.Sprint(side), fmt.Sprint(spins), fmt.Sprint(int64(spinTime)))
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		var e *exec.ExitError
		if errors.As(err, &e) {
			err = fmt.Errorf("%w: %s", err, lastLine(string(e.Stderr)))
		}
		return nil, err
	}
	var k torchKernels
	if err := json.Unmarshal([]byte(lastLine(string(out))), &k); err != nil {
		return nil, fmt.Errorf("reading what torch.profiler recorded: %w", err)
	}
	return &k, nil
}

// durations are those of the profile's kernels, by name.
func durations(t *trace.Trace) map[string][]float64 {
	m := map[string][]float64{}
	for i := range t.Slices {
		if s := &t.Slices[i]; t.Class(s) == trace.ClassKernel {
			m[t.Name(s)] = append(m[t.Name(s)], float64(s.Dur))
		}
	}
	return m
}

// shortKernel is the length below which launch conditions decide more about a kernel's duration than its work; counts
// are compared then, and not times.
const shortKernel = float64(100 * time.Microsecond)

func matchTorch(ours, theirs map[string][]float64, tolerance float64) error {
	a, b := map[string]int{}, map[string]int{}
	for k, v := range ours {
		a[k] = len(v)
	}
	for k, v := range theirs {
		b[k] = len(v)
	}
	if err := differs(b, a); err != nil {
		return err
	}
	for name, v := range ours {
		x, y := median(v), median(theirs[name])
		if max(x, y) >= shortKernel && math.Abs(x-y) > tolerance*y {
			return fmt.Errorf("%s lasts %v, and %v by torch.profiler", name, time.Duration(x), time.Duration(y))
		}
	}
	return nil
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
