//go:build linux && cgo && (amd64 || arm64)

package dl

/*
#cgo LDFLAGS: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

static const char *path_of(void *symbol) {
	Dl_info i;
	return dladdr(symbol, &i) && i.dli_fname ? i.dli_fname : 0;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"
)

// Library is a shared library that is open. It is never closed: libraries of this kind keep threads and callbacks.
type Library struct {
	handle unsafe.Pointer
	file   string
}

// Open opens the first of files that can be opened. A file without a slash is looked for where the system's linker looks.
// The error names what was wrong with the first file that exists, or else with the first one.
func Open(files ...string) (*Library, error) {
	// dlerror speaks of the calling thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var first, there error
	for _, f := range files {
		l, err := open(f, C.RTLD_NOW|C.RTLD_LOCAL)
		if err == nil {
			return l, nil
		}
		if first == nil {
			first = err
		}
		if _, statErr := os.Stat(f); there == nil && statErr == nil {
			there = err
		}
	}
	if there != nil {
		return nil, there
	}
	if first == nil {
		first = errors.New("opening library: no file was named")
	}
	return nil, first
}

// Loaded returns the library of one of these names (sonames or paths) that the process has open already, or nil.
func Loaded(files ...string) *Library {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, f := range files {
		if l, err := open(f, C.RTLD_NOW|C.RTLD_NOLOAD); err == nil {
			return l
		}
	}
	return nil
}

func open(file string, flags C.int) (*Library, error) {
	c := C.CString(file)
	defer C.free(unsafe.Pointer(c))
	h := C.dlopen(c, flags)
	if h == nil {
		why := "it cannot be opened"
		if e := C.dlerror(); e != nil {
			why = C.GoString(e)
		}
		if !strings.Contains(why, file) {
			why = file + ": " + why
		}
		return nil, fmt.Errorf("opening library: %s", why)
	}
	return &Library{h, file}, nil
}

// Symbol returns the address of a function or variable, nil when the library has none of that name.
func (l *Library) Symbol(name string) unsafe.Pointer {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	return C.dlsym(l.handle, c)
}

// Path returns the file that a symbol of the library lies in, or else the name that the library was opened by.
func (l *Library) Path(symbol string) string {
	if p := l.Symbol(symbol); p != nil {
		if f := C.path_of(p); f != nil {
			return C.GoString(f)
		}
	}
	return l.file
}
