//go:build linux && cgo && (amd64 || arm64)

// Command gpucheck runs a workload whose every kernel, copy and allocation is known on a GPU, under the profiler, and compares
// what the profile says with what was done. `make gpu-check` packs it into a folder that runs on a machine without Go.
//
// Its one invariant: a check that could not be made is reported as skipped, with the reason, and never as passed.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	_ "github.com/gander-go/gander/cuda"
	"github.com/gander-go/gander/cuda/cupti"
	"github.com/gander-go/gander/cuda/driver"
	"github.com/gander-go/gander/cuda/nvml"
)

// Status of a check.
const (
	passed  = "passed"
	failed  = "FAILED"
	skipped = "skipped"
)

// Check is one comparison.
type Check struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Detail string `json:"detail"`
}

// Report is what is written to the file of -json.
type Report struct {
	Time    string         `json:"time"`
	Machine map[string]any `json:"machine"`
	Checks  []Check        `json:"checks"`
}

func (r *Report) add(name string, err error, detail string, args ...any) {
	c := Check{Name: name, Status: passed, Detail: fmt.Sprintf(detail, args...)}
	if err != nil {
		c.Status, c.Detail = failed, err.Error()
	}
	r.Checks = append(r.Checks, c)
}

func (r *Report) skip(name, why string, args ...any) {
	r.Checks = append(r.Checks, Check{name, skipped, fmt.Sprintf(why, args...)})
}

// options of the command line.
type options struct {
	expected string
	trace    string
	tolerance,
	overhead float64
	python string
}

func main() {
	var o options
	expect := flag.Bool("expect", false, "print what the workload does, as JSON, and end; needs no GPU")
	out := flag.String("json", "", "write the report to this file")
	flag.StringVar(&o.expected, "expected", "expected.json", "what the workload is expected to do")
	flag.StringVar(&o.trace, "trace", "", "write the profile to this file")
	flag.Float64Var(&o.tolerance, "tolerance", 0.05, "how far durations may be from those of CUDA events")
	flag.Float64Var(&o.overhead, "overhead", 1.10, "how much longer a captured run may take than an uncaptured one")
	flag.StringVar(&o.python, "python", "python3", "the Python to look for torch in")
	flag.Parse()
	if *expect {
		fmt.Println(string(encode(expectation())))
		return
	}
	r, err := run(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gpucheck:", err)
		os.Exit(2)
	}
	if *out != "" {
		if err := os.WriteFile(*out, append(encode(r), '\n'), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "gpucheck:", err)
			os.Exit(2)
		}
	}
	bad := 0
	for _, c := range r.Checks {
		fmt.Printf("%-8s %-28s %s\n", c.Status, c.Name, c.Detail)
		if c.Status == failed {
			bad++
		}
	}
	if bad > 0 {
		fmt.Printf("%d of %d checks failed\n", bad, len(r.Checks))
		os.Exit(1)
	}
}

func encode(v any) []byte {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err) // plain data always marshals
	}
	return b
}

// run makes all checks. The error says why none could be made.
func run(o options) (*Report, error) {
	text, err := os.ReadFile(o.expected)
	if err != nil {
		return nil, fmt.Errorf("reading what is expected: %w", err)
	}
	var want Expectation
	if err := json.Unmarshal(text, &want); err != nil {
		return nil, fmt.Errorf("reading what is expected: %w", err)
	}
	gpu, err := driver.Open(0)
	if err != nil {
		return nil, err
	}
	r := &Report{Time: time.Now().UTC().Format(time.RFC3339), Machine: machine(gpu)}
	w, err := newWork(gpu)
	if err != nil {
		return nil, err
	}
	if err := w.warm(); err != nil { // what the first launch loads is not measured
		return nil, err
	}
	done, t, err := w.profiled()
	if err != nil {
		return nil, err
	}
	if o.trace != "" {
		if err := writeTrace(o.trace, t); err != nil {
			return nil, err
		}
	}
	compare(r, want, done, t, o.tolerance)
	compareMemory(r, done, t)
	compareNVML(r, done)
	measureOverhead(r, w, o.overhead)
	compareTorch(r, t, o)
	return r, nil
}

// machine describes what the checks ran on.
func machine(gpu *driver.Context) map[string]any {
	m := map[string]any{"go": runtime.Version(), "arch": runtime.GOARCH, "cpus": runtime.NumCPU(), "driver": driver.Library()}
	if info, err := gpu.Device().Info(); err == nil {
		m["device"] = info
	}
	major, minor := driver.Version()
	m["cuda"] = fmt.Sprintf("%d.%d", major, minor)
	if l, err := cupti.Open(); err == nil {
		m["cupti"] = cupti.FormatVersion(l.Version) + " " + l.File
	} else {
		m["cupti"] = err.Error()
	}
	if l, err := nvml.Open(); err == nil {
		m["driver_version"] = l.System().Driver
	}
	if b, err := os.ReadFile("/proc/version"); err == nil {
		m["kernel"] = string(b[:min(len(b), 80)])
	}
	return m
}

var errNothing = errors.New("the profile has no device work")
