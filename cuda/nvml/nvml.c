//go:build linux && cgo && (amd64 || arm64)

/*
 * Every function of NVML that go-nvml calls, as a jump through a slot that gander_nvml_open fills. go-nvml itself leaves them
 * undefined for the dynamic linker to find in what it has opened by then; a program that is linked or started with
 * immediate binding (-z now, LD_BIND_NOW) would not start. With these definitions nothing is undefined.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden")))

enum { UNINITIALIZED = 1, FUNCTION_NOT_FOUND = 13 };

static int unopened(void) { return UNINITIALIZED; }
static int not_in_this_library(void) { return FUNCTION_NOT_FOUND; }

#define X(name) HIDDEN void *gander_slot_##name = (void *)unopened;
#include "symbols.h"
#undef X

#if defined(__x86_64__)
#define JUMP(name) "\tendbr64\n\tjmp *gander_slot_" name "(%rip)\n"
#define FUNCTION "@function"
#else
#define JUMP(name) "\tadrp x16, gander_slot_" name "\n\tldr x16, [x16, :lo12:gander_slot_" name "]\n\tbr x16\n"
#define FUNCTION "%function"
#endif
#define TRAMPOLINE(name)                                                                    \
	__asm__("\t.text\n\t.p2align 4\n\t.globl " name "\n\t.hidden " name "\n\t.type " name     \
		"," FUNCTION "\n" name ":\n" JUMP(name) "\t.size " name ",.-" name "\n");
#define X(name) TRAMPOLINE(#name)
#include "symbols.h"
#undef X

static const struct { const char *name; void **slot; } table[] = {
#define X(name) {#name, &gander_slot_##name},
#include "symbols.h"
#undef X
};

/* gander_nvml_open points the slots at the library in file. It returns why it cannot, NULL for success. The library stays open. */
HIDDEN const char *gander_nvml_open(const char *file) {
	void *h = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	size_t i;
	if (!h) {
		const char *e = dlerror();
		return e ? e : "it cannot be opened";
	}
	if (!dlsym(h, "nvmlInit_v2") || !dlsym(h, "nvmlErrorString")) {
		dlclose(h);
		return "it has no functions of NVML";
	}
	for (i = 0; i < sizeof table / sizeof *table; i++) {
		void *f = dlsym(h, table[i].name);
		*table[i].slot = f ? f : (void *)not_in_this_library;
	}
	return NULL;
}
