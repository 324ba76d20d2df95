//go:build linux && cgo && (amd64 || arm64)

package driver

/*
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"sync"
)

// Unavailable is the error of every call on a machine where CUDA cannot be used.
type Unavailable struct {
	Reason string // one line: what is missing and why
	Code   Code   // what the driver said; NoDevice when there is no driver
	Fix    string // one line: what to do, may be empty
}

func (e *Unavailable) Error() string {
	if e.Fix == "" {
		return e.Reason
	}
	return e.Reason + " (" + e.Fix + ")"
}

// Unwrap makes errors.Is(err, NoDevice) work.
func (e *Unavailable) Unwrap() error { return e.Code }

var ready = sync.OnceValues(func() (library string, err error) {
	C.cuInit(0)
	var reason, file *C.char
	code := Code(C.gander_cu_status(&reason, &file))
	library = C.GoString(file)
	switch {
	case code == 0:
		return library, nil
	case C.GoString(reason) != "":
		return "", &Unavailable{Reason: "no CUDA driver: " + C.GoString(reason), Code: code, Fix: "install NVIDIA's driver to use a GPU"}
	case code == NoDevice:
		return library, &Unavailable{Reason: "no CUDA device: " + library + " finds no GPU", Code: code, Fix: "in a container, give it the GPU: --gpus all"}
	}
	name, text := code.describe()
	return library, &Unavailable{Reason: fmt.Sprintf("no CUDA driver: %s does not start: %s (%d): %s", library, name, int(code), text), Code: code}
})

// Available returns nil when there is a driver and a device, and an *Unavailable that says what is missing otherwise.
// The first call opens the driver.
func Available() error {
	_, err := ready()
	return err
}

// Library is the file of the driver that was opened, empty when there is none.
func Library() string {
	file, _ := ready()
	return file
}

// Version is the version of CUDA that the driver supports, 12.4 being 12, 4; zero where there is no driver.
func Version() (major, minor int) {
	ready() //nolint:errcheck // a driver without device has a version
	var v C.int
	if C.cuDriverGetVersion(&v) != 0 {
		return 0, 0
	}
	return int(v) / 1000, int(v) % 1000 / 10
}
