package magics

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/gander-go/gander/cuda/bind"
	"github.com/gander-go/gander/cuda/nvrtc"
	"github.com/gander-go/gander/kernel/cell"
)

func TestArchitecture(t *testing.T) {
	known := []int{50, 52, 60, 70, 75, 80, 86, 90}
	for _, c := range []struct {
		gpus, supported []int
		ptx             bool
		want            string
	}{
		{nil, known, false, "compute_75"},
		{nil, nil, false, "compute_75"},
		{nil, []int{80, 90, 100}, false, "compute_80"}, // a compiler that has dropped what is old
		{[]int{90}, known, false, "sm_90"},
		{[]int{90, 90}, known, false, "sm_90"},
		{[]int{90}, known, true, "compute_90"},
		{[]int{90, 80}, known, false, "compute_80"},
		{[]int{100}, known, false, "compute_90"}, // a GPU that is newer than the compiler
		{[]int{89}, known, false, "compute_86"},
		{[]int{90}, nil, false, "compute_90"},
	} {
		if got := architecture(c.gpus, c.supported, c.ptx); got != c.want {
			t.Errorf("GPUs %v, compiler %v, PTX %v: %s, not %s", c.gpus, c.supported, c.ptx, got, c.want)
		}
	}
}

func TestCUDAFlags(t *testing.T) {
	for args, want := range map[string]cudaOptions{
		"":                            {},
		"--arch 90":                   {arch: "sm_90"},
		"--arch=compute_80 -n k":      {arch: "compute_80", name: "k"},
		"--arch sm_90 --ptx":          {arch: "compute_90", ptx: true},
		"-o --use_fast_math -o -DN=1": {options: []string{"--use_fast_math", "-DN=1"}},
		"--optional --quiet":          {optional: true, quiet: true},
	} {
		got, err := parseCUDA(args)
		if err != nil || !reflect.DeepEqual(got, want) && !(len(got.options) == 0 && reflect.DeepEqual(cudaOptions{got.name, got.arch, nil, got.optional, got.quiet, got.ptx}, want)) {
			t.Errorf("%q: %+v %v", args, got, err)
		}
	}
	for _, args := range []string{"file.cu", "--name 1x", "--arch sm_x", "--arch 5", "--arch compute_", "--arhc 90", "--arch"} {
		if _, err := parseCUDA(args); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}

func TestGPUFlags(t *testing.T) {
	for args, want := range map[string]gpuOptions{
		"":                       {false, 30 * time.Second, 500 * time.Millisecond},
		"--live":                 {true, 30 * time.Second, 500 * time.Millisecond},
		"--for 5s":               {true, 5 * time.Second, 500 * time.Millisecond},
		"-l --every 1s --for 1m": {true, time.Minute, time.Second},
	} {
		if got, err := parseGPU(args); err != nil || got != want {
			t.Errorf("%q: %+v %v", args, got, err)
		}
	}
	for _, args := range []string{"now", "--for 0s", "--every 1ms", "--for never"} {
		if _, err := parseGPU(args); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}

func TestProgramName(t *testing.T) {
	for want, kernels := range map[string][]bind.Kernel{
		"cuda_program": {{Name: "t", Template: true}},
		"cuda_a_b":     {{Name: "t", Template: true}, {Name: "a::b"}, {Name: "c"}},
	} {
		if got := programName(kernels); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

// TestDiagnosticsOfHeaders has what the compiler says of headers stand at the magic, and what it says of the cell at its line.
func TestDiagnosticsOfHeaders(t *testing.T) {
	m := &call{cell: &cell.Cell{N: 3}, line: 2}
	got := m.diagnostics("In[3]", []nvrtc.Diagnostic{{File: "In[3]", Line: 5, Error: true, Message: "x"}, {File: "h.h", Line: 9, Error: true, Message: "y"}, {File: "In[3]", Line: 6, Message: "a warning"}}, "")
	if len(got) != 2 || got[0].Line != 5 || got[0].Cell != 3 || got[1].Line != 1 || got[1].Message != "h.h:9: y" {
		t.Errorf("%+v", got)
	}
	if got := m.diagnostics("In[3]", nil, "nothing that is understood\n"); len(got) != 1 || got[0].Message != "nothing that is understood" {
		t.Errorf("%+v", got)
	}
}

func TestShare(t *testing.T) {
	if share(1, 4) != 25 || !math.IsNaN(share(math.NaN(), 4)) || !math.IsNaN(share(1, 0)) || !math.IsNaN(share(-1, 4)) {
		t.Error("shares of what is not known are numbers")
	}
}
