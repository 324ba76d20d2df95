//go:build linux && cgo && (amd64 || arm64)

/*
 * CUPTI's callbacks stay in C: they run on the application's threads inside CUDA calls, with CUPTI's locks held, and must
 * neither wait for Go's scheduler nor call CUPTI. The pool's lock is never held while calling anything of CUPTI.
 */
#define _GNU_SOURCE
#include "cupti.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	GetVersion, GetTimestamp, GetResultString, GetErrorMessage, Subscribe, Unsubscribe, EnableCallback, SetThreadIdType,
	RegisterCallbacks, Enable, Disable, FlushAll, GetNextRecord, GetNumDropped, Push, Pop, SetAttribute,
	GetCallbackName, FUNCTIONS
};
static const char *const names[FUNCTIONS + 1] = {
	"cuptiGetVersion", "cuptiGetTimestamp", "cuptiGetResultString", "cuptiGetErrorMessage", "cuptiSubscribe", "cuptiUnsubscribe",
	"cuptiEnableCallback", "cuptiSetThreadIdType", "cuptiActivityRegisterCallbacks", "cuptiActivityEnable", "cuptiActivityDisable",
	"cuptiActivityFlushAll", "cuptiActivityGetNextRecord", "cuptiActivityGetNumDroppedRecords",
	"cuptiActivityPushExternalCorrelationId", "cuptiActivityPopExternalCorrelationId", "cuptiActivitySetAttribute",
	"cuptiGetCallbackName", NULL,
};
static void *f[FUNCTIONS];

const char *gander_cupti_symbol(int i) { return i < FUNCTIONS ? names[i] : NULL; }
void gander_cupti_bind(int i, void *address) { f[i] = address; }

typedef void *ptr;
#define AS(i, ...) ((int (*)(__VA_ARGS__))f[i])

int gander_cupti_version(uint32_t *v) { return f[GetVersion] ? AS(GetVersion, uint32_t *)(v) : ABSENT; }
int gander_cupti_timestamp(uint64_t *ns) { return f[GetTimestamp] ? AS(GetTimestamp, uint64_t *)(ns) : ABSENT; }

const char *gander_cupti_error(int result) {
	const char *s = NULL;
	if (f[GetErrorMessage] && AS(GetErrorMessage, int, const char **)(result, &s) == 0 && s) return s;
	s = NULL;
	if (f[GetResultString] && AS(GetResultString, int, const char **)(result, &s) == 0) return s;
	return NULL;
}

/* A buffer in which every 8 bytes say the kind makes the library show the size that it gives records of it. */
int gander_cupti_stride(uint32_t kind, void *scratch, size_t size, size_t *stride) {
	ptr at = NULL, first;
	size_t i;
	int r;
	if (!f[GetNextRecord]) return ABSENT;
	memset(scratch, 0, size);
	for (i = 0; i + 8 <= size; i += 8) memcpy((char *)scratch + i, &kind, sizeof kind);
	if ((r = AS(GetNextRecord, uint8_t *, size_t, ptr *)(scratch, size, &at))) return r;
	first = at;
	if ((r = AS(GetNextRecord, uint8_t *, size_t, ptr *)(scratch, size, &at))) return r;
	*stride = (size_t)((char *)at - (char *)first);
	return 0;
}

/* ---- contexts ---- */
enum { CONTEXTS = 64 };
static pthread_mutex_t contexts_mu = PTHREAD_MUTEX_INITIALIZER; /* guards contexts */
static ptr contexts[CONTEXTS];

static void replace_context(ptr old, ptr new) {
	int i;
	pthread_mutex_lock(&contexts_mu);
	for (i = 0; i < CONTEXTS; i++)
		if (contexts[i] == old) {
			contexts[i] = new;
			break;
		}
	pthread_mutex_unlock(&contexts_mu);
}

enum { DOMAIN_RESOURCE = 3, CONTEXT_CREATED = 1, CONTEXT_DESTROY = 2 };
static void on_callback(void *user, int domain, uint32_t cbid, const void *data) {
	ptr context;
	(void)user;
	if (domain != DOMAIN_RESOURCE || !data) return;
	memcpy(&context, data, sizeof context); /* the first field of CUpti_ResourceData */
	if (cbid == CONTEXT_CREATED) replace_context(NULL, context);
	if (cbid == CONTEXT_DESTROY) replace_context(context, NULL);
}

static ptr subscriber;
int gander_cupti_subscribe(void) {
	int r;
	if (!f[Subscribe]) return ABSENT;
	r = AS(Subscribe, ptr *, void (*)(void *, int, uint32_t, const void *), void *)(&subscriber, on_callback, NULL);
	if (r == 0 && f[EnableCallback]) {
		AS(EnableCallback, uint32_t, ptr, int, uint32_t)(1, subscriber, DOMAIN_RESOURCE, CONTEXT_CREATED);
		AS(EnableCallback, uint32_t, ptr, int, uint32_t)(1, subscriber, DOMAIN_RESOURCE, CONTEXT_DESTROY);
	}
	return r;
}
int gander_cupti_unsubscribe(void) { return f[Unsubscribe] ? AS(Unsubscribe, ptr)(subscriber) : ABSENT; }

/* ---- buffers ---- */
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static pthread_cond_t filled;
static int filled_ready;
static gander_buffer *empty, *full, **full_end = &full;
static int made, limit = 64, may_refuse, woken;
static size_t buffer_size = 1 << 20;
static uint64_t lost_bytes, refused;

enum { HEADER = 64, SMALL = 1 << 16 };

static gander_buffer *new_buffer(size_t size) {
	ptr m;
	gander_buffer *b;
	if (posix_memalign(&m, HEADER, HEADER + size)) return NULL;
	b = m;
	b->data = (uint8_t *)m + HEADER;
	b->size = size;
	made++;
	return b;
}

static void on_request(uint8_t **data, size_t *size, size_t *max_records) {
	gander_buffer *b = NULL;
	*max_records = 0;
	pthread_mutex_lock(&mu);
	if (empty) {
		b = empty;
		empty = b->next;
	} else if (made < limit) {
		b = new_buffer(buffer_size);
	} else if (full) { /* nobody decodes in time: the oldest records make room */
		b = full;
		full = b->next;
		if (!full) full_end = &full;
		lost_bytes += b->valid;
	}
	/* Libraries before 12.9 crash without a buffer. A small one brings the records out sooner, too. */
	if (!b && !may_refuse) b = new_buffer(SMALL);
	if (!b) refused++;
	pthread_mutex_unlock(&mu);
	*data = b ? b->data : NULL;
	*size = b ? b->size : 0;
}

static void on_complete(ptr context, uint32_t stream, uint8_t *data, size_t size, size_t valid) {
	gander_buffer *b;
	(void)context;
	(void)stream;
	(void)size;
	if (!data) return;
	b = (gander_buffer *)(data - HEADER);
	b->valid = valid;
	b->next = NULL;
	pthread_mutex_lock(&mu);
	if (valid) {
		*full_end = b;
		full_end = &b->next;
		if (filled_ready) pthread_cond_signal(&filled);
	} else {
		b->next = empty;
		empty = b;
	}
	pthread_mutex_unlock(&mu);
}

void gander_pool_limit(int count, size_t size, int refuse) {
	pthread_mutex_lock(&mu);
	limit = count;
	buffer_size = size;
	may_refuse = refuse;
	woken = 0;
	if (!filled_ready) {
		pthread_condattr_t a;
		pthread_condattr_init(&a);
		pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
		pthread_cond_init(&filled, &a);
		filled_ready = 1;
	}
	pthread_mutex_unlock(&mu);
}

gander_buffer *gander_pool_take(int timeout_ms) {
	struct timespec until;
	gander_buffer *b;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += (timeout_ms % 1000) * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	pthread_mutex_lock(&mu);
	while (!full && !woken && timeout_ms > 0)
		if (pthread_cond_timedwait(&filled, &mu, &until) == ETIMEDOUT) break;
	b = full;
	if (b) {
		full = b->next;
		if (!full) full_end = &full;
	}
	pthread_mutex_unlock(&mu);
	return b;
}

/* Buffers of another size than is wanted now, and those made beyond the limit, are not kept. */
void gander_pool_give(gander_buffer *b) {
	pthread_mutex_lock(&mu);
	if (b->size != buffer_size || made > limit) {
		made--;
		free(b);
	} else {
		b->next = empty;
		empty = b;
	}
	pthread_mutex_unlock(&mu);
}

void gander_pool_wake(void) {
	pthread_mutex_lock(&mu);
	woken = 1;
	if (filled_ready) pthread_cond_broadcast(&filled);
	pthread_mutex_unlock(&mu);
}

void gander_pool_lost(uint64_t *bytes, uint64_t *refusals, int *count) {
	pthread_mutex_lock(&mu);
	*bytes = lost_bytes;
	*refusals = refused;
	*count = made;
	lost_bytes = refused = 0;
	pthread_mutex_unlock(&mu);
}

int gander_buffer_offsets(gander_buffer *b, void **at, uint32_t *offsets, int max, int *end) {
	int n;
	*end = 0;
	for (n = 0; n < max; n++) {
		int r = AS(GetNextRecord, uint8_t *, size_t, ptr *)(b->data, b->valid, at);
		if (r) {
			*end = r;
			break;
		}
		offsets[n] = (uint32_t)((uint8_t *)*at - b->data);
	}
	return n;
}

/* ---- control ---- */
static void attribute(int which, size_t size, void *value) {
	if (f[SetAttribute]) AS(SetAttribute, int, size_t *, void *)(which, &size, value); /* unknown ones are refused */
}

/* Between subscribing and enabling: threads by their Linux ids, one set of buffers for all threads, our callbacks. */
int gander_cupti_prepare(void) {
	uint8_t no = 0;
	if (!f[RegisterCallbacks] || !f[GetNextRecord]) return ABSENT;
	if (f[SetThreadIdType]) AS(SetThreadIdType, int)(1);
	attribute(9 /* PER_THREAD_ACTIVITY_BUFFER */, sizeof no, &no);
	return AS(RegisterCallbacks, void (*)(uint8_t **, size_t *, size_t *), void (*)(ptr, uint32_t, uint8_t *, size_t, size_t))(on_request, on_complete);
}
int gander_cupti_enable(int kind) { return f[Enable] ? AS(Enable, int)(kind) : ABSENT; }
int gander_cupti_disable(int kind) { return f[Disable] ? AS(Disable, int)(kind) : ABSENT; }
int gander_cupti_flush(uint32_t forced) { return f[FlushAll] ? AS(FlushAll, uint32_t)(forced) : ABSENT; }
int gander_cupti_dropped(size_t *n) { return f[GetNumDropped] ? AS(GetNumDropped, ptr, uint32_t, size_t *)(NULL, 0, n) : ABSENT; }

/*
 * External ids are a stack of CUPTI's for each thread. Its depth is kept here too, because spans may end in another order
 * than they began, or when the capture that they began in is over: an id is taken out wherever it is, and those above it
 * go back. Ids deeper than DEPTH are not pushed: work there belongs to the innermost span that was.
 */
enum { CUSTOM0 = 3, DEPTH = 256 };
static __thread uint64_t ids[DEPTH];
static __thread int depth;

int gander_cupti_push(uint64_t id) {
	int r;
	if (!f[Push] || !f[Pop]) return ABSENT;
	if (depth == DEPTH) return 0;
	r = AS(Push, int, uint64_t)(CUSTOM0, id);
	if (r == 0) ids[depth++] = id;
	return r;
}

int gander_cupti_pop(uint64_t id) {
	uint64_t last;
	int i, j, r = 0;
	for (i = depth - 1; i >= 0 && ids[i] != id; i--) {}
	if (i < 0) return 0; /* it was not pushed, or on another thread */
	for (j = depth; j > i; j--) r = AS(Pop, int, uint64_t *)(CUSTOM0, &last);
	for (j = i + 1; j < depth; j++) {
		ids[j - 1] = ids[j];
		AS(Push, int, uint64_t)(CUSTOM0, ids[j]);
	}
	depth--;
	return r;
}

const char *gander_cupti_call_name(int domain, uint32_t cbid) {
	const char *s = NULL;
	if (!f[GetCallbackName] || AS(GetCallbackName, int, uint32_t, const char **)(domain, cbid, &s)) return NULL;
	return s;
}

/* ---- driver ---- */
enum { Init, DriverVersion, DeviceCount, DeviceAttribute, DeviceName, DeviceMemory, PrimaryState, PrimaryRetain, PrimaryRelease, PushCurrent, PopCurrent, Synchronize, DRIVER };
static const char *const driver_names[DRIVER + 1] = {
	"cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGetAttribute", "cuDeviceGetName", "cuDeviceTotalMem_v2", "cuDevicePrimaryCtxGetState",
	"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuCtxSynchronize", NULL,
};
static void *d[DRIVER];
#define DR(i, ...) ((int (*)(__VA_ARGS__))d[i])

const char *gander_driver_symbol(int i) { return i < DRIVER ? driver_names[i] : NULL; }
void gander_driver_bind(int i, void *address) { d[i] = address; }
int gander_driver_init(void) { return d[Init] ? DR(Init, unsigned)(0) : ABSENT; }
int gander_driver_version(int *v) { return d[DriverVersion] ? DR(DriverVersion, int *)(v) : ABSENT; }
int gander_driver_count(int *n) { return d[DeviceCount] ? DR(DeviceCount, int *)(n) : ABSENT; }
int gander_driver_attribute(int *v, int a, int device) { return d[DeviceAttribute] ? DR(DeviceAttribute, int *, int, int)(v, a, device) : ABSENT; }
int gander_driver_name(char *name, int size, int device) { return d[DeviceName] ? DR(DeviceName, char *, int, int)(name, size, device) : ABSENT; }
int gander_driver_memory(size_t *total, int device) { return d[DeviceMemory] ? DR(DeviceMemory, size_t *, int)(total, device) : ABSENT; }

static int synchronize(ptr context) {
	ptr popped;
	int r = DR(PushCurrent, ptr)(context);
	if (r) return r;
	r = DR(Synchronize, void)();
	DR(PopCurrent, ptr *)(&popped);
	return r;
}

int gander_driver_synchronize(void) {
	ptr list[CONTEXTS], context;
	int i, n = 0, r, result = 0;
	if (!d[PushCurrent] || !d[PopCurrent] || !d[Synchronize]) return ABSENT;
	if (d[PrimaryState] && d[PrimaryRetain] && d[PrimaryRelease] && d[DeviceCount] && DR(DeviceCount, int *)(&n) == 0) {
		for (i = 0; i < n; i++) {
			unsigned flags;
			int active = 0;
			if (DR(PrimaryState, int, unsigned *, int *)(i, &flags, &active) || !active) continue;
			if (DR(PrimaryRetain, ptr *, int)(&context, i)) continue;
			if ((r = synchronize(context))) result = r;
			replace_context(context, NULL); /* done: the list below is of the others */
			DR(PrimaryRelease, int)(i);
		}
	}
	pthread_mutex_lock(&contexts_mu);
	memcpy(list, contexts, sizeof list);
	pthread_mutex_unlock(&contexts_mu);
	for (i = 0; i < CONTEXTS; i++)
		if (list[i] && (r = synchronize(list[i]))) result = r;
	return result;
}
