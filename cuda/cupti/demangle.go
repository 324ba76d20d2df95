//go:build linux && cgo && (amd64 || arm64)

package cupti

/*
#include <stdlib.h>

typedef char *(*demangler)(const char *, char *, size_t *, int *);
static char *demangle(void *f, const char *name) {
	int status;
	return ((demangler)f)(name, 0, 0, &status);
}
*/
import "C"

import (
	"strings"
	"sync"
	"unsafe"

	"github.com/gander-go/gander/cuda/internal/dl"
)

// demangler is the C++ runtime's own function (__cxa_demangle), nil where there is no C++ runtime. Profiles are printed in
// the process that records them, which must not link a demangler: cells could not use another version of it then.
var demangler = sync.OnceValue(func() unsafe.Pointer {
	lib, err := dl.Open("libstdc++.so.6", "libc++abi.so.1", "libc++.so.1")
	if err != nil {
		return nil
	}
	return lib.Symbol("__cxa_demangle")
})

// Demangle returns the C++ name of a kernel, as torch.profiler shows it: "void f<float>(float*)". A name that is not
// mangled, or cannot be demangled here, is returned as it is.
func Demangle(name string) string {
	if !strings.HasPrefix(name, "_Z") {
		return name
	}
	f := demangler()
	if f == nil {
		return name
	}
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	d := C.demangle(f, c)
	if d == nil {
		return name
	}
	defer C.free(unsafe.Pointer(d))
	return C.GoString(d)
}
