/*
 * Calls of the driver API, each with its context made current around it: one cgo call stays on one OS thread, so a
 * goroutine may move between any two of them.
 */
#ifndef GANDER_CALLS_H
#define GANDER_CALLS_H

#include "cuda.h"

int gander_cu_status(const char **reason, const char **file);

/* What cuda.h leaves out, because gorgonia.org/cu does not use it. All of it is there since CUDA 11.4. */
CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream);
CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream);
CUresult cuStreamBeginCapture_v2(CUstream hStream, unsigned int mode);
CUresult cuStreamEndCapture(CUstream hStream, CUgraph *phGraph);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags);
CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream);
enum { GANDER_CAPTURE_RELAXED = 2 }; /* a capture that may end on another thread than it began on */

#define IN(ctx, call)                        \
	do {                                     \
		CUcontext old_;                      \
		CUresult r_ = cuCtxPushCurrent(ctx); \
		if (r_) return r_;                   \
		r_ = (call);                         \
		cuCtxPopCurrent(&old_);              \
		return r_;                           \
	} while (0)

static inline CUresult in_synchronize(CUcontext c) { IN(c, cuCtxSynchronize()); }
static inline CUresult in_mem_info(CUcontext c, size_t *free, size_t *total) { IN(c, cuMemGetInfo(free, total)); }
static inline CUresult in_alloc(CUcontext c, CUdeviceptr *p, size_t n) { IN(c, cuMemAlloc(p, n)); }
static inline CUresult in_alloc_async(CUcontext c, CUdeviceptr *p, size_t n, CUstream s) { IN(c, cuMemAllocAsync(p, n, s)); }
static inline CUresult in_free_async(CUcontext c, CUdeviceptr p, CUstream s) { IN(c, cuMemFreeAsync(p, s)); }
static inline CUresult in_free(CUcontext c, CUdeviceptr p) { IN(c, cuMemFree(p)); }
static inline CUresult in_alloc_host(CUcontext c, void **p, size_t n) {
	IN(c, cuMemHostAlloc(p, n, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
}
static inline CUresult in_host_pointer(CUcontext c, CUdeviceptr *d, void *p) { IN(c, cuMemHostGetDevicePointer(d, p, 0)); }
static inline CUresult in_free_host(CUcontext c, void *p) { IN(c, cuMemFreeHost(p)); }
static inline CUresult in_alloc_managed(CUcontext c, CUdeviceptr *p, size_t n) {
	IN(c, cuMemAllocManaged(p, n, CU_MEM_ATTACH_GLOBAL));
}
static inline CUresult in_prefetch(CUcontext c, CUdeviceptr p, size_t n, CUdevice d, CUstream s) {
	IN(c, cuMemPrefetchAsync(p, n, d, s));
}
static inline CUresult in_htod(CUcontext c, CUdeviceptr d, const void *h, size_t n) { IN(c, cuMemcpyHtoD(d, h, n)); }
static inline CUresult in_dtoh(CUcontext c, void *h, CUdeviceptr d, size_t n) { IN(c, cuMemcpyDtoH(h, d, n)); }
static inline CUresult in_htod_async(CUcontext c, CUdeviceptr d, const void *h, size_t n, CUstream s) {
	IN(c, cuMemcpyHtoDAsync(d, h, n, s));
}
static inline CUresult in_dtoh_async(CUcontext c, void *h, CUdeviceptr d, size_t n, CUstream s) {
	IN(c, cuMemcpyDtoHAsync(h, d, n, s));
}
static inline CUresult in_dtod_async(CUcontext c, CUdeviceptr d, CUdeviceptr f, size_t n, CUstream s) {
	IN(c, cuMemcpyDtoDAsync(d, f, n, s));
}
static inline CUresult in_set8(CUcontext c, CUdeviceptr d, unsigned char v, size_t n, CUstream s) {
	IN(c, cuMemsetD8Async(d, v, n, s));
}
static inline CUresult in_stream_create(CUcontext c, CUstream *s, unsigned flags, int priority) {
	IN(c, cuStreamCreateWithPriority(s, flags, priority));
}
static inline CUresult in_stream_destroy(CUcontext c, CUstream s) { IN(c, cuStreamDestroy(s)); }
static inline CUresult in_stream_synchronize(CUcontext c, CUstream s) { IN(c, cuStreamSynchronize(s)); }
static inline CUresult in_stream_query(CUcontext c, CUstream s) { IN(c, cuStreamQuery(s)); }
static inline CUresult in_stream_wait(CUcontext c, CUstream s, CUevent e) { IN(c, cuStreamWaitEvent(s, e, 0)); }
static inline CUresult in_capture_begin(CUcontext c, CUstream s) { IN(c, cuStreamBeginCapture_v2(s, GANDER_CAPTURE_RELAXED)); }
static inline CUresult in_capture_end(CUcontext c, CUstream s, CUgraph *g) { IN(c, cuStreamEndCapture(s, g)); }
static inline CUresult in_graph_instantiate(CUcontext c, CUgraphExec *e, CUgraph g) { IN(c, cuGraphInstantiateWithFlags(e, g, 0)); }
static inline CUresult in_graph_destroy(CUcontext c, CUgraph g) { IN(c, cuGraphDestroy(g)); }
static inline CUresult in_graph_launch(CUcontext c, CUgraphExec e, CUstream s) { IN(c, cuGraphLaunch(e, s)); }
static inline CUresult in_graph_exec_destroy(CUcontext c, CUgraphExec e) { IN(c, cuGraphExecDestroy(e)); }
static inline CUresult in_event_create(CUcontext c, CUevent *e, unsigned flags) { IN(c, cuEventCreate(e, flags)); }
static inline CUresult in_event_destroy(CUcontext c, CUevent e) { IN(c, cuEventDestroy(e)); }
static inline CUresult in_event_record(CUcontext c, CUevent e, CUstream s) { IN(c, cuEventRecord(e, s)); }
static inline CUresult in_event_synchronize(CUcontext c, CUevent e) { IN(c, cuEventSynchronize(e)); }
static inline CUresult in_event_query(CUcontext c, CUevent e) { IN(c, cuEventQuery(e)); }
static inline CUresult in_event_elapsed(CUcontext c, float *ms, CUevent from, CUevent to) {
	IN(c, cuEventElapsedTime(ms, from, to));
}
static inline CUresult in_module_unload(CUcontext c, CUmodule m) { IN(c, cuModuleUnload(m)); }
static inline CUresult in_function(CUcontext c, CUfunction *f, CUmodule m, const char *name) {
	IN(c, cuModuleGetFunction(f, m, name));
}
static inline CUresult in_global(CUcontext c, CUdeviceptr *p, size_t *n, CUmodule m, const char *name) {
	IN(c, cuModuleGetGlobal(p, n, m, name));
}
static inline CUresult in_attribute(CUcontext c, int *v, unsigned a, CUfunction f) { IN(c, cuFuncGetAttribute(v, a, f)); }
static inline CUresult in_blocks(CUcontext c, int *n, CUfunction f, int threads, size_t shared) {
	IN(c, cuOccupancyMaxActiveBlocksPerMultiprocessor(n, f, threads, shared));
}

/* The compiler's complaints come back in log, which has room for size bytes. */
static inline CUresult in_module_load(CUcontext c, CUmodule *m, const void *image, char *log, size_t size) {
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)(uintptr_t)size};
	IN(c, cuModuleLoadDataEx(m, image, 2, options, values));
}

typedef struct { unsigned grid[3], block[3], shared; } gander_shape;

/* The i-th argument is at values + offsets[i]; the driver knows the sizes from the kernel's code. */
static inline CUresult in_launch(CUcontext c, CUfunction f, const gander_shape *l, CUstream s, char *values,
                                 const uint32_t *offsets, uint32_t n) {
	void *params[n + 1];
	uint32_t i;
	for (i = 0; i < n; i++) params[i] = values + offsets[i];
	params[n] = NULL;
	IN(c, cuLaunchKernel(f, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], l->shared, s, params, NULL));
}

#endif
