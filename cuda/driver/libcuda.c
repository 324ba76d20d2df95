//go:build linux && cgo && (amd64 || arm64)

/*
 * A libcuda of our own: every function of the driver API as a jump through a slot, so that a program that calls it links
 * and starts on a machine without a driver. cuInit opens the machine's libcuda and points the slots at it; until then,
 * and where there is none, every function returns the reason as a CUresult.
 *
 * It is compiled into package driver, and into the libcuda.a that the workspace of cells offers to other packages
 * (gorgonia.org/cu, above all). All symbols are hidden: a program may hold several copies, one for each plugin, and the
 * driver itself, CUPTI and the CUDA runtime must never bind to them. Every copy opens the same library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIDDEN __attribute__((visibility("hidden")))

enum { NO_DEVICE = 100, SHARED_OBJECT_INIT_FAILED = 303, NOT_SUPPORTED = 801 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int status = NO_DEVICE; /* of the real cuInit; NO_DEVICE where there is no library */
static char why[512];          /* why there is no library */
static char path[512];         /* the file that was opened */

/* What slots point at: functions with any arguments. */
static int unavailable(void) { return status; }
static int not_in_this_driver(void) { return NOT_SUPPORTED; }

#define X(name) HIDDEN void *gander_slot_##name = (void *)unavailable;
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

static void *open_driver(void) {
	const char *named = getenv("GANDER_LIBCUDA");
	const char *files[] = {"libcuda.so.1", "libcuda.so", NULL}, **f = files;
	void *h = NULL;
	if (named && *named) {
		files[0] = named;
		files[1] = NULL;
	}
	for (; !h && *f; f++) {
		h = dlopen(*f, RTLD_NOW | RTLD_LOCAL);
		if (!h && !why[0]) { /* the first name is the one to complain of */
			const char *e = dlerror();
			snprintf(why, sizeof why, "%s", e ? e : "it cannot be opened");
		}
	}
	return h;
}

static void load(void) {
	void *h = open_driver();
	int (*init)(unsigned);
	size_t i;
	Dl_info info;
	if (!h) return;
	init = (int (*)(unsigned))dlsym(h, "cuInit");
	status = init ? init(0) : SHARED_OBJECT_INIT_FAILED;
	if (init && dladdr((void *)init, &info) && info.dli_fname) snprintf(path, sizeof path, "%s", info.dli_fname);
	why[0] = 0;
	for (i = 0; i < sizeof table / sizeof *table; i++) {
		void *f = dlsym(h, table[i].name);
		/* These answer without a device. */
		int always = !strcmp(table[i].name, "cuDriverGetVersion") || !strncmp(table[i].name, "cuGetError", 10);
		if (status == 0 || always) *table[i].slot = f ? f : (void *)not_in_this_driver;
	}
}

/* cuInit succeeds always, because packages end the process where it fails; the calls that follow tell what is missing. */
HIDDEN int cuInit(unsigned flags) {
	(void)flags;
	pthread_once(&once, load);
	return 0;
}

/* gander_cu_status is what the real cuInit said, and where the library is or why there is none. */
HIDDEN int gander_cu_status(const char **reason, const char **file) {
	pthread_once(&once, load);
	*reason = why;
	*file = path;
	return status;
}
