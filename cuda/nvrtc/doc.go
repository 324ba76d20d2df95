// Package nvrtc compiles CUDA C++ with NVIDIA's run-time compiler, which is opened when it is first used: from a toolkit, from the
// wheels of PyTorch or the nvidia-cuda-nvrtc packages, or from where GANDER_LIBNVRTC says. No GPU and no driver is needed.
//
// It runs nothing; package driver loads what it makes. Its one invariant: a Result is code for exactly the architecture that
// was asked for, or there is an error.
package nvrtc

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Request is something to compile.
type Request struct {
	Name    string   // of the source, as messages shall call it
	Source  string   // CUDA C++
	Arch    string   // "sm_90" for a CUBIN, "compute_90" for PTX
	Options []string // further options of NVRTC, such as -use_fast_math
	Kernels []string // names of kernels whose lowered names are wanted, qualified as in C++: "ns::scale<float>"
}

// Result is compiled code.
type Result struct {
	Image []byte            // PTX without its trailing zero, or a CUBIN
	PTX   bool              // Image is PTX
	Names map[string]string // of Request.Kernels, the names in the image
	Notes []Diagnostic      // warnings
}

// Diagnostic is one message of the compiler.
type Diagnostic struct {
	File    string // as in Request.Name, or a header
	Line    int    // from 1; 0 when the message is about no line
	Error   bool   // not a warning
	Message string
}

// CompileError is source that does not compile.
type CompileError struct {
	Diagnostics []Diagnostic
	Log         string
}

func (e *CompileError) Error() string {
	for _, d := range e.Diagnostics {
		if d.Error {
			return fmt.Sprintf("%s:%d: %s", d.File, d.Line, d.Message)
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(e.Log), "\n")
	return first
}

// Missing is the error where there is no NVRTC.
type Missing struct{ Why string }

func (e *Missing) Error() string {
	return "no NVRTC, which compiles CUDA C: " + e.Why + " (install the CUDA toolkit, or 'pip install nvidia-cuda-nvrtc-cu12')"
}

// message matches "name(12): error: text", with numbers of warnings and the severities of NVRTC's front end.
var message = regexp.MustCompile(`^(.*?)\((\d+)\): (catastrophic error|error|warning|remark)(?: #[\w-]+)?: (.*)$`)

// lineless matches messages about no line: "nvrtc: error: invalid value for --gpu-architecture (-arch)".
var lineless = regexp.MustCompile(`^(?:\w+: )?(error|warning)\s*: (.*)$`)

// Parse reads the compiler's log.
func Parse(log string) []Diagnostic {
	var list []Diagnostic
	for line := range strings.Lines(log) {
		line = strings.TrimRight(line, "\r\n")
		if m := message.FindStringSubmatch(line); m != nil {
			n, err := strconv.Atoi(m[2])
			if err != nil {
				n = 0
			}
			list = append(list, Diagnostic{File: m[1], Line: n, Error: strings.HasSuffix(m[3], "error"), Message: m[4]})
		} else if m := lineless.FindStringSubmatch(line); m != nil {
			list = append(list, Diagnostic{Error: m[1] == "error", Message: m[2]})
		}
	}
	return list
}
