package cupti

import "fmt"

// Result is an answer of CUPTI; 0 is success.
type Result int32

const (
	Success         Result = 0
	MaxLimitReached Result = 12 // the end of a buffer
	NotCompatible   Result = 14
	NotInitialized  Result = 15 // there is no driver, no device, or the driver is too old
	InvalidKind     Result = 21
	NotSupported    Result = 27
	NoPrivileges    Result = 35
	OtherSubscriber Result = 39
	absent          Result = -1
)

// results are the answers that people can do something about, and what that is.
var results = map[Result]struct{ text, fix string }{
	absent:          {"this version of the library has no such function", "Install a CUPTI of CUDA 11.8 or later."},
	2:               {"there is no such device", ""},
	7:               {"it is not possible now", ""},
	8:               {"the device or the host is out of memory", "Free memory and profile again."},
	9:               {"the hardware failed", "See what the kernel log says of the GPU."},
	NotCompatible:   {"it does not go together with what is enabled already", ""},
	NotInitialized:  {"it finds no usable driver or GPU", "Check nvidia-smi; the library must not be newer than the driver (CUDA 13 needs driver 580, CUDA 12 needs 525)."},
	InvalidKind:     {"this version of the library does not know it", ""},
	NotSupported:    {"the device does not support it", ""},
	33:              {"profiling is not available on this virtual GPU", "Ask the administrator of the hypervisor to allow it."},
	NoPrivileges:    {"the user may not profile", "Load the driver with NVreg_RestrictProfilingToAdminUsers=0, or run as an administrator."},
	36:              {"the old profiler interface is in use", "Do not use cuProfilerInitialize in the same program."},
	38:              {"this GPU needs a newer profiling library", "Install a CUPTI as new as the GPU: 12.8 or later for Blackwell."},
	OtherSubscriber: {"another profiler is attached to this process", "End the other one: Nsight Systems or Compute, cuda-gdb, compute-sanitizer or torch.profiler, or an NVTX_INJECTION64_PATH that names libcupti."},
	40:              {"profiling is not allowed on this virtual GPU", "Ask the administrator of the hypervisor to allow it."},
	41:              {"the GPU is in confidential computing mode", "Use a GPU without confidential computing."},
	42:              {"mining processors cannot be profiled", ""},
	43:              {"the GPU is divided (MIG) in a way that cannot be profiled", "Use a whole GPU."},
	44:              {"linked GPUs (SLI) cannot be profiled", ""},
	45:              {"WSL does not support it", "Update the Windows driver, and allow profiling for all users in NVIDIA's control panel."},
}

// Error is a result of CUPTI that is not success.
type Error struct {
	Doing  string // "subscribing"
	Result Result
	Text   string // what the library says of it
}

// Error says what went wrong in words, with CUPTI's number.
func (e *Error) Error() string {
	if r, ok := results[e.Result]; ok {
		if e.Result == absent {
			return fmt.Sprintf("%s: %s", e.Doing, r.text)
		}
		return fmt.Sprintf("%s: %s (CUPTI error %d)", e.Doing, r.text, e.Result)
	}
	if e.Text != "" {
		return fmt.Sprintf("%s: CUPTI error %d: %s", e.Doing, e.Result, e.Text)
	}
	return fmt.Sprintf("%s: CUPTI error %d", e.Doing, e.Result)
}

// Remedy is what people can do about it, empty when nobody knows.
func (e *Error) Remedy() string { return results[e.Result].fix }

// String is the number in words where there are some.
func (r Result) String() string {
	if t, ok := results[r]; ok {
		return t.text
	}
	return fmt.Sprintf("CUPTI error %d", int32(r))
}
