//go:build linux && cgo && (amd64 || arm64)

package nvrtc

/*
#cgo LDFLAGS: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

typedef struct nvrtc {
	const char *(*error)(int);
	int (*version)(int *, int *);
	int (*archs_n)(int *);
	int (*archs)(int *);
	int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
	int (*destroy)(void **);
	int (*compile)(void *, int, const char *const *);
	int (*log_size)(void *, size_t *);
	int (*log)(void *, char *);
	int (*ptx_size)(void *, size_t *);
	int (*ptx)(void *, char *);
	int (*cubin_size)(void *, size_t *);
	int (*cubin)(void *, char *);
	int (*add_name)(void *, const char *);
	int (*lowered)(void *, const char *, const char **);
} nvrtc;

static void *nvrtc_open(const char *file, nvrtc *l, const char **why, const char **path) {
	Dl_info info;
	void *h = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!h) {
		*why = dlerror();
		return NULL;
	}
	*(void **)&l->error = dlsym(h, "nvrtcGetErrorString");
	*(void **)&l->version = dlsym(h, "nvrtcVersion");
	*(void **)&l->archs_n = dlsym(h, "nvrtcGetNumSupportedArchs");
	*(void **)&l->archs = dlsym(h, "nvrtcGetSupportedArchs");
	*(void **)&l->create = dlsym(h, "nvrtcCreateProgram");
	*(void **)&l->destroy = dlsym(h, "nvrtcDestroyProgram");
	*(void **)&l->compile = dlsym(h, "nvrtcCompileProgram");
	*(void **)&l->log_size = dlsym(h, "nvrtcGetProgramLogSize");
	*(void **)&l->log = dlsym(h, "nvrtcGetProgramLog");
	*(void **)&l->ptx_size = dlsym(h, "nvrtcGetPTXSize");
	*(void **)&l->ptx = dlsym(h, "nvrtcGetPTX");
	*(void **)&l->cubin_size = dlsym(h, "nvrtcGetCUBINSize");
	*(void **)&l->cubin = dlsym(h, "nvrtcGetCUBIN");
	*(void **)&l->add_name = dlsym(h, "nvrtcAddNameExpression");
	*(void **)&l->lowered = dlsym(h, "nvrtcGetLoweredName");
	if (!l->error || !l->version || !l->create || !l->destroy || !l->compile || !l->log_size || !l->log || !l->ptx_size || !l->ptx || !l->add_name || !l->lowered) {
		*why = "it is no NVRTC: functions are missing";
		dlclose(h);
		return NULL;
	}
	*path = dladdr((void *)l->version, &info) && info.dli_fname ? info.dli_fname : file;
	return h;
}

static const char *nvrtc_error(nvrtc *l, int r) { return l->error(r); }
static int nvrtc_version(nvrtc *l, int *a, int *b) { return l->version(a, b); }
static int nvrtc_archs_n(nvrtc *l, int *n) { return l->archs_n && l->archs ? l->archs_n(n) : (*n = 0, 0); }
static int nvrtc_archs(nvrtc *l, int *a) { return l->archs(a); }
static int nvrtc_create(nvrtc *l, void **p, const char *src, const char *name) { return l->create(p, src, name, 0, NULL, NULL); }
static void nvrtc_destroy(nvrtc *l, void *p) { l->destroy(&p); }
static int nvrtc_compile(nvrtc *l, void *p, int n, char **o) { return l->compile(p, n, (const char *const *)o); }
static int nvrtc_add_name(nvrtc *l, void *p, const char *e) { return l->add_name(p, e); }
static int nvrtc_lowered(nvrtc *l, void *p, const char *e, const char **name) { return l->lowered(p, e, name); }

// nvrtc_read returns a copy of what 0: log, 1: PTX, 2: CUBIN, to be freed.
static int nvrtc_read(nvrtc *l, void *p, int what, char **out, size_t *n) {
	int (*size)(void *, size_t *) = what == 0 ? l->log_size : what == 1 ? l->ptx_size : l->cubin_size;
	int (*get)(void *, char *) = what == 0 ? l->log : what == 1 ? l->ptx : l->cubin;
	int r;
	*out = NULL;
	*n = 0;
	if (!size || !get) return 5; // NVRTC_ERROR_INVALID_OPTION
	if ((r = size(p, n)) || !*n) return r;
	if (!(*out = malloc(*n))) return 1;
	return get(p, *out);
}
*/
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/gander-go/gander/cuda/internal/dl"
)

// Library is an NVRTC that was opened. It is safe for concurrent use and stays open as long as the process lives.
type Library struct {
	Path         string
	Major, Minor int // version of CUDA
	api          *C.nvrtc
	includes     []string
}

// Open opens the NVRTC that fits a driver for CUDA of major version fits best; 0 means any. The error is a *Missing where
// there is none.
func Open(fits int) (*Library, error) {
	// The reason why a file cannot be opened is dlerror's, which belongs to the thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	api := (*C.nvrtc)(C.calloc(1, C.sizeof_nvrtc))
	first := ""
	for _, f := range search(fits).Files() {
		file := C.CString(f)
		var why, path *C.char
		h := C.nvrtc_open(file, api, &why, &path)
		l := &Library{api: api}
		if h != nil {
			l.Path = C.GoString(path)
		}
		C.free(unsafe.Pointer(file))
		if h == nil {
			if first == "" {
				first = C.GoString(why)
			}
			continue
		}
		var major, minor C.int
		if r := C.nvrtc_version(api, &major, &minor); r != 0 {
			first = "it does not tell its version"
			continue
		}
		l.Major, l.Minor, l.includes = int(major), int(minor), includes(l.Path)
		// The library opens a part of itself by name only, and wheels do not tell it where that is.
		part := filepath.Join(filepath.Dir(l.Path), fmt.Sprintf("libnvrtc-builtins.so.%d.%d", l.Major, l.Minor))
		if _, err := os.Stat(part); err == nil {
			dl.Open(part) //nolint:errcheck // compiling reports it
		}
		return l, nil
	}
	C.free(unsafe.Pointer(api))
	return nil, &Missing{first}
}

// Architectures are the compute capabilities that the library compiles for, 90 for 9.0; none when it is too old to tell.
func (l *Library) Architectures() []int {
	var n C.int
	if C.nvrtc_archs_n(l.api, &n) != 0 || n <= 0 || n > 1000 {
		return nil
	}
	raw := make([]C.int, n)
	if C.nvrtc_archs(l.api, &raw[0]) != 0 {
		return nil
	}
	out := make([]int, n)
	for i, a := range raw {
		out[i] = int(a)
	}
	slices.Sort(out)
	return out
}

func (l *Library) failed(r C.int, what string) error {
	return fmt.Errorf("%s: %s (NVRTC %d.%d)", what, C.GoString(C.nvrtc_error(l.api, r)), l.Major, l.Minor)
}

func (l *Library) read(p unsafe.Pointer, what C.int, name string) ([]byte, error) {
	var out *C.char
	var n C.size_t
	r := C.nvrtc_read(l.api, p, what, &out, &n)
	defer C.free(unsafe.Pointer(out))
	if r != 0 {
		return nil, l.failed(r, "reading "+name)
	}
	if n == 0 {
		return nil, nil
	}
	return C.GoBytes(unsafe.Pointer(out), C.int(n)), nil
}

// compilationFailed is NVRTC_ERROR_COMPILATION, invalidOption NVRTC_ERROR_INVALID_OPTION.
const (
	invalidOption     = 5
	compilationFailed = 6
)

// Compile compiles. The error is a *CompileError when the source, or an option, is wrong.
func (l *Library) Compile(q Request) (*Result, error) {
	src, name := C.CString(q.Source), C.CString(q.Name)
	defer C.free(unsafe.Pointer(src))
	defer C.free(unsafe.Pointer(name))
	var p unsafe.Pointer
	if r := C.nvrtc_create(l.api, &p, src, name); r != 0 {
		return nil, l.failed(r, "compiling "+q.Name)
	}
	defer C.nvrtc_destroy(l.api, p)
	for _, k := range q.Kernels {
		e := C.CString(k)
		r := C.nvrtc_add_name(l.api, p, e)
		C.free(unsafe.Pointer(e))
		if r != 0 {
			return nil, l.failed(r, fmt.Sprintf("compiling %s: kernel %q", q.Name, k))
		}
	}
	options := []string{"--gpu-architecture=" + q.Arch}
	for _, dir := range l.includes {
		options = append(options, "--include-path="+dir)
	}
	options = append(options, q.Options...)
	// C reads the options while it compiles, so they and the list of them are in C's memory.
	list := unsafe.Slice((**C.char)(C.calloc(C.size_t(len(options)), C.size_t(unsafe.Sizeof(uintptr(0))))), len(options))
	defer C.free(unsafe.Pointer(&list[0]))
	for i, o := range options {
		list[i] = C.CString(o)
		defer C.free(unsafe.Pointer(list[i]))
	}
	r := C.nvrtc_compile(l.api, p, C.int(len(options)), &list[0])
	log, err := l.read(p, 0, "the compiler's log")
	text := strings.TrimRight(string(log), "\x00\n")
	notes := Parse(text)
	switch {
	case r == compilationFailed || r == invalidOption:
		if text == "" {
			text = C.GoString(C.nvrtc_error(l.api, r))
		}
		return nil, &CompileError{notes, text}
	case r != 0:
		return nil, l.failed(r, "compiling "+q.Name)
	case err != nil:
		return nil, err
	}
	out := &Result{PTX: !strings.HasPrefix(q.Arch, "sm_"), Names: map[string]string{}, Notes: notes}
	if out.PTX {
		out.Image, err = l.read(p, 1, "the PTX")
		out.Image = []byte(strings.TrimRight(string(out.Image), "\x00"))
	} else {
		out.Image, err = l.read(p, 2, "the CUBIN")
	}
	if err == nil && len(out.Image) == 0 {
		err = fmt.Errorf("compiling %s: NVRTC %d.%d makes no code for %s", q.Name, l.Major, l.Minor, q.Arch)
	}
	if err != nil {
		return nil, err
	}
	for _, k := range q.Kernels {
		e := C.CString(k)
		var lowered *C.char
		r := C.nvrtc_lowered(l.api, p, e, &lowered)
		if r == 0 {
			out.Names[k] = C.GoString(lowered)
		}
		C.free(unsafe.Pointer(e))
		if r != 0 {
			return nil, l.failed(r, fmt.Sprintf("compiling %s: kernel %q", q.Name, k))
		}
	}
	return out, nil
}
