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

	"github.com/gander-go/gander/profiler/analyze"
	"github.com/gander-go/gander/profiler/kineto"
	"github.com/gander-go/gander/profiler/trace"
)

//go:embed torch_check.py
var torchScript []byte

// fromTorch is what the script found out, in one or more lines.
type fromTorch struct {
	Torch        string               `json:"torch"`
	Kernels      map[string][]float64 `json:"kernels"` // durations by name, ns
	KernelsError string               `json:"kernels_error"`
	Model        *torchModel          `json:"model"`
	ModelError   string               `json:"model_error"`
}

// torchModel is torch's own table of a profile, and the file of its trace. Times are in ns.
type torchModel struct {
	File string
	Rows []torchRow
}

type torchRow struct {
	Key, Device string
	User        bool
	Count       int64
	SelfCPU     float64 `json:"self_cpu"`
	CPU         float64 `json:"cpu"`
	SelfDevice  float64 `json:"self_device"`
	DeviceTotal float64 `json:"device_total"`
}

// compareTorch has torch.profiler record the kernels of the workload, launched by Python through the driver API, and compares
// counts and the medians of their durations; and it compares torch's table of a training run with the table that is made of
// the trace that torch wrote.
func compareTorch(r *Report, o options) error {
	const kernelsName, tableName = "torch.profiler", "torch's table"
	if out, err := exec.Command(o.python, "-c", "import torch; assert torch.cuda.is_available(), 'torch finds no GPU'; print(torch.__version__)").CombinedOutput(); err != nil {
		why := lastLine(string(out))
		if why == "" {
			why = err.Error()
		}
		r.skip(kernelsName, "there is no torch with CUDA here: %s", why)
		return nil
	}
	dir, err := os.MkdirTemp("", "gpucheck-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	prefix := filepath.Join(dir, "torch")
	if o.trace != "" {
		prefix = filepath.Join(filepath.Dir(o.trace), "torch")
	}
	theirs, err := runTorch(o.python, dir, prefix)
	if err != nil {
		return err
	}
	switch {
	case theirs.KernelsError != "":
		r.add(kernelsName, errors.New(theirs.KernelsError), "")
	case theirs.Kernels == nil:
		r.skip(kernelsName, "the script told of no kernels")
	default:
		ours, err := readTrace(o.trace)
		if err == nil {
			err = matchTorch(durations(ours), theirs.Kernels, o.tolerance)
		}
		r.add(kernelsName, err, "torch %s: the same kernels, medians within %.0f%%", theirs.Torch, 100*o.tolerance)
	}
	switch {
	case theirs.Model == nil:
		r.add(tableName, errors.New(theirs.ModelError), "")
	default:
		n, err := theirs.Model.compare()
		r.add(tableName, err, "torch %s: the same %d rows of the same trace", theirs.Torch, n)
	}
	return nil
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// runTorch runs the script; traces are written to files that begin with prefix.
func runTorch(python, dir, prefix string) (*fromTorch, error) {
	script, ptx := filepath.Join(dir, "torch_check.py"), filepath.Join(dir, "kernels.ptx")
	if err := errors.Join(os.WriteFile(script, torchScript, 0o644), os.WriteFile(ptx, kernels, 0o644)); err != nil {
		return nil, err
	}
	args := []string{script, ptx, prefix}
	for _, n := range []int64{steps, saxpies, elements, side, spins, int64(spinTime), int64(holdTime)} {
		args = append(args, fmt.Sprint(n))
	}
	cmd := exec.Command(python, args...)
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	var k fromTorch
	seen := false
	for line := range strings.Lines(string(out)) { // of a script that ended early, the lines that it printed count
		if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &k) == nil {
			seen = true
		}
	}
	if !seen {
		if err == nil {
			err = errors.New("it printed nothing")
		}
		return nil, fmt.Errorf("running torch.profiler: %w", err)
	}
	if err != nil && k.Model == nil && k.ModelError == "" {
		k.ModelError = err.Error()
	}
	return &k, nil
}

func readTrace(file string) (*trace.Trace, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return kineto.Read(f, kineto.ReadOptions{})
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

// compare makes the table of the trace and compares it with torch's, row by row: counts exactly, times within rounding. It
// returns how many rows there are.
func (m *torchModel) compare() (int, error) {
	t, err := readTrace(m.File)
	if err != nil {
		return 0, err
	}
	type key struct {
		name   string
		device bool
		user   bool
	}
	ours := map[key]*analyze.Average{}
	avg := analyze.KeyAverages(t, analyze.KeyOptions{Convention: analyze.Torch})
	for i := range avg.Rows {
		a := &avg.Rows[i]
		ours[key{a.Key, a.Side == analyze.SideDevice, a.User}] = a
	}
	var errs []error
	seen := map[key]bool{}
	for _, w := range m.Rows {
		k := key{w.Key, w.Device != "CPU", w.User}
		a := ours[k]
		if a == nil && w.User { // torch 2.1 and earlier do not tell which are the user's
			k.user = false
			a = ours[k]
		} else if a == nil {
			k.user = true
			a = ours[k]
		}
		seen[k] = true
		if a == nil {
			errs = append(errs, fmt.Errorf("there is no row %q on %s", w.Key, w.Device))
			continue
		}
		if a.Count != w.Count {
			errs = append(errs, fmt.Errorf("%q on %s has %d calls, and %d by torch", w.Key, w.Device, a.Count, w.Count))
		}
		for _, v := range []struct {
			name  string
			got   int64
			wants float64
		}{{"self CPU", a.SelfCPU, w.SelfCPU}, {"CPU total", a.CPUTotal, w.CPU}, {"self device", a.SelfDevice, w.SelfDevice}, {"device total", a.DeviceTotal, w.DeviceTotal}} {
			if math.Abs(float64(v.got)-v.wants) > 1000*float64(max(1, w.Count))+1e-3*v.wants {
				errs = append(errs, fmt.Errorf("%q on %s has a %s time of %v, and %v by torch", w.Key, w.Device, v.name, time.Duration(v.got), time.Duration(v.wants)))
			}
		}
	}
	for k := range ours {
		if !seen[k] {
			errs = append(errs, fmt.Errorf("torch has no row %q", k.name))
		}
	}
	if n := len(errs); n > 3 {
		errs = append(errs[:3], fmt.Errorf("and %d more differences", n-3))
	}
	if err := errors.Join(errs...); err != nil {
		return len(m.Rows), errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return len(m.Rows), nil
}
