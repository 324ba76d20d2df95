//go:build linux && cgo && (amd64 || arm64)

package cupti

/*
#include "cupti.h"
#include <stdlib.h>
#include <string.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/gander-go/gander/cuda/internal/dl"
)

// search is where the library is looked for.
var search = dl.Search{
	Env:   "GANDER_LIBCUPTI",
	Names: []string{"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so"},
	Extra: []string{"extras/CUPTI/lib64"},
	Wheel: []string{"cu13/lib", "cuda_cupti/lib"},
}

// Library is an open libcupti. There is at most one in a process.
type Library struct {
	File    string
	API     uint32       // what cuptiGetVersion says
	Version int          // the toolkit's: 1204 is 12.4
	Sizes   map[Kind]int // sizes of records, as the library gives them

	// mu guards what follows.
	mu       sync.Mutex
	capture  *Capture
	captures uint64 // how many there were
}

var opened = sync.OnceValues(open)

// Open opens libcupti, once for the process: the copy that the process has already, or else the first that can be opened and
// is no newer than the driver. It needs a driver that starts, because from 13.2 on the library answers nothing without one,
// and 13.2 itself ends the process.
func Open() (*Library, error) {
	if err := InitDriver(); err != nil {
		return nil, err
	}
	return opened()
}

func open() (*Library, error) {
	lib := dl.Loaded(search.Names...)
	if lib == nil {
		s := search
		if v, err := DriverVersion(); err == nil {
			s.Major = v / 100
		}
		var err error
		if lib, err = dl.Open(append(injected(), s.Files()...)...); err != nil {
			if newer, _ := filepath.Abs(search.Files()[0]); s.Major > 0 && fileExists(newer) {
				return nil, fmt.Errorf("no CUPTI library fits the driver: %s is newer than CUDA %d, which the driver is made for (%w)", newer, s.Major, err)
			}
			return nil, fmt.Errorf("no CUPTI library was found: %w", err)
		}
	}
	for i := 0; ; i++ {
		name := C.gander_cupti_symbol(C.int(i))
		if name == nil {
			break
		}
		C.gander_cupti_bind(C.int(i), lib.Symbol(C.GoString(name)))
	}
	l := &Library{File: lib.Path("cuptiGetVersion"), Sizes: map[Kind]int{}}
	if err := check("asking for CUPTI's version", C.gander_cupti_version((*C.uint32_t)(&l.API))); err != nil {
		return nil, fmt.Errorf("%s cannot be used: %w", l.File, err)
	}
	l.probe()
	if l.Sizes[KindKernel] < int(smallest[KindKernel]) {
		return nil, fmt.Errorf("%s cannot be used: its kernel records have %d bytes, and those of CUDA 11.8 have %d (install a CUPTI of CUDA 11.8 or later)",
			l.File, l.Sizes[KindKernel], smallest[KindKernel])
	}
	l.Version = Toolkit(l.API, l.Sizes[KindKernel])
	return l, nil
}

// injected is the library that NVTX is told to report to, when it is a CUPTI: a process must have only one, and NVTX opens that.
func injected() []string {
	f := os.Getenv("NVTX_INJECTION64_PATH")
	if os.Getenv(search.Env) != "" || !strings.HasPrefix(filepath.Base(f), "libcupti.so") {
		return nil
	}
	return []string{f}
}

func fileExists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// probe asks the library for the size of every kind of record.
func (l *Library) probe() {
	const size = 4096
	scratch := C.malloc(size)
	defer C.free(scratch)
	for k := Kind(1); k < 64; k++ {
		var n C.size_t
		if C.gander_cupti_stride(C.uint32_t(k), scratch, size, &n) == 0 && n > 0 && n < size {
			l.Sizes[k] = int(n)
		}
	}
}

// check makes an error of a result that is not success.
func check(doing string, r C.int) error {
	if r == 0 {
		return nil
	}
	return failed(doing, Result(r))
}

func failed(doing string, r Result) *Error {
	e := &Error{Doing: doing, Result: r}
	if r > 0 {
		if s := C.gander_cupti_error(C.int(r)); s != nil {
			e.Text = C.GoString(s)
		}
	}
	return e
}

// Timestamp reads the clock of records: CLOCK_REALTIME in nanoseconds on Linux.
func (l *Library) Timestamp() (uint64, error) {
	var ns C.uint64_t
	err := check("reading CUPTI's clock", C.gander_cupti_timestamp(&ns))
	return uint64(ns), err
}

// CallName is the name of an API function as CUPTI spells it, with its version: "cudaLaunchKernel_v7000".
func (l *Library) CallName(driver bool, id uint32) string {
	domain := C.int(2)
	if driver {
		domain = 1
	}
	if s := C.gander_cupti_call_name(domain, C.uint32_t(id)); s != nil {
		return C.GoString(s)
	}
	return ""
}

// errDriver says that there is no driver.
var errDriver = errors.New("there is no CUDA driver")

var driver = sync.OnceValue(func() error {
	lib, err := dl.Open(dl.Search{Env: "GANDER_LIBCUDA", Names: []string{"libcuda.so.1", "libcuda.so"}}.Files()...)
	if err != nil {
		return fmt.Errorf("%w: %w", errDriver, err)
	}
	for i := 0; ; i++ {
		name := C.gander_driver_symbol(C.int(i))
		if name == nil {
			return nil
		}
		C.gander_driver_bind(C.int(i), lib.Symbol(C.GoString(name)))
	}
})

// DriverVersion is the version of CUDA that the driver supports: 1204 is 12.4. It opens the driver.
func DriverVersion() (int, error) {
	if err := driver(); err != nil {
		return 0, err
	}
	var v C.int
	if r := C.gander_driver_version(&v); r != 0 {
		return 0, fmt.Errorf("asking for the driver's version: CUDA error %d", int(r))
	}
	return int(v)/1000*100 + int(v)%1000/10, nil
}

// InitDriver starts the driver; the error says why it does not.
func InitDriver() error {
	if err := driver(); err != nil {
		return err
	}
	switch r := C.gander_driver_init(); r {
	case 0:
		return nil
	case 100:
		return errors.New("there is no CUDA device (in a container, give it the GPU: --gpus all)")
	default:
		return fmt.Errorf("the CUDA driver does not start: CUDA error %d", int(r))
	}
}

// Synchronize waits for all device work of this process: that of primary contexts, and of contexts that were made while a
// capture ran.
func Synchronize() error {
	if err := driver(); err != nil {
		return err
	}
	if r := C.gander_driver_synchronize(); r > 0 {
		return fmt.Errorf("waiting for the device: CUDA error %d", int(r))
	}
	return nil
}

// Numbers of CUdevice_attribute.
const (
	attrMaxThreadsPerBlock = 1
	attrSharedPerBlock     = 8
	attrWarpSize           = 10
	attrRegistersPerBlock  = 12
	attrClockKHz           = 13
	attrSMs                = 16
	attrMemoryClockKHz     = 36
	attrMemoryBusBits      = 37
	attrMaxThreadsPerSM    = 39
	attrMajor              = 75
	attrMinor              = 76
	attrSharedPerSM        = 81
	attrRegistersPerSM     = 82
	attrMaxBlocksPerSM     = 106
)

// DriverDevices describes the devices as the driver knows them; it needs no capture.
func DriverDevices() []Device {
	if InitDriver() != nil {
		return nil
	}
	var n C.int
	if C.gander_driver_count(&n) != 0 {
		return nil
	}
	list := make([]Device, 0, n)
	for i := range n {
		attr := func(a C.int) uint32 {
			var v C.int
			if C.gander_driver_attribute(&v, a, i) != 0 || v < 0 {
				return 0
			}
			return uint32(v)
		}
		d := Device{
			ID: uint32(i), Major: attr(attrMajor), Minor: attr(attrMinor), SMs: attr(attrSMs), WarpSize: attr(attrWarpSize),
			MaxThreadsPerBlock: attr(attrMaxThreadsPerBlock), RegistersPerSM: attr(attrRegistersPerSM), RegistersPerBlock: attr(attrRegistersPerBlock),
			SharedPerSM: attr(attrSharedPerSM), SharedPerBlock: attr(attrSharedPerBlock), MaxBlocksPerSM: attr(attrMaxBlocksPerSM), ClockKHz: attr(attrClockKHz),
			// Two transfers in each cycle of a bus of that many bits.
			Bandwidth: 2 * uint64(attr(attrMemoryClockKHz)) * uint64(attr(attrMemoryBusBits)) / 8,
		}
		d.MaxWarpsPerSM = attr(attrMaxThreadsPerSM) / max(1, d.WarpSize)
		var name [256]C.char
		if C.gander_driver_name(&name[0], C.int(len(name)), i) == 0 {
			d.Name = C.GoString(&name[0])
		}
		var total C.size_t
		if C.gander_driver_memory(&total, i) == 0 {
			d.Memory = uint64(total)
		}
		list = append(list, d)
	}
	return slices.Clip(list)
}

// cString reads a C string, of at most 64 KiB.
func cString(address uint64) string {
	p := (*C.char)(*(*unsafe.Pointer)(unsafe.Pointer(&address)))
	n := C.strnlen(p, 1<<16)
	return C.GoStringN(p, C.int(n))
}
