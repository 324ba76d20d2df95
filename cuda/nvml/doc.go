// Package nvml reads what NVIDIA's management library knows of the GPUs of the machine: utilisation, memory, power, clocks,
// temperature, what slows them down, and who uses them. It also samples that into counters of a trace.
//
// The library is opened at run time, through github.com/NVIDIA/go-nvml; where there is none, Open says why. Nothing is changed on any
// device. Its one invariant: a figure that a device does not tell is NaN or negative, never zero.
package nvml

import (
	"fmt"
	"math"
	"strings"
)

// Missing is the error where NVML cannot be used.
type Missing struct {
	Why       string // one line
	Fix       string // may be empty
	NoLibrary bool   // there is no file, as on machines without NVIDIA's driver
}

func (e *Missing) Error() string {
	if e.Fix == "" {
		return "no NVML: " + e.Why
	}
	return "no NVML: " + e.Why + " (" + e.Fix + ")"
}

// System is what the library says of the driver.
type System struct {
	Driver               string // "550.54.15"
	NVML                 string
	CUDAMajor, CUDAMinor int // the version of CUDA that the driver supports
	Library              string
}

// Device is a GPU; what is negative is not known.
type Device struct {
	Index        int
	Name         string
	UUID         string  // "GPU-…"
	PCI          string  // "00000000:65:00.0"
	Major, Minor int     // compute capability
	Memory       int64   // bytes
	PowerLimit   float64 // watts
	MaxSMClock   float64 // MHz
	MaxMemClock  float64 // MHz
	MIG          bool
}

// Reading is the state of a device at one time. NaN and negative sizes are not known.
type Reading struct {
	Time        int64   // CLOCK_MONOTONIC, ns
	GPU         float64 // share of the last period in which a kernel ran, percent
	MemoryBus   float64 // share of the last period in which memory was read or written, percent
	Used, Free  int64   // bytes
	Power       float64 // watts
	Temperature float64 // °C
	SMClock     float64 // MHz
	MemClock    float64 // MHz
	Throttle    Throttle
}

func unknownReading() Reading {
	n := math.NaN()
	return Reading{GPU: n, MemoryBus: n, Used: -1, Free: -1, Power: n, Temperature: n, SMClock: n, MemClock: n}
}

// Process is a process that uses a device.
type Process struct {
	PID  int
	Name string
	Used int64 // bytes on the device, -1 when the driver does not tell
}

// Throttle are the reasons for which clocks are below their maximum (nvmlClocksEventReason*).
type Throttle uint64

// reasons are the bits of Throttle in words.
var reasons = []struct {
	bit  Throttle
	name string
	slow bool // less work gets done because of it
}{
	{0x1, "idle", false}, {0x2, "application clocks", true}, {0x4, "power cap", true}, {0x8, "hardware slowdown", true}, {0x10, "sync boost", true},
	{0x20, "thermal (software)", true}, {0x40, "thermal (hardware)", true}, {0x80, "power brake", true}, {0x100, "display clocks", true},
	{0x200, "board limit", true}, {0x400, "reliability", true},
}

// Slowed reports whether the device is held back by something else than having nothing to do.
func (t Throttle) Slowed() bool {
	for _, r := range reasons {
		if r.slow && t&r.bit != 0 {
			return true
		}
	}
	return false
}

// String names the reasons, "none" when there is none.
func (t Throttle) String() string {
	var names []string
	for _, r := range reasons {
		if t&r.bit != 0 {
			names = append(names, r.name)
			t &^= r.bit
		}
	}
	if t != 0 {
		names = append(names, fmt.Sprintf("%#x", uint64(t)))
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
