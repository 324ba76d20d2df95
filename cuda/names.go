package cuda

import (
	"fmt"
	"strings"

	"github.com/gander-go/gander/cuda/cupti"
)

// callName is the name of an API function without the version that CUPTI appends: "cudaLaunchKernel_v7000" is
// "cudaLaunchKernel", and so is its variant for the default stream of a thread. Names of the driver are as they are
// linked: "cuMemAlloc_v2" stays.
func callName(full string, driver bool, id uint32) string {
	if full == "" {
		if driver {
			return fmt.Sprintf("driver call %d", id)
		}
		return fmt.Sprintf("runtime call %d", id)
	}
	if i := strings.LastIndex(full, "_v"); i > 0 && len(full)-i-2 >= 4 && digits(full[i+2:]) {
		full = full[:i]
	}
	full = strings.TrimSuffix(full, "_ptsz")
	return strings.TrimSuffix(full, "_ptds")
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return len(s) > 0
}

// noisy are calls that take next to nothing, cause nothing on a device, and come before or after every other one.
var noisy = map[string]bool{
	"cudaGetDevice": true, "cudaSetDevice": true, "cudaGetLastError": true, "cudaPeekAtLastError": true,
	"cudaEventCreate": true, "cudaEventCreateWithFlags": true, "cudaEventDestroy": true, "cudaGetDriverEntryPoint": true,
	"cuCtxGetCurrent": true, "cuCtxSetCurrent": true, "cuCtxPushCurrent_v2": true, "cuCtxPopCurrent_v2": true,
	"cuCtxGetDevice": true, "cuDeviceGet": true, "cuDeviceGetAttribute": true, "cuDeviceGetCount": true, "cuDriverGetVersion": true,
	"cuDevicePrimaryCtxGetState": true, "cuGetProcAddress": true, "cuGetProcAddress_v2": true, "cuPointerGetAttribute": true,
	"cuEventCreate": true, "cuEventDestroy_v2": true, "__cudaPushCallConfiguration": true, "__cudaPopCallConfiguration": true,
}

var copyKinds = []string{"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"}

var memoryKinds = []string{"Unknown", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"}

func nameOf[N uint8 | uint16 | uint32](list []string, n N) string {
	if int(n) < len(list) {
		return list[n]
	}
	return list[0]
}

// copyName is torch.profiler's: "Memcpy HtoD (Pageable -> Device)".
func copyName(c *cupti.Copy) string {
	return "Memcpy " + nameOf(copyKinds, c.Kind) + " (" + nameOf(memoryKinds, c.From) + " -> " + nameOf(memoryKinds, c.To) + ")"
}

func setName(s *cupti.Set) string { return "Memset (" + nameOf(memoryKinds, s.MemoryKind) + ")" }

// Types of synchronisation.
const (
	syncEvent      = 1
	syncStreamWait = 2
	syncStream     = 3
	syncContext    = 4
)

var syncNames = []string{"Sync", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"}

// overheadName is the name of a kind of overhead: the numbers are bit fields' rather than a count's.
func overheadName(kind uint32) string {
	switch kind {
	case 1:
		return "Driver Compiler"
	case 1 << 16:
		return "Buffer Flush"
	case 2 << 16:
		return "Instrumentation"
	case 3 << 16:
		return "Resource"
	case 4 << 16:
		return "Runtime Triggered Module Loading"
	case 5 << 16:
		return "Lazy Function Loading"
	case 6 << 16:
		return "Command Buffer Full"
	case 7 << 16:
		return "Activity Buffer Request"
	case 8 << 16:
		return "UVM Activity Init"
	}
	return "Overhead"
}
