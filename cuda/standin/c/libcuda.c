/*
 * A stand-in for libcuda.so.1: the driver API's ABI over the host's memory and clock, for tests on machines without a GPU.
 * It checks what the real driver checks (a current context on the calling thread, live handles, sizes of memory) and runs
 * the kernels of this project's tests and notebooks, which it knows by name, on the host. Everything is done when the call
 * returns; so it is correct, and says nothing about speed.
 *
 * STANDIN_DEVICES=n       devices (1), 0 makes cuInit fail with CUDA_ERROR_NO_DEVICE
 * STANDIN_INIT=code       what cuInit returns
 * STANDIN_FAIL=name:code  that function fails; with the code "hang" it never returns, with "crash" it ends the process
 * STANDIN_MEMORY=bytes    of each device (1 GiB)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int R;
typedef unsigned long long P;
enum { INVALID = 1, NOMEM = 2, UNINIT = 3, NODEV = 100, BADDEV = 101, BADIMAGE = 200, BADCTX = 201, BADPTX = 218, BADHANDLE = 400, NOTFOUND = 500, ILLEGAL = 700, NORES = 701, UNCAPTURABLE = 900, INVALIDATED = 901 };

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static int initialised;
static long long now_ns(void) { struct timespec t; clock_gettime(CLOCK_REALTIME, &t); return t.tv_sec * 1000000000LL + t.tv_nsec; }
static long long env(const char *n, long long d) { const char *v = getenv(n); return v && *v ? atoll(v) : d; }
static int fails(const char *name) {
	const char *v = getenv("STANDIN_FAIL"), *c;
	if (!v || !(c = strchr(v, ':')) || strncmp(v, name, c - v) || name[c - v]) return 0;
	if (!strcmp(c + 1, "hang")) for (;;) pause();
	if (!strcmp(c + 1, "crash")) abort();
	return atoi(c + 1);
}
#define API(name) { int f_ = fails(name); if (f_) return f_; if (!initialised) return UNINIT; }

/* ---- what a stand-in for CUPTI hears of; both are optional ---- */
typedef struct {
	uint32_t kind; /* 1 call 2 kernel 3 copy 4 set 5 alloc 6 free 7 sync, copy_kind says of what, 8 graph, after what ran in it, 9 pool, copy_kind says what */
	uint32_t cbid, correlation, device, context, stream; long long start, end; unsigned long long bytes, address; uint32_t copy_kind; const char *name; uint32_t grid[3], block[3], shared;
	uint32_t from, to, graph; unsigned long long node, pool, pool_size, pool_used;
} standin_event;
static void (*observer)(const standin_event *);
static uint32_t correlation;
__attribute__((visibility("default"))) void standin_cuda_observe(void (*f)(const standin_event *)) { observer = f; }
static __thread uint32_t current_correlation;
static void tell(standin_event e) { if (observer) { e.correlation = current_correlation; observer(&e); } }

typedef struct ctx { int magic, device, id, retained; } ctx;
struct graph;
typedef struct { int magic, id; ctx *c; struct graph *capture; } stream;
typedef struct { int magic; long long at; int recorded; ctx *c; } event;
typedef struct { int magic; ctx *c; char *image; size_t size; } module;
typedef struct { int magic; module *m; char name[256]; } function;
#define LIVE(h, m) ((h) && (h)->magic == (m))
enum { CTX = 0xC0, STREAM = 0x57, EVENT = 0xE7, MODULE = 0x3D, FUNCTION = 0xF0, GRAPH = 0x96, EXEC = 0xEC };

static ctx primary[8];
static __thread ctx *stack[32];
static __thread int depth;
static ctx *current(void) { return depth ? stack[depth - 1] : NULL; }
#define CURRENT ctx *c = current(); if (!LIVE(c, CTX)) return BADCTX;

typedef struct block { P at; size_t n; int device, kind; struct block *next; } block; /* kind 1 device 2 pinned 3 managed 4 of the device's pool */
static block *blocks;
static size_t used[8];
static size_t total(void) { return env("STANDIN_MEMORY", 1LL << 30); }
static int devices(void) { return (int)env("STANDIN_DEVICES", 1); }
static block *holding(P p, size_t n) {
	block *b;
	for (b = blocks; b; b = b->next) if (p >= b->at && p + n <= b->at + b->n) return b;
	return NULL;
}
static uint32_t kind_of(P p) { block *b = holding(p, 1); return !b ? 1 : b->kind == 2 ? 2 : b->kind == 3 ? 5 : 3; } /* as CUPTI numbers memory */
/* For a stand-in of NVML: bytes that this process has on a device. */
__attribute__((visibility("default"))) unsigned long long standin_cuda_used(int d) { return d >= 0 && d < 8 ? used[d] : 0; }
static struct { size_t size, used; int made; } pools[8];
enum { POOL_STEP = 2 << 20 };
static P pool_address(int d) { return 0x9000 + (P)d; }
static void tell_pool(int d, uint32_t what) {
	tell((standin_event){.kind = 9, .copy_kind = what, .device = d, .context = d + 1, .start = now_ns(), .pool = pool_address(d), .pool_size = pools[d].size, .pool_used = pools[d].used});
}
static uint32_t correlation_of_call(void) { return current_correlation = __sync_add_and_fetch(&correlation, 1); }
static void call(uint32_t cbid, long long start) { tell((standin_event){.kind = 1, .cbid = cbid, .start = start, .end = now_ns()}); }
static standin_event about(const block *b, uint32_t what, long long at) {
	standin_event e = {.kind = what, .bytes = b->n, .address = b->at, .device = b->device, .context = b->device + 1, .start = at, .copy_kind = b->kind};
	if (b->kind == 4) e.pool = pool_address(b->device), e.pool_size = pools[b->device].size, e.pool_used = pools[b->device].used;
	return e;
}
static R take(P *p, size_t n, int kind, int device) {
	long long t0 = now_ns(), at;
	void *m;
	block *b;
	if (!n) return INVALID;
	pthread_mutex_lock(&mu);
	if (kind != 2 && used[device] + n > total()) { pthread_mutex_unlock(&mu); return NOMEM; }
	if (posix_memalign(&m, 512, n)) { pthread_mutex_unlock(&mu); return NOMEM; }
	memset(m, 0xA5, n);
	b = malloc(sizeof *b);
	*b = (block){(P)(uintptr_t)m, n, device, kind, blocks};
	blocks = b;
	if (kind != 2) used[device] += n;
	if (kind == 4) {
		pools[device].used += n;
		if (pools[device].size < pools[device].used) pools[device].size = (pools[device].used + POOL_STEP - 1) / POOL_STEP * POOL_STEP;
	}
	pthread_mutex_unlock(&mu);
	*p = b->at;
	correlation_of_call();
	if (kind == 4 && !pools[device].made++) tell_pool(device, 1);
	at = now_ns();
	call(kind == 1 ? 243 : kind == 2 ? 39 : kind == 3 ? 371 : 598, t0);
	tell(about(b, 5, at));
	return 0;
}
static R give(P p, int kind) {
	long long t0 = now_ns(), at;
	block **b, *d;
	pthread_mutex_lock(&mu);
	for (b = &blocks; *b && (*b)->at != p; b = &(*b)->next) {}
	d = *b;
	if (!d || (d->kind == 2) != (kind == 2)) { pthread_mutex_unlock(&mu); return INVALID; }
	*b = d->next;
	if (d->kind != 2) used[d->device] -= d->n;
	if (d->kind == 4) pools[d->device].used -= d->n;
	pthread_mutex_unlock(&mu);
	correlation_of_call();
	at = now_ns();
	call(kind == 2 ? 38 : kind == 4 ? 600 : 245, t0);
	tell(about(d, 6, at));
	free((void *)(uintptr_t)p);
	free(d);
	return 0;
}

R cuInit(unsigned flags) {
	R r = (R)env("STANDIN_INIT", 0);
	(void)flags;
	if (!r && !devices()) r = NODEV;
	if (!r) initialised = 1;
	return r;
}
/* NVRTC asks the driver of its process for private functions, and does without them where there are none. */
R cuGetExportTable(const void **table, const void *id) { (void)id; *table = NULL; return NOTFOUND; }
R cuDriverGetVersion(int *v) { *v = (int)env("STANDIN_CUDA_VERSION", 12040); return 0; }
static const struct { R code; const char *name, *text; } errors[] = {
	{0, "CUDA_SUCCESS", "no error"}, {INVALID, "CUDA_ERROR_INVALID_VALUE", "invalid argument"}, {NOMEM, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{UNINIT, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"}, {NODEV, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
	{BADDEV, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}, {BADIMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
	{BADCTX, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}, {BADPTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
	{BADHANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}, {NOTFOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{ILLEGAL, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}, {NORES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
	{UNCAPTURABLE, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
	{INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
	{803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
};
R cuGetErrorName(R e, const char **s) { for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) if (errors[i].code == e) { *s = errors[i].name; return 0; } *s = NULL; return INVALID; }
R cuGetErrorString(R e, const char **s) { for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) if (errors[i].code == e) { *s = errors[i].text; return 0; } *s = NULL; return INVALID; }

R cuDeviceGetCount(int *n) { API("cuDeviceGetCount") *n = devices(); return 0; }
R cuDeviceGet(int *d, int i) { API("cuDeviceGet") if (i < 0 || i >= devices()) return BADDEV; *d = i; return 0; }
R cuDeviceGetName(char *b, int n, int d) { API("cuDeviceGetName") if (d < 0 || d >= devices()) return BADDEV; snprintf(b, n, "Stand-in GPU %d", d); return 0; }
R cuDeviceTotalMem_v2(size_t *n, int d) { API("cuDeviceTotalMem_v2") if (d < 0 || d >= devices()) return BADDEV; *n = total(); return 0; }
R cuDeviceGetUuid(char *u, int d) { API("cuDeviceGetUuid") for (int i = 0; i < 16; i++) u[i] = (char)(d + i); return 0; }
R cuDeviceGetUuid_v2(char *u, int d) { return cuDeviceGetUuid(u, d); }
R cuDeviceGetAttribute(int *v, int a, int d) {
	static const int known[][2] = {{1, 1024}, {2, 1024}, {5, 0x7fffffff}, {6, 65535}, {8, 49152}, {10, 32}, {12, 65536}, {13, 1980000}, {16, 4}, {31, 1}, {33, 0x65}, {34, 0}, {36, 3201000}, {37, 6144}, {38, 52428800}, {39, 2048}, {40, 3}, {41, 1}, {50, 0}, {75, 9}, {76, 0}, {78, 1}, {81, 233472}, {82, 65536}, {83, 1}, {89, 1}};
	API("cuDeviceGetAttribute")
	if (d < 0 || d >= devices()) return BADDEV;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) if (known[i][0] == a) { *v = known[i][1]; return 0; }
	*v = 0;
	return a > 0 && a < 150 ? 0 : INVALID;
}
R cuDevicePrimaryCtxRetain(ctx **c, int d) {
	API("cuDevicePrimaryCtxRetain")
	if (d < 0 || d >= devices() || d >= 8) return BADDEV;
	pthread_mutex_lock(&mu);
	primary[d].magic = CTX; primary[d].device = d; primary[d].id = d + 1; primary[d].retained++;
	pthread_mutex_unlock(&mu);
	*c = &primary[d];
	return 0;
}
R cuDevicePrimaryCtxRelease_v2(int d) {
	API("cuDevicePrimaryCtxRelease_v2")
	if (d < 0 || d >= 8 || !primary[d].retained) return BADCTX;
	if (!--primary[d].retained) primary[d].magic = 0;
	return 0;
}
R cuDevicePrimaryCtxRelease(int d) { return cuDevicePrimaryCtxRelease_v2(d); }
R cuDevicePrimaryCtxGetState(int d, unsigned *f, int *a) { *f = 0; *a = primary[d].retained > 0; return 0; }
R cuCtxCreate_v2(ctx **c, unsigned f, int d) { R r; (void)f; API("cuCtxCreate_v2") r = cuDevicePrimaryCtxRetain(c, d); if (!r && depth < 32) stack[depth++] = *c; return r; }
R cuCtxDestroy_v2(ctx *c) { API("cuCtxDestroy_v2") if (!LIVE(c, CTX)) return BADCTX; if (current() == c) depth--; return cuDevicePrimaryCtxRelease_v2(c->device); }
R cuCtxPushCurrent_v2(ctx *c) { API("cuCtxPushCurrent_v2") if (!LIVE(c, CTX)) return BADCTX; if (depth == 32) return INVALID; stack[depth++] = c; return 0; }
R cuCtxPopCurrent_v2(ctx **c) { API("cuCtxPopCurrent_v2") if (!depth) return BADCTX; *c = stack[--depth]; return 0; }
R cuCtxSetCurrent(ctx *c) { API("cuCtxSetCurrent") if (c && !LIVE(c, CTX)) return BADCTX; if (!depth) depth = 1; stack[depth - 1] = c; return 0; }
R cuCtxGetCurrent(ctx **c) { API("cuCtxGetCurrent") *c = current(); return 0; }
R cuCtxGetDevice(int *d) { API("cuCtxGetDevice") { CURRENT *d = c->device; } return 0; }
static R waited(uint32_t cbid, int what, ctx *c, uint32_t stream, long long t0) {
	size_t kept = (pools[c->device].used + POOL_STEP - 1) / POOL_STEP * POOL_STEP;
	correlation_of_call();
	call(cbid, t0);
	if (pools[c->device].size > kept) { /* a pool gives back what it does not use when the host waits: its threshold is 0 */
		pools[c->device].size = kept;
		tell_pool(c->device, 3);
	}
	tell((standin_event){.kind = 7, .copy_kind = what, .start = t0, .end = now_ns(), .device = c->device, .context = c->id, .stream = stream});
	return 0;
}
R cuCtxSynchronize(void) { API("cuCtxSynchronize") { CURRENT return waited(17, 4, c, 0xFFFFFFFF, now_ns()); } }
R cuMemGetInfo_v2(size_t *f, size_t *t) { API("cuMemGetInfo_v2") { CURRENT *t = total(); *f = total() - used[c->device]; } return 0; }

R cuMemAlloc_v2(P *p, size_t n) { API("cuMemAlloc_v2") CURRENT return take(p, n, 1, c->device); }
R cuMemFree_v2(P p) { API("cuMemFree_v2") CURRENT (void)c; return p ? give(p, 1) : 0; }
R cuMemAllocAsync(P *p, size_t n, stream *s) { (void)s; API("cuMemAllocAsync") CURRENT return take(p, n, 4, c->device); }
R cuMemFreeAsync(P p, stream *s) { block *b; (void)s; API("cuMemFreeAsync") CURRENT (void)c; b = holding(p, 1); return b && b->kind == 4 ? give(p, 4) : INVALID; }
R cuMemHostAlloc(void **p, size_t n, unsigned f) { P a; R r; (void)f; API("cuMemHostAlloc") CURRENT r = take(&a, n, 2, c->device); if (!r) *p = (void *)(uintptr_t)a; return r; }
R cuMemAllocHost_v2(void **p, size_t n) { return cuMemHostAlloc(p, n, 0); }
R cuMemFreeHost(void *p) { API("cuMemFreeHost") CURRENT (void)c; return give((P)(uintptr_t)p, 2); }
R cuMemHostGetDevicePointer_v2(P *d, void *h, unsigned f) { (void)f; API("cuMemHostGetDevicePointer_v2") if (!holding((P)(uintptr_t)h, 1)) return INVALID; *d = (P)(uintptr_t)h; return 0; }
R cuMemAllocManaged(P *p, size_t n, unsigned f) { API("cuMemAllocManaged") CURRENT return f == 1 || f == 2 ? take(p, n, 3, c->device) : INVALID; }
R cuMemPrefetchAsync(P p, size_t n, int d, stream *s) { block *b; (void)s; API("cuMemPrefetchAsync") CURRENT (void)c; b = holding(p, n); return !b || b->kind != 3 ? INVALID : d >= devices() ? BADDEV : 0; }

/* ---- graphs: work that is kept in order and run when it is launched ---- */
typedef struct op { int kind; void *f; unsigned grid[3], block[3], shared; unsigned char values[16][16]; int n; P dst, src; size_t size; uint32_t copy; unsigned char value; struct op *next; } op; /* kinds as of events */
typedef struct graph { int magic, id, invalid; op *first, **last; } graph;
static int graphs;
static op *capture(stream *s, op o) {
	op *p = malloc(sizeof *p);
	*p = o;
	p->next = NULL;
	*s->capture->last = p;
	s->capture->last = &p->next;
	return p;
}
#define CAPTURING(s) ((s) && (s)->capture)
/* What waits cannot be captured, and breaks the capture. */
#define UNCAPTURED(s) if (CAPTURING(s)) { (s)->capture->invalid = 1; return UNCAPTURABLE; }

static R on(stream *s, ctx *c) { return !s ? 0 : !LIVE(s, STREAM) ? BADHANDLE : s->c != c ? BADCTX : 0; }
static uint32_t sid(stream *s) { return s ? (uint32_t)s->id : 7; }
#define BEGIN long long t0_ = now_ns(); correlation_of_call();
static __thread uint32_t node_graph; /* of what is being launched, and the node */
static __thread unsigned long long node;
static R move(ctx *c, P dst, P src, size_t n, uint32_t kind, stream *s, uint32_t cbid, long long t0) {
	long long a, b;
	if ((kind == 1 || kind == 8) && !holding(dst, n)) return INVALID;
	if ((kind == 2 || kind == 8) && !holding(src, n)) return INVALID;
	a = now_ns();
	if (CAPTURING(s)) {
		capture(s, (op){.kind = 3, .dst = dst, .src = src, .size = n, .copy = kind});
		call(cbid, t0);
		return 0;
	}
	memmove((void *)(uintptr_t)dst, (void *)(uintptr_t)src, n);
	b = now_ns();
	if (cbid) call(cbid, t0);
	tell((standin_event){.kind = 3, .start = a, .end = b > a ? b : a + 1, .bytes = n, .copy_kind = kind, .from = kind_of(src), .to = kind_of(dst), .device = c->device, .context = c->id, .stream = sid(s),
		.graph = node_graph, .node = node});
	return 0;
}
R cuMemcpyHtoD_v2(P d, const void *h, size_t n) { API("cuMemcpyHtoD_v2") CURRENT BEGIN return move(c, d, (P)(uintptr_t)h, n, 1, 0, 276, t0_); }
R cuMemcpyDtoH_v2(void *h, P d, size_t n) { API("cuMemcpyDtoH_v2") CURRENT BEGIN return move(c, (P)(uintptr_t)h, d, n, 2, 0, 278, t0_); }
R cuMemcpyDtoD_v2(P d, P s, size_t n) { API("cuMemcpyDtoD_v2") CURRENT BEGIN return move(c, d, s, n, 8, 0, 280, t0_); }
R cuMemcpyHtoDAsync_v2(P d, const void *h, size_t n, stream *s) { R r; API("cuMemcpyHtoDAsync_v2") CURRENT if ((r = on(s, c))) return r; BEGIN return move(c, d, (P)(uintptr_t)h, n, 1, s, 277, t0_); }
R cuMemcpyDtoHAsync_v2(void *h, P d, size_t n, stream *s) { R r; API("cuMemcpyDtoHAsync_v2") CURRENT if ((r = on(s, c))) return r; BEGIN return move(c, (P)(uintptr_t)h, d, n, 2, s, 279, t0_); }
R cuMemcpyDtoDAsync_v2(P d, P f, size_t n, stream *s) { R r; API("cuMemcpyDtoDAsync_v2") CURRENT if ((r = on(s, c))) return r; BEGIN return move(c, d, f, n, 8, s, 281, t0_); }
static R fill(ctx *c, P d, unsigned char v, size_t n, stream *s, uint32_t cbid, long long t0) {
	long long a = now_ns();
	if (!holding(d, n)) return INVALID;
	memset((void *)(uintptr_t)d, v, n);
	if (cbid) call(cbid, t0);
	tell((standin_event){.kind = 4, .start = a, .end = now_ns() + 1, .bytes = n, .device = c->device, .context = c->id, .stream = sid(s), .graph = node_graph, .node = node});
	return 0;
}
R cuMemsetD8Async(P d, unsigned char v, size_t n, stream *s) {
	R r;
	API("cuMemsetD8Async") CURRENT
	if ((r = on(s, c))) return r;
	if (CAPTURING(s)) { BEGIN capture(s, (op){.kind = 4, .dst = d, .size = n, .value = v}); call(216, t0_); return 0; }
	{ BEGIN return fill(c, d, v, n, s, 216, t0_); }
}

static int streams = 12;
R cuStreamCreateWithPriority(stream **s, unsigned f, int p) { API("cuStreamCreateWithPriority") CURRENT if (f > 1 || p > 0 || p < -5) return INVALID; *s = malloc(sizeof **s); **s = (stream){STREAM, __sync_add_and_fetch(&streams, 1), c, NULL}; return 0; }
R cuStreamCreate(stream **s, unsigned f) { return cuStreamCreateWithPriority(s, f, 0); }
R cuStreamDestroy_v2(stream *s) { API("cuStreamDestroy_v2") CURRENT (void)c; if (!LIVE(s, STREAM)) return BADHANDLE; s->magic = 0; return 0; }
R cuStreamSynchronize(stream *s) { R r; API("cuStreamSynchronize") CURRENT if ((r = on(s, c))) return r; UNCAPTURED(s) return waited(126, 3, c, sid(s), now_ns()); }
R cuStreamQuery(stream *s) { API("cuStreamQuery") CURRENT return on(s, c); }
R cuStreamWaitEvent(stream *s, event *e, unsigned f) { R r; (void)f; API("cuStreamWaitEvent") CURRENT if ((r = on(s, c))) return r; return LIVE(e, EVENT) ? 0 : BADHANDLE; }
R cuEventCreate(event **e, unsigned f) { API("cuEventCreate") CURRENT (void)f; *e = malloc(sizeof **e); **e = (event){EVENT, 0, 0, c}; return 0; }
R cuEventDestroy_v2(event *e) { API("cuEventDestroy_v2") CURRENT (void)c; if (!LIVE(e, EVENT)) return BADHANDLE; e->magic = 0; return 0; }
R cuEventRecord(event *e, stream *s) { R r; API("cuEventRecord") CURRENT if (!LIVE(e, EVENT)) return BADHANDLE; if ((r = on(s, c))) return r; e->recorded = 1; e->at = now_ns(); return 0; }
R cuEventSynchronize(event *e) { API("cuEventSynchronize") return LIVE(e, EVENT) ? 0 : BADHANDLE; }
R cuEventQuery(event *e) { API("cuEventQuery") return LIVE(e, EVENT) ? 0 : BADHANDLE; }
R cuEventElapsedTime(float *ms, event *a, event *b) { API("cuEventElapsedTime") if (!LIVE(a, EVENT) || !LIVE(b, EVENT) || !a->recorded || !b->recorded) return BADHANDLE; *ms = (float)((double)(b->at - a->at) / 1e6); return 0; }

/* Images are PTX, in which "syntax error" is one, or CUBINs: ELF files with a section .text.NAME for each kernel. */
static size_t elf_size(const unsigned char *b) {
	uint64_t sections;
	uint16_t size, count;
	if (memcmp(b, "\177ELF\2", 5)) return 0;
	memcpy(&sections, b + 0x28, 8);
	memcpy(&size, b + 0x3a, 2);
	memcpy(&count, b + 0x3c, 2);
	return sections + (size_t)size * count;
}
static int has_kernel(module *m, const char *name) {
	char want[300];
	const char *at = m->image;
	size_t n;
	if (elf_size((const unsigned char *)m->image)) {
		n = (size_t)snprintf(want, sizeof want, ".text.%s", name);
		return memmem(m->image, m->size, want, n + 1) != NULL;
	}
	n = (size_t)snprintf(want, sizeof want, ".entry %s", name);
	for (; (at = strstr(at, want)); at++) if (at[n] == '(' || at[n] == ' ' || at[n] == '\n') return 1;
	return 0;
}
R cuModuleLoadDataEx(module **m, const void *image, unsigned n, int *options, void **values) {
	unsigned i;
	size_t size = elf_size(image);
	API("cuModuleLoadDataEx") CURRENT
	if (!size) size = strlen(image) + 1;
	if (size == strlen(image) + 1 && strstr(image, "syntax error")) {
		for (i = 0; i < n; i++) if (options[i] == 5) strcpy(values[i], "ptxas application ptx input, line 3; fatal   : Parsing error near 'syntax': syntax error");
		return BADPTX;
	}
	if (!elf_size(image) && !strstr(image, ".entry") && !strstr(image, ".version")) return BADIMAGE;
	*m = malloc(sizeof **m);
	**m = (module){MODULE, c, memcpy(malloc(size), image, size), size};
	return 0;
}
R cuModuleLoadData(module **m, const void *image) { return cuModuleLoadDataEx(m, image, 0, NULL, NULL); }
R cuModuleUnload(module *m) { API("cuModuleUnload") CURRENT (void)c; if (!LIVE(m, MODULE)) return BADHANDLE; m->magic = 0; free(m->image); return 0; }
R cuModuleGetFunction(function **f, module *m, const char *name) {
	API("cuModuleGetFunction") CURRENT (void)c;
	if (!LIVE(m, MODULE)) return BADHANDLE;
	if (!has_kernel(m, name)) return NOTFOUND;
	*f = malloc(sizeof **f);
	(*f)->magic = FUNCTION;
	(*f)->m = m;
	snprintf((*f)->name, sizeof (*f)->name, "%s", name);
	return 0;
}
R cuModuleGetGlobal_v2(P *p, size_t *n, module *m, const char *name) { API("cuModuleGetGlobal_v2") CURRENT (void)c; (void)p; (void)n; (void)name; return LIVE(m, MODULE) ? NOTFOUND : BADHANDLE; }
R cuFuncGetAttribute(int *v, int a, function *f) { static const int known[] = {1024, 128, 0, 0, 32, 75, 90, 0}; API("cuFuncGetAttribute") if (!LIVE(f, FUNCTION)) return BADHANDLE; if (a < 0 || a > 7) return INVALID; *v = known[a]; return 0; }
static int least(int a, int b) { return a < b ? a : b; }
/* Of kernels with 40 registers and 256 bytes, as the stand-in for CUPTI tells: 64 warps and 32 blocks fit, 48 warps by their registers. */
R cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, function *f, int threads, size_t shared) {
	int warps = (threads + 31) / 32;
	API("cuOccupancyMaxActiveBlocksPerMultiprocessor")
	if (!LIVE(f, FUNCTION)) return BADHANDLE;
	if (threads < 1 || threads > 1024) return INVALID;
	*n = least(least(32, 48 / warps), (int)(233472 / ((256 + 1024 + shared + 127) / 128 * 128)));
	return 0;
}

/* ---- the kernels, by a part of their names; arguments as their sources declare them ---- */
#define ARG(type, i) (*(type *)params[i])
#define MEM(type, i) ((type *)(uintptr_t)ARG(P, i))
static R run(const char *name, const unsigned *g, const unsigned *b, void **params) {
	long long threads = (long long)g[0] * g[1] * g[2] * b[0] * b[1] * b[2], i, j, k;
	if (strstr(name, "saxpy")) { /* (int n, float a, const float *x, float *y) */
		int n = ARG(int, 0); float a = ARG(float, 1), *x = MEM(float, 2), *y = MEM(float, 3);
		if (!holding(ARG(P, 2), 4LL * n) || !holding(ARG(P, 3), 4LL * n)) return ILLEGAL;
		for (i = 0; i < n && i < threads; i++) y[i] += a * x[i];
	} else if (strstr(name, "reduce")) { /* (const float *x, int n, float *sum) */
		float *x = MEM(float, 0), *s = MEM(float, 2); int n = ARG(int, 1); double t = 0;
		if (!holding(ARG(P, 0), 4LL * n) || !holding(ARG(P, 2), 4)) return ILLEGAL;
		for (i = 0; i < n; i++) t += x[i];
		*s += (float)t;
	} else if (strstr(name, "gemm")) { /* (int m, int n, int k, const float *a, const float *b, float *c) */
		int m = ARG(int, 0), n = ARG(int, 1), q = ARG(int, 2); float *x = MEM(float, 3), *y = MEM(float, 4), *z = MEM(float, 5);
		if (!holding(ARG(P, 3), 4LL * m * q) || !holding(ARG(P, 4), 4LL * q * n) || !holding(ARG(P, 5), 4LL * m * n)) return ILLEGAL;
		for (i = 0; i < m; i++) for (j = 0; j < n; j++) { float t = 0; for (k = 0; k < q; k++) t += x[i * q + k] * y[k * n + j]; z[i * n + j] = t; }
	} else if (strstr(name, "scale")) { /* (float *x, int n, float f) */
		float *x = MEM(float, 0), f = ARG(float, 2); int n = ARG(int, 1);
		if (!holding(ARG(P, 0), 4LL * n)) return ILLEGAL;
		for (i = 0; i < n && i < threads; i++) x[i] *= f;
	} else if (strstr(name, "types")) { /* every scalar type, stored in order: see driver's tests */
		unsigned char *out = MEM(unsigned char, 0);
		if (!holding(ARG(P, 0), 64)) return ILLEGAL;
		memcpy(out, params[1], 1); memcpy(out + 8, params[2], 2); memcpy(out + 16, params[3], 4); memcpy(out + 24, params[4], 8);
		memcpy(out + 32, params[5], 4); memcpy(out + 40, params[6], 8); memcpy(out + 48, params[7], 16);
	} else if (strstr(name, "spin") || strstr(name, "hold")) { /* (long long ns) */
		long long until = now_ns() + ARG(long long, 0);
		while (now_ns() < until) {}
	}
	return 0;
}
static R launch(ctx *c, function *f, const unsigned *g, const unsigned *b, unsigned shared, stream *s, void **params, uint32_t cbid, long long t0) {
	long long a = now_ns(), e;
	R r = run(f->name, g, b, params);
	e = now_ns();
	if (cbid) call(cbid, t0);
	tell((standin_event){.kind = 2, .start = a, .end = e > a ? e : a + 1, .device = c->device, .context = c->id, .stream = sid(s), .name = f->name, .grid = {g[0], g[1], g[2]}, .block = {b[0], b[1], b[2]}, .shared = shared,
		.graph = node_graph, .node = node});
	return r;
}
R cuLaunchKernel(function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, stream *s, void **params, void **extra) {
	unsigned g[] = {gx, gy, gz}, b[] = {bx, by, bz};
	R r;
	API("cuLaunchKernel") CURRENT
	(void)extra;
	if (!LIVE(f, FUNCTION) || !LIVE(f->m, MODULE)) return BADHANDLE;
	if ((r = on(s, c))) return r;
	if (!gx || !gy || !gz || !bx || !by || !bz || gy > 65535 || gz > 65535) return INVALID;
	if ((long long)bx * by * bz > 1024 || shared > 233472) return INVALID;
	{ BEGIN
	if (CAPTURING(s)) { /* arguments are kept; sizes are not known, and none of a captured kernel of the tests has more than 8 bytes */
		op *o = capture(s, (op){.kind = 2, .f = f, .grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared = shared});
		for (; params[o->n] && o->n < 16; o->n++) memcpy(o->values[o->n], params[o->n], 8);
		call(307, t0_);
		return 0;
	}
	return launch(c, f, g, b, shared, s, params, 307, t0_); }
}

R cuStreamBeginCapture_v2(stream *s, unsigned mode) {
	R r; API("cuStreamBeginCapture_v2") CURRENT
	if (!s) return UNCAPTURABLE;
	if ((r = on(s, c))) return r;
	if (mode > 2 || s->capture) return INVALID;
	s->capture = calloc(1, sizeof *s->capture);
	s->capture->magic = GRAPH;
	s->capture->last = &s->capture->first;
	return 0;
}
R cuStreamEndCapture(stream *s, graph **g) {
	R r; API("cuStreamEndCapture") CURRENT
	if ((r = on(s, c))) return r;
	if (!CAPTURING(s)) return INVALID;
	*g = s->capture;
	s->capture = NULL;
	if ((*g)->invalid) { *g = NULL; return INVALIDATED; }
	return 0;
}
R cuGraphInstantiateWithFlags(graph **e, graph *g, unsigned long long f) {
	(void)f;
	API("cuGraphInstantiateWithFlags")
	if (!LIVE(g, GRAPH)) return BADHANDLE;
	*e = malloc(sizeof **e);
	**e = *g;
	(*e)->magic = EXEC;
	(*e)->id = __sync_add_and_fetch(&graphs, 1);
	return 0;
}
R cuGraphDestroy(graph *g) { API("cuGraphDestroy") if (!LIVE(g, GRAPH)) return BADHANDLE; g->magic = 0; return 0; }
R cuGraphExecDestroy(graph *g) { API("cuGraphExecDestroy") if (!LIVE(g, EXEC)) return BADHANDLE; g->magic = 0; return 0; }
R cuGraphLaunch(graph *g, stream *s) {
	void *params[17];
	long long from = 0;
	int i;
	op *o;
	R r;
	API("cuGraphLaunch") CURRENT
	if (!LIVE(g, EXEC)) return BADHANDLE;
	if ((r = on(s, c))) return r;
	UNCAPTURED(s)
	{ BEGIN
	call(514, t0_);
	from = now_ns(); }
	node_graph = (uint32_t)g->id;
	node = (unsigned long long)g->id << 32;
	for (o = g->first; o && !r; o = o->next) {
		node++;
		for (i = 0; i < o->n; i++) params[i] = o->values[i];
		params[o->n] = NULL;
		r = o->kind == 2 ? launch(c, o->f, o->grid, o->block, o->shared, s, params, 0, 0) : o->kind == 3 ? move(c, o->dst, o->src, o->size, o->copy, s, 0, 0) : fill(c, o->dst, o->value, o->size, s, 0, 0);
	}
	tell((standin_event){.kind = 8, .start = from, .end = now_ns() + 1, .device = c->device, .context = c->id, .stream = sid(s), .graph = node_graph});
	node_graph = 0;
	node = 0;
	return r;
}
