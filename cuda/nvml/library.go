//go:build linux && cgo && (amd64 || arm64)

package nvml

/*
#cgo LDFLAGS: -ldl
#include <stdlib.h>
extern const char *gander_nvml_open(const char *file);
*/
import "C"

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	nv "github.com/NVIDIA/go-nvml/pkg/nvml"
	"golang.org/x/sys/unix"
)

// Library is NVML, opened. It is safe for concurrent use and is never closed.
type Library struct {
	system  System
	api     nv.Interface
	handles []nv.Device
	devices []Device
}

// opened is the library, once Open has succeeded: the functions of a process can be bound to one library only.
var opened struct {
	// mu guards library.
	mu      sync.Mutex
	library *Library
}

const soname = "libnvidia-ml.so.1"

// Open opens NVML and lists the devices. Where that fails the error is a *Missing, and a later call tries again; where it
// succeeds later calls return the same. GANDER_LIBNVML names another file.
func Open() (*Library, error) {
	opened.mu.Lock()
	defer opened.mu.Unlock()
	if opened.library != nil {
		return opened.library, nil
	}
	file := os.Getenv("GANDER_LIBNVML")
	if file == "" {
		file = soname
	}
	name := C.CString(file)
	defer C.free(unsafe.Pointer(name))
	// The reason is dlerror's, which belongs to the thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if why := C.gander_nvml_open(name); why != nil {
		return nil, &Missing{Why: C.GoString(why), Fix: "it comes with NVIDIA's driver", NoLibrary: true}
	}
	l := &Library{api: nv.New(nv.WithLibraryPath(file)), system: System{Library: file}}
	switch r := l.api.Init(); r {
	case nv.SUCCESS:
	case nv.ERROR_DRIVER_NOT_LOADED:
		return nil, &Missing{Why: "the kernel module of the driver is not loaded", Fix: "in a container, give it the GPU: --gpus all"}
	case nv.ERROR_LIB_RM_VERSION_MISMATCH:
		return nil, &Missing{Why: "library and kernel module of the driver are of different versions", Fix: "restart the machine after an update of the driver"}
	default:
		return nil, &Missing{Why: "it does not start: " + text(l.api, r), Fix: ""}
	}
	if err := l.list(); err != nil {
		return nil, err
	}
	opened.library = l
	return l, nil
}

func text(api nv.Interface, r nv.Return) string {
	return fmt.Sprintf("%s (%d)", api.ErrorString(r), int(r))
}

func (l *Library) list() error {
	l.system.Driver, _ = l.api.SystemGetDriverVersion()
	l.system.NVML, _ = l.api.SystemGetNVMLVersion()
	if v, r := l.api.SystemGetCudaDriverVersion(); r == nv.SUCCESS {
		l.system.CUDAMajor, l.system.CUDAMinor = v/1000, v%1000/10
	}
	n, r := l.api.DeviceGetCount()
	if r != nv.SUCCESS {
		return &Missing{Why: "devices cannot be counted: " + text(l.api, r), Fix: ""}
	}
	for i := range n {
		h, r := l.api.DeviceGetHandleByIndex(i)
		if r != nv.SUCCESS {
			continue // one that this user may not see, or that has fallen off the bus
		}
		d := Device{Index: i, Name: fmt.Sprintf("GPU %d", i), Major: -1, Minor: -1, Memory: -1, PowerLimit: math.NaN(), MaxSMClock: math.NaN(), MaxMemClock: math.NaN()}
		if s, r := h.GetName(); r == nv.SUCCESS {
			d.Name = s
		}
		if s, r := h.GetUUID(); r == nv.SUCCESS {
			d.UUID = s
		}
		if p, r := h.GetPciInfo(); r == nv.SUCCESS {
			d.PCI = chars(p.BusId[:])
		}
		if major, minor, r := h.GetCudaComputeCapability(); r == nv.SUCCESS {
			d.Major, d.Minor = major, minor
		}
		if m, r := h.GetMemoryInfo(); r == nv.SUCCESS {
			d.Memory = int64(m.Total)
		}
		if p, r := h.GetEnforcedPowerLimit(); r == nv.SUCCESS {
			d.PowerLimit = float64(p) / 1000
		}
		d.MaxSMClock = figure(h.GetMaxClockInfo(nv.CLOCK_SM))
		d.MaxMemClock = figure(h.GetMaxClockInfo(nv.CLOCK_MEM))
		if on, _, r := h.GetMigMode(); r == nv.SUCCESS {
			d.MIG = on == nv.DEVICE_MIG_ENABLE
		}
		l.handles = append(l.handles, h)
		l.devices = append(l.devices, d)
	}
	return nil
}

func chars(b []int8) string {
	var s strings.Builder
	for _, c := range b {
		if c == 0 {
			break
		}
		s.WriteByte(byte(c))
	}
	return s.String()
}

func figure(v uint32, r nv.Return) float64 {
	if r != nv.SUCCESS {
		return math.NaN()
	}
	return float64(v)
}

// System describes the driver.
func (l *Library) System() System { return l.system }

// Devices lists the devices.
func (l *Library) Devices() []Device { return l.devices }

// Read reads the state of the i-th device of Devices. It takes the driver about a millisecond.
func (l *Library) Read(i int) Reading {
	h := l.handles[i]
	v := unknownReading()
	if u, r := h.GetUtilizationRates(); r == nv.SUCCESS {
		v.GPU, v.MemoryBus = float64(u.Gpu), float64(u.Memory)
	}
	// The newer form leaves out what the driver keeps for itself, as nvidia-smi does.
	if m, r := h.GetMemoryInfo_v2(); r == nv.SUCCESS {
		v.Used, v.Free = int64(m.Used), int64(m.Free)
	} else if m, r := h.GetMemoryInfo(); r == nv.SUCCESS {
		v.Used, v.Free = int64(m.Used), int64(m.Free)
	}
	if p := figure(h.GetPowerUsage()); !math.IsNaN(p) {
		v.Power = p / 1000
	}
	v.Temperature = figure(h.GetTemperature(nv.TEMPERATURE_GPU))
	v.SMClock, v.MemClock = figure(h.GetClockInfo(nv.CLOCK_SM)), figure(h.GetClockInfo(nv.CLOCK_MEM))
	if t, r := h.GetCurrentClocksThrottleReasons(); r == nv.SUCCESS {
		v.Throttle = Throttle(t)
	}
	v.Time = monotonic()
	return v
}

// Processes lists who uses the i-th device of Devices, in the order of the driver. A container sees only its own.
func (l *Library) Processes(i int) []Process {
	var list []Process
	seen := map[uint32]bool{}
	for _, read := range []func() ([]nv.ProcessInfo, nv.Return){l.handles[i].GetComputeRunningProcesses, l.handles[i].GetGraphicsRunningProcesses} {
		infos, r := read()
		if r != nv.SUCCESS {
			continue
		}
		for _, p := range infos {
			if seen[p.Pid] {
				continue
			}
			seen[p.Pid] = true
			q := Process{PID: int(p.Pid), Used: -1}
			if p.UsedGpuMemory != math.MaxUint64 {
				q.Used = int64(p.UsedGpuMemory)
			}
			if s, r := l.api.SystemGetProcessName(q.PID); r == nv.SUCCESS {
				q.Name = s
			}
			list = append(list, q)
		}
	}
	return list
}

// monotonic reads CLOCK_MONOTONIC, which all processes share.
func monotonic() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	return ts.Nano()
}
