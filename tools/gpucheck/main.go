//go:build linux && cgo && (amd64 || arm64)

// Command gpucheck runs workloads whose every kernel, copy and allocation is known on a GPU, under the profiler, and compares
// what the profile says with what was done. `make gpu-check` packs it into a folder that runs on a machine without Go.
//
// Each part of it runs in a process of its own with a limit of time, and tells of each check as soon as it is made: a part
// that hangs or crashes is a failed check, and costs nothing of the others.
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
	"strings"
	"time"

	_ "github.com/gander-go/gander/cuda"
	"github.com/gander-go/gander/cuda/cupti"
	"github.com/gander-go/gander/cuda/driver"
	"github.com/gander-go/gander/cuda/nvml"
	"github.com/gander-go/gander/cuda/nvrtc"
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

	told func(Check) // of each check, when it is made; may be nil
}

func (r *Report) add(name string, err error, detail string, args ...any) {
	c := Check{Name: name, Status: passed, Detail: fmt.Sprintf(detail, args...)}
	if err != nil {
		c.Status, c.Detail = failed, err.Error()
	}
	r.put(c)
}

func (r *Report) skip(name, why string, args ...any) {
	r.put(Check{name, skipped, fmt.Sprintf(why, args...)})
}

func (r *Report) put(c Check) {
	r.Checks = append(r.Checks, c)
	if r.told != nil {
		r.told(c)
	}
}

// options of the command line.
type options struct {
	expected  string
	json      string
	trace     string
	libraries string
	env       string
	tolerance,
	overhead float64
	python string
	limit  time.Duration
	parts  string
}

func main() {
	var o options
	expect := flag.Bool("expect", false, "print what the workload does, as JSON, and end; needs no GPU")
	only := flag.String("part", "", "run this part in this process, and print its checks as JSON")
	flag.StringVar(&o.json, "json", "", "write the report to this file")
	flag.StringVar(&o.expected, "expected", "expected.json", "what the workload is expected to do")
	flag.StringVar(&o.trace, "trace", "", "write the profile to this file; those of PyTorch go beside it")
	flag.StringVar(&o.libraries, "libraries", "", "a folder with a cupti-VERSION for each further CUPTI to run the workload with, and an nvrtc")
	flag.StringVar(&o.env, "env", "", "write what was chosen of -libraries to this file, for a shell")
	flag.Float64Var(&o.tolerance, "tolerance", 0.05, "how far durations may be from those of CUDA events")
	flag.Float64Var(&o.overhead, "overhead", 1.10, "how much longer a captured run may take than an uncaptured one")
	flag.StringVar(&o.python, "python", "python3", "the Python to look for torch in")
	flag.StringVar(&o.parts, "parts", "", "run only these parts, with commas: "+strings.Join(partNames(), ", "))
	flag.DurationVar(&o.limit, "limit", 270*time.Second, "how long all parts together may take")
	flag.Parse()
	switch {
	case *expect:
		fmt.Println(string(encode(expectation())))
	case *only != "":
		os.Exit(runPart(*only, o))
	default:
		os.Exit(runAll(o))
	}
}

func encode(v any) []byte {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err) // plain data always marshals
	}
	return b
}

// machine describes what the checks run on. What the other parts need to know of it has the keys cuda_major, cupti_version
// and nvrtc_version.
func machine(r *Report, _ options) error {
	gpu, err := driver.Open(0)
	if err != nil {
		return err
	}
	m := map[string]any{"go": runtime.Version(), "arch": runtime.GOARCH, "cpus": runtime.NumCPU(), "driver": driver.Library()}
	r.Machine = m
	if info, err := gpu.Device().Info(); err == nil {
		m["device"] = info
	}
	major, minor := driver.Version()
	m["cuda"], m["cuda_major"] = fmt.Sprintf("%d.%d", major, minor), major
	if l, err := cupti.Open(); err == nil {
		m["cupti"], m["cupti_version"] = cupti.FormatVersion(l.Version)+" "+l.File, l.Version
	} else {
		m["cupti"] = err.Error()
	}
	if l, err := nvml.Open(); err == nil {
		m["driver_version"] = l.System().Driver
	} else {
		m["nvml"] = err.Error()
	}
	if l, err := nvrtc.Open(major); err == nil {
		m["nvrtc"], m["nvrtc_version"] = fmt.Sprintf("%d.%d %s", l.Major, l.Minor, l.Path), l.Major*100+l.Minor
	} else {
		m["nvrtc"] = err.Error()
	}
	if b, err := os.ReadFile("/proc/version"); err == nil {
		m["kernel"] = string(b[:min(len(b), 80)])
	}
	return nil
}

var errNothing = errors.New("the profile has no device work")
