//go:build linux && cgo && (amd64 || arm64)

// Package feed hands records to the stand-in for CUPTI, which delivers them as its own: through buffers that it asks for,
// in no order. It is for tests, whose files cannot use C themselves.
package feed

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>

static void *named(const char *file, const char *name) {
	void *h = dlopen(file, RTLD_NOW);
	return h ? dlsym(h, name) : 0;
}
static unsigned long long pop(void *f) {
	unsigned long long id = 0;
	return ((int (*)(int, unsigned long long *))f)(3, &id) ? 0 : id;
}
static void push(void *f, unsigned long long id) { ((int (*)(int, unsigned long long))f)(3, id); }
static void emit(void *f, const void *record, size_t n) { ((void (*)(const void *, size_t))f)(record, n); }
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// Feed is a stand-in to feed.
type Feed struct{ emit, push, pop unsafe.Pointer }

// Open finds the stand-in that was built as file.
func Open(file string) (*Feed, error) {
	c := C.CString(file)
	defer C.free(unsafe.Pointer(c))
	var f Feed
	for name, to := range map[string]*unsafe.Pointer{
		"standin_cupti_emit": &f.emit, "cuptiActivityPushExternalCorrelationId": &f.push, "cuptiActivityPopExternalCorrelationId": &f.pop,
	} {
		n := C.CString(name)
		*to = C.named(c, n)
		C.free(unsafe.Pointer(n))
		if *to == nil {
			return nil, fmt.Errorf("feeding %q: it is no stand-in for CUPTI: it has no %s", file, name)
		}
	}
	return &f, nil
}

// Emit delivers a record.
func (f *Feed) Emit(record []byte) {
	C.emit(f.emit, unsafe.Pointer(&record[0]), C.size_t(len(record)))
}

// Top is the innermost external id of the calling thread, 0 when there is none.
func (f *Feed) Top() uint64 {
	id := C.pop(f.pop)
	if id != 0 {
		C.push(f.push, id)
	}
	return uint64(id)
}

// Text is the address of a C string, which is never freed.
func Text(s string) uint64 { return uint64(uintptr(unsafe.Pointer(C.CString(s)))) }
