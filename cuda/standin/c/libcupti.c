/*
 * A stand-in for libcupti: CUPTI's activity protocol over what the stand-in driver does, or over records that a test hands
 * in. It behaves as the real library does where that is hard on its user: records of one call lie in different buffers, in
 * no order, buffers come back half full, from other threads, and the library holds its own lock while it asks for one.
 *
 * STANDIN_CUPTI_API=n             cuptiGetVersion (22, which is 12.4)
 * STANDIN_CUPTI_SIZES=k:n,…       sizes of records; those of 12.4 by default
 * STANDIN_CUPTI_SUBSCRIBE=code    what cuptiSubscribe returns
 * STANDIN_CUPTI_REFUSE=k:code,…   kinds that cannot be enabled
 * STANDIN_CUPTI_DROPPED=n         records said to be dropped, once
 * STANDIN_CUPTI_NOISE=n           an unasked record after every n-th
 * STANDIN_CUPTI_ALONE=1           no driver is needed
 * STANDIN_CUPTI_LOG=file          a line for each thing that the driver did: "kernel name start end stream correlation external"
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { INVALID_PARAMETER = 1, INVALID_OPERATION = 7, MAX_LIMIT = 12, NOT_INITIALIZED = 15, QUEUE_EMPTY = 18, INVALID_KIND = 21, MULTIPLE_SUBSCRIBERS = 39 };
enum { MEMCPY = 1, MEMSET = 2, DRIVER = 4, DEVICE = 8, CONTEXT = 9, KERNEL = 10, STREAM = 37, SYNC = 38, EXTERNAL = 39, MEMORY = 49, POOL = 50, GRAPH = 51, KINDS = 64 };
typedef struct {
	uint32_t kind, cbid, correlation, device, context, stream; long long start, end; unsigned long long bytes, address; uint32_t copy_kind; const char *name; uint32_t grid[3], block[3], shared;
	uint32_t from, to, graph; unsigned long long node, pool, pool_size, pool_used;
} event; /* as in libcuda.c */

static long long env(const char *n, long long d) { const char *v = getenv(n); return v && *v ? atoll(v) : d; }
static long long listed(const char *n, int key, long long missing) {
	const char *v = getenv(n);
	while (v && *v) {
		char *e;
		long k = strtol(v, &e, 10);
		if (*e != ':') break;
		if (k == key) return atoll(e + 1);
		v = strchr(e, ',');
		if (v) v++;
	}
	return missing;
}
static const uint16_t of_12_4[KINDS] = {[1] = 88, [2] = 88, [3] = 208, [4] = 40, [5] = 40, [8] = 184, [9] = 24, [10] = 208, [11] = 32, [12] = 56, [13] = 32, [17] = 56, [22] = 96, [36] = 24, [37] = 24, [38] = 40, [39] = 24, [45] = 80, [48] = 40, [49] = 120, [50] = 72, [51] = 56};
static size_t size_of(uint32_t kind) { return kind < KINDS ? (size_t)listed("STANDIN_CUPTI_SIZES", (int)kind, getenv("STANDIN_CUPTI_SIZES") ? 0 : of_12_4[kind]) : 0; }

/* ---- buffers ---- */
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER; /* held while asking for buffers, as the real library does */
static void (*request)(uint8_t **, size_t *, size_t *);
static void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);
enum { OPEN = 3 };
static struct open { uint8_t *data; size_t size, used; } open_buffers[OPEN];
static int enabled[KINDS];
static uint32_t lcg = 12345;
static long long emitted, dropped;

typedef struct { struct open b; } job;
static void *deliver(void *p) {
	job *j = p;
	complete(NULL, 0, j->b.data, j->b.size, j->b.used);
	free(j);
	return NULL;
}
/* A buffer goes back on a thread of its own, and the caller goes on when it is done. */
static void hand_back(struct open *b) {
	pthread_t t;
	job *j = malloc(sizeof *j);
	j->b = *b;
	memset(b, 0, sizeof *b);
	if (pthread_create(&t, NULL, deliver, j)) deliver(j);
	else pthread_join(t, NULL);
}
static void put(const void *record, size_t n) {
	struct open *b;
	size_t max = 0;
	if (!request) return;
	lcg = lcg * 1664525 + 1013904223;
	b = &open_buffers[(lcg >> 16) % OPEN];
	if (b->data && b->used + n > b->size) hand_back(b);
	if (!b->data) {
		request(&b->data, &b->size, &max);
		b->used = 0;
	}
	if (!b->data || n > b->size) { dropped++; return; }
	memcpy(b->data + b->used, record, n);
	b->used += n;
	emitted++;
}
static void emit(const void *record, size_t n) {
	uint8_t noise[256] = {0};
	long long every = env("STANDIN_CUPTI_NOISE", 0);
	uint32_t kind = 13; /* marker data: never asked for */
	pthread_mutex_lock(&mu);
	put(record, n);
	memcpy(noise, &kind, 4);
	if (every && emitted % every == 0 && size_of(kind)) put(noise, size_of(kind));
	pthread_mutex_unlock(&mu);
}
#define API __attribute__((visibility("default")))
/* For tests: a record as it is. */
API void standin_cupti_emit(const void *record, size_t n) { emit(record, n); }

/* ---- the driver's events ---- */
enum { DEPTH = 512 };
static __thread uint64_t pushed[8][DEPTH];
static __thread int depth[8];
static FILE *record_log;
static uint32_t seen_contexts, seen_streams[64];
static int nseen;
#define U32(o, v) (*(uint32_t *)(r + (o)) = (uint32_t)(v))
#define U64(o, v) (*(uint64_t *)(r + (o)) = (uint64_t)(v))
#define PTR(o, v) (*(const char **)(r + (o)) = (v))

static void introduce(const event *e) {
	int i;
	uint8_t r[512] = {0};
	pthread_mutex_lock(&mu);
	if (e->context < 32 && !(seen_contexts & 1u << e->context) && enabled[CONTEXT]) {
		seen_contexts |= 1u << e->context;
		U32(0, CONTEXT); U32(4, e->context); U32(8, e->device);
		r[12] = 2; r[14] = 7;
		put(r, size_of(CONTEXT));
	}
	for (i = 0; i < nseen && seen_streams[i] != e->stream; i++) {}
	if (i == nseen && nseen < 64 && enabled[STREAM]) {
		seen_streams[nseen++] = e->stream;
		memset(r, 0, sizeof r);
		U32(0, STREAM); U32(4, e->context); U32(8, e->stream); U32(16, e->stream == 7 ? 3 : 1);
		put(r, size_of(STREAM));
	}
	pthread_mutex_unlock(&mu);
}

static void on_event(const event *e) {
	static const char *const words[] = {"", "call", "kernel", "copy", "set", "alloc", "free", "sync", "graph", "pool"};
	uint8_t r[512] = {0};
	int k;
	uint64_t outer = depth[3] ? pushed[3][depth[3] - 1] : 0;
	if (record_log) {
		fprintf(record_log, "%s %s %lld %lld %u %u %llu %llu %llx\n", words[e->kind], e->name ? e->name : "-", e->start, e->end, e->stream, e->correlation,
			(unsigned long long)outer, e->bytes, e->address);
		fflush(record_log);
	}
	if (enabled[GRAPH] && e->graph && e->kind != 8) return; /* graphs are told of as wholes then */
	switch (e->kind) {
	case 1:
		for (k = 0; k < 8; k++)
			if (depth[k] && enabled[EXTERNAL] && enabled[DRIVER]) {
				memset(r, 0, sizeof r);
				U32(0, EXTERNAL); U32(4, k); U64(8, pushed[k][depth[k] - 1]); U32(16, e->correlation);
				emit(r, size_of(EXTERNAL));
			}
		memset(r, 0, sizeof r);
		U32(0, DRIVER); U32(4, e->cbid); U64(8, e->start); U64(16, e->end); U32(24, getpid()); U32(28, syscall(SYS_gettid)); U32(32, e->correlation);
		if (enabled[DRIVER]) emit(r, size_of(DRIVER));
		break;
	case 2:
		introduce(e);
		U32(0, KERNEL); r[6] = 40; U64(16, e->start); U64(24, e->end); U64(32, e->end);
		U32(40, e->device); U32(44, e->context); U32(48, e->stream);
		for (k = 0; k < 3; k++) { U32(52 + 4 * k, e->grid[k]); U32(64 + 4 * k, e->block[k]); }
		U32(76, 256); U32(80, e->shared); U32(92, e->correlation);
		PTR(104, strdup(e->name)); U64(144, e->node); U32(156, e->graph);
		if (size_of(KERNEL) >= 224) U32(216, -2);
		if (enabled[KERNEL]) emit(r, size_of(KERNEL));
		break;
	case 3:
		introduce(e);
		U32(0, MEMCPY); r[4] = (uint8_t)e->copy_kind; r[5] = (uint8_t)e->from; r[6] = (uint8_t)e->to; r[7] = e->stream != 7; U64(64, e->node); U32(72, e->graph);
		U64(8, e->bytes); U64(16, e->start); U64(24, e->end); U32(32, e->device); U32(36, e->context); U32(40, e->stream); U32(44, e->correlation);
		if (enabled[MEMCPY]) emit(r, size_of(MEMCPY));
		break;
	case 4:
		introduce(e);
		U32(0, MEMSET); U64(8, e->bytes); U64(16, e->start); U64(24, e->end); U32(32, e->device); U32(36, e->context); U32(40, e->stream); U32(44, e->correlation);
		r[48] = 1; r[50] = 3; U64(64, e->node); U32(72, e->graph);
		if (enabled[MEMSET]) emit(r, size_of(MEMSET));
		break;
	case 5:
	case 6:
		U32(0, MEMORY); U32(4, e->kind == 5 ? 1 : 2); U32(8, e->copy_kind == 2 ? 2 : e->copy_kind == 3 ? 5 : 3); U32(12, e->correlation);
		U64(16, e->address); U64(24, e->bytes); U64(32, e->start); U32(48, getpid()); U32(52, e->device); U32(56, e->context); U32(60, 0xFFFFFFFF);
		if (e->pool) { U32(72, 1); U32(80, 1); U64(88, e->pool); U64(104, e->pool_size); U64(112, e->pool_used); }
		if (enabled[MEMORY]) emit(r, size_of(MEMORY));
		break;
	case 7:
		U32(0, SYNC); U32(4, e->copy_kind); U64(8, e->start); U64(16, e->end); U32(24, e->correlation); U32(28, e->context); U32(32, e->stream); U32(36, 0xFFFFFFFF);
		if (enabled[SYNC]) emit(r, size_of(SYNC));
		break;
	case 8:
		U32(0, GRAPH); U32(4, e->correlation); U64(8, e->start); U64(16, e->end); U32(24, e->device); U32(28, e->graph); U32(32, e->context); U32(36, e->stream);
		if (enabled[GRAPH]) emit(r, size_of(GRAPH));
		break;
	case 9:
		U32(0, POOL); U32(4, e->copy_kind); U32(8, 1); U32(12, e->correlation); U32(16, getpid()); U32(20, e->device); U64(32, e->pool); U64(40, e->pool_size); U64(56, e->start); U64(64, e->pool_used);
		if (enabled[POOL]) emit(r, size_of(POOL));
		break;
	}
}

/* ---- the API ---- */
static void *driver(void) {
	const char *f = getenv("GANDER_LIBCUDA");
	return dlopen(f && *f ? f : "libcuda.so.1", RTLD_NOW);
}
static void *subscriber;
API int cuptiGetVersion(uint32_t *v) { *v = (uint32_t)env("STANDIN_CUPTI_API", 22); return 0; }
API int cuptiGetTimestamp(uint64_t *ns) { struct timespec t; clock_gettime(CLOCK_REALTIME, &t); *ns = (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec; return 0; }
API int cuptiGetResultString(int r, const char **s) { static char b[64]; snprintf(b, sizeof b, "CUPTI_ERROR_STANDIN_%d", r); *s = b; return 0; }
API int cuptiSubscribe(void **s, void (*cb)(void *, int, uint32_t, const void *), void *user) {
	void *cuda;
	void (*observe)(void (*)(const event *));
	int (*init)(unsigned), r = (int)env("STANDIN_CUPTI_SUBSCRIBE", 0);
	const char *log = getenv("STANDIN_CUPTI_LOG");
	(void)cb; (void)user;
	if (r) return r;
	if (subscriber) return MULTIPLE_SUBSCRIBERS;
	if (!env("STANDIN_CUPTI_ALONE", 0)) {
		cuda = driver();
		if (!cuda || !(init = (int (*)(unsigned))dlsym(cuda, "cuInit")) || init(0)) return NOT_INITIALIZED;
		observe = (void (*)(void (*)(const event *)))dlsym(cuda, "standin_cuda_observe");
		if (!observe) return NOT_INITIALIZED;
		observe(on_event);
	}
	if (log && *log && !record_log) record_log = fopen(log, "a");
	*s = subscriber = &subscriber;
	return 0;
}
API int cuptiUnsubscribe(void *s) {
	void *cuda = driver(), *observe = cuda ? dlsym(cuda, "standin_cuda_observe") : NULL;
	if (!s || s != subscriber) return INVALID_PARAMETER;
	if (observe) ((void (*)(void (*)(const event *)))observe)(NULL);
	subscriber = NULL;
	if (record_log) { fclose(record_log); record_log = NULL; }
	return 0;
}
API int cuptiEnableCallback(uint32_t on, void *s, int domain, uint32_t cbid) { (void)on; (void)domain; (void)cbid; return s == subscriber ? 0 : INVALID_PARAMETER; }
API int cuptiSetThreadIdType(int t) { return t == 1 ? 0 : INVALID_PARAMETER; }
API int cuptiActivitySetAttribute(int a, size_t *n, void *v) { (void)a; (void)v; return *n ? 0 : INVALID_PARAMETER; }
API int cuptiActivityRegisterCallbacks(void (*q)(uint8_t **, size_t *, size_t *), void (*c)(void *, uint32_t, uint8_t *, size_t, size_t)) { request = q; complete = c; return 0; }
API int cuptiActivityEnable(int k) {
	int r = (int)listed("STANDIN_CUPTI_REFUSE", k, 0), i, n = 0;
	if (!subscriber) return NOT_INITIALIZED;
	if (r) return r;
	if (k < 0 || k >= KINDS || !size_of((uint32_t)k)) return INVALID_KIND;
	enabled[k] = 1;
	if (k == DEVICE && !env("STANDIN_CUPTI_ALONE", 0)) {
		int (*count)(int *) = (int (*)(int *))dlsym(driver(), "cuDeviceGetCount");
		for (count(&n), i = 0; i < n; i++) {
			uint8_t r[512] = {0};
			U32(0, DEVICE); U64(8, 4800000000ull); U64(16, 1ull << 30); U32(32, 32); U32(36, 1980000); U32(44, 4); U32(52, 64); U32(56, 32); U32(60, 233472);
			U32(64, 65536); U32(68, 65536); U32(72, 49152); U32(76, 1024); U32(104, 9); U32(108, 0); U32(112, i); PTR(136, "Stand-in GPU");
			emit(r, size_of(DEVICE));
		}
	}
	return 0;
}
API int cuptiActivityDisable(int k) { if (k < 0 || k >= KINDS) return INVALID_KIND; enabled[k] = 0; return 0; }
API int cuptiActivityFlushAll(uint32_t flag) {
	struct open all[OPEN];
	int i;
	(void)flag;
	if (!complete) return INVALID_OPERATION;
	if (!enabled[KERNEL]) dropped += env("STANDIN_CUPTI_DROPPED", 0); /* at the end of a capture */
	pthread_mutex_lock(&mu);
	memcpy(all, open_buffers, sizeof all);
	memset(open_buffers, 0, sizeof open_buffers);
	pthread_mutex_unlock(&mu);
	for (i = OPEN - 1; i >= 0; i--) if (all[i].data) hand_back(&all[i]);
	return 0;
}
API int cuptiActivityGetNextRecord(uint8_t *b, size_t valid, void **record) {
	uint8_t *at = *record;
	size_t n;
	if (!b) return INVALID_PARAMETER;
	if (at) {
		if (!(n = size_of(*(uint32_t *)at))) return INVALID_KIND;
		at += n;
	} else at = b;
	if (at + 8 > b + valid) return MAX_LIMIT;
	if (!(n = size_of(*(uint32_t *)at))) return INVALID_KIND;
	if (at + n > b + valid) return INVALID_KIND;
	*record = at;
	return 0;
}
API int cuptiActivityGetNumDroppedRecords(void *c, uint32_t s, size_t *n) {
	(void)c; (void)s;
	*n = (size_t)dropped;
	dropped = 0;
	return 0;
}
API int cuptiActivityPushExternalCorrelationId(int k, uint64_t id) {
	if (k < 0 || k >= 8 || depth[k] == DEPTH) return INVALID_PARAMETER;
	pushed[k][depth[k]++] = id;
	return 0;
}
API int cuptiActivityPopExternalCorrelationId(int k, uint64_t *id) {
	if (k < 0 || k >= 8) return INVALID_PARAMETER;
	if (!depth[k]) return QUEUE_EMPTY;
	depth[k]--;
	if (id) *id = pushed[k][depth[k]];
	return 0;
}
API int cuptiGetCallbackName(int domain, uint32_t cbid, const char **name) {
	static const struct { int domain; uint32_t cbid; const char *name; } known[] = {
		{1, 17, "cuCtxSynchronize"}, {1, 38, "cuMemFreeHost"}, {1, 39, "cuMemHostAlloc"}, {1, 126, "cuStreamSynchronize"}, {1, 216, "cuMemsetD8Async"}, {1, 243, "cuMemAlloc_v2"}, {1, 245, "cuMemFree_v2"},
		{1, 276, "cuMemcpyHtoD_v2"}, {1, 277, "cuMemcpyHtoDAsync_v2"}, {1, 278, "cuMemcpyDtoH_v2"}, {1, 279, "cuMemcpyDtoHAsync_v2"}, {1, 280, "cuMemcpyDtoD_v2"}, {1, 281, "cuMemcpyDtoDAsync_v2"},
		{1, 307, "cuLaunchKernel"}, {1, 514, "cuGraphLaunch"}, {1, 598, "cuMemAllocAsync"}, {1, 600, "cuMemFreeAsync"}, {1, 371, "cuMemAllocManaged"}, {2, 211, "cudaLaunchKernel_v7000"}, {2, 31, "cudaMemcpy_v3020"}, {2, 165, "cudaDeviceSynchronize_v3020"}, {2, 16, "cudaSetDevice_v3020"},
	};
	size_t i;
	for (i = 0; i < sizeof known / sizeof *known; i++) if (known[i].domain == domain && known[i].cbid == cbid) { *name = known[i].name; return 0; }
	return INVALID_PARAMETER;
}
