//go:build linux && cgo && (amd64 || arm64)

package driver

/*
#include "calls.h"
*/
import "C"

import "fmt"

// Device is a GPU by its number, as CUDA_VISIBLE_DEVICES orders them.
type Device int

// Info describes a device. Sizes are in bytes.
type Info struct {
	Device             Device
	Name               string
	UUID               string // "GPU-…", as nvidia-smi prints it
	PCI                string // "0000:65:00.0"
	TotalMemory        int64
	Major, Minor       int // compute capability
	SMs                int
	ThreadsPerBlock    int
	ThreadsPerSM       int
	SharedPerBlock     int
	SharedPerSM        int
	RegistersPerBlock  int
	RegistersPerSM     int
	WarpSize           int
	ClockKHz           int
	MemoryClockKHz     int
	MemoryBusBits      int
	L2Bytes            int
	CopyEngines        int
	ManagedMemory      bool // AllocManaged works
	ConcurrentManaged  bool // the host may touch managed memory while kernels run
	StreamPriorities   bool
	UnifiedAddressing  bool
	ECC                bool
	MaxGridX, MaxGridY int
}

// String is what a person wants to read: "NVIDIA H200 (sm_90, 132 SMs, 139.8 GiB)".
func (i Info) String() string {
	return fmt.Sprintf("%s (sm_%d%d, %d SMs, %.1f GiB)", i.Name, i.Major, i.Minor, i.SMs, float64(i.TotalMemory)/(1<<30))
}

// Count returns how many devices there are.
func Count() (int, error) {
	if err := Available(); err != nil {
		return 0, err
	}
	var n C.int
	err := failed(C.cuDeviceGetCount(&n), "counting devices")
	return int(n), err
}

// Devices describes all devices.
func Devices() ([]Info, error) {
	n, err := Count()
	if err != nil {
		return nil, err
	}
	list := make([]Info, n)
	for i := range list {
		if list[i], err = Device(i).Info(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (d Device) handle() (C.CUdevice, error) {
	if err := Available(); err != nil {
		return 0, err
	}
	var h C.CUdevice
	err := failed(C.cuDeviceGet(&h, C.int(d)), "finding device %d", int(d))
	return h, err
}

// Attribute returns one of the driver's numbers (CUdevice_attribute) about the device.
func (d Device) Attribute(a int) (int, error) {
	h, err := d.handle()
	if err != nil {
		return 0, err
	}
	var v C.int
	err = failed(C.cuDeviceGetAttribute(&v, C.CUdevice_attribute(a), h), "reading attribute %d of device %d", a, int(d))
	return int(v), err
}

// Info describes the device. What an old driver does not know is zero.
func (d Device) Info() (Info, error) {
	h, err := d.handle()
	if err != nil {
		return Info{}, err
	}
	i := Info{Device: d}
	var name [256]C.char
	if err := failed(C.cuDeviceGetName(&name[0], C.int(len(name)), h), "reading the name of device %d", int(d)); err != nil {
		return Info{}, err
	}
	i.Name = C.GoString(&name[0])
	var total C.size_t
	if err := failed(C.cuDeviceTotalMem(&total, h), "reading the memory of device %d", int(d)); err != nil {
		return Info{}, err
	}
	i.TotalMemory = int64(total)
	var id C.CUuuid
	if C.cuDeviceGetUuid(&id, h) == 0 {
		var b [16]byte
		for k := range b {
			b[k] = byte(id.bytes[k])
		}
		i.UUID = fmt.Sprintf("GPU-%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	}
	get := func(a C.CUdevice_attribute) int {
		var v C.int
		if C.cuDeviceGetAttribute(&v, a, h) != 0 {
			return 0
		}
		return int(v)
	}
	i.PCI = fmt.Sprintf("%04x:%02x:%02x.0", get(C.CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID), get(C.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID), get(C.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID))
	i.Major, i.Minor = get(C.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), get(C.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
	i.SMs, i.WarpSize = get(C.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), get(C.CU_DEVICE_ATTRIBUTE_WARP_SIZE)
	i.ThreadsPerBlock, i.ThreadsPerSM = get(C.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), get(C.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)
	i.SharedPerBlock, i.SharedPerSM = get(C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK), get(C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)
	i.RegistersPerBlock, i.RegistersPerSM = get(C.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK), get(C.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)
	i.ClockKHz, i.MemoryClockKHz = get(C.CU_DEVICE_ATTRIBUTE_CLOCK_RATE), get(C.CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)
	i.MemoryBusBits, i.L2Bytes = get(C.CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH), get(C.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)
	i.CopyEngines = get(C.CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT)
	i.ManagedMemory = get(C.CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY) != 0
	i.ConcurrentManaged = get(C.CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) != 0
	i.StreamPriorities = get(C.CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED) != 0
	i.UnifiedAddressing, i.ECC = get(C.CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING) != 0, get(C.CU_DEVICE_ATTRIBUTE_ECC_ENABLED) != 0
	i.MaxGridX, i.MaxGridY = get(C.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), get(C.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)
	return i, nil
}
