//go:build linux && cgo && (amd64 || arm64)

package driver

/*
#include "calls.h"
*/
import "C"

import "fmt"

// Code is a CUresult. It is an error, so that errors.Is(err, driver.OutOfMemory) asks for the cause of a failure.
type Code int32

// Codes that programs act on. All others are Codes as well, under the driver's own names.
const (
	InvalidValue   Code = 1
	OutOfMemory    Code = 2
	NotInitialized Code = 3
	NoDevice       Code = 100
	InvalidDevice  Code = 101
	InvalidImage   Code = 200
	InvalidContext Code = 201
	NoBinary       Code = 209 // the module was compiled for other GPUs
	InvalidPTX     Code = 218
	UnsupportedPTX Code = 222 // the PTX is newer than the driver
	NotFound       Code = 500
	NotReady       Code = 600
	IllegalAddress Code = 700
	OutOfResources Code = 701
	LaunchTimeout  Code = 702
	LaunchFailed   Code = 719
	NotSupported   Code = 801
)

// describe returns the driver's own name and text.
func (c Code) describe() (name, text string) {
	var n, t *C.char
	if C.cuGetErrorName(C.CUresult(c), &n) != 0 || n == nil {
		return "CUDA error", "the driver does not know it"
	}
	name = C.GoString(n)
	if C.cuGetErrorString(C.CUresult(c), &t) == 0 && t != nil {
		text = C.GoString(t)
	}
	return name, text
}

// Error is the driver's name of the code.
func (c Code) Error() string {
	name, text := c.describe()
	return fmt.Sprintf("%s (%d): %s", name, int32(c), text)
}

// Error is a call that the driver refused.
type Error struct {
	Op   string // what was being done: "allocating 4096 bytes on the device"
	Code Code
	Log  string // what the driver's compiler said, when a module was being loaded
}

func (e *Error) Error() string {
	s := e.Op + ": " + e.Code.Error()
	if e.Log != "" {
		s += "\n" + e.Log
	}
	return s
}

// Unwrap returns the code.
func (e *Error) Unwrap() error { return e.Code }

// failed returns the error of a call, nil for success.
func failed(r C.CUresult, op string, args ...any) error {
	if r == 0 {
		return nil
	}
	if _, err := ready(); err != nil {
		return err
	}
	if len(args) > 0 {
		op = fmt.Sprintf(op, args...)
	}
	return &Error{Op: op, Code: Code(r)}
}
