/*
 * A stand-in for libnvidia-ml.so.1 with figures that follow from the time and the device, for tests.
 *
 * STANDIN_DEVICES=n      devices (1)
 * STANDIN_NVML_INIT=code what nvmlInit returns
 * STANDIN_NVML_OLD=1     only functions of a driver of 2018: no memory info v2, no throttle reasons
 * STANDIN_NVML_BUSY=1    the clocks are held back by the power cap
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, INSUFFICIENT_SIZE = 7, FUNCTION_NOT_FOUND = 13 };
typedef struct { int index; } *device;
typedef struct { unsigned long long total, free, used; } memory;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } memory2;
typedef struct { unsigned gpu, memory; } utilization;
typedef struct { char legacy[16]; unsigned domain, bus, device, id, sub; char bus_id[32]; } pci;
typedef struct { unsigned pid; unsigned long long used; unsigned gi, ci; } process;

static int devices[8], started;
static int env(const char *n, int d) { const char *v = getenv(n); return v && *v ? atoi(v) : d; }
static int old(void) { return env("STANDIN_NVML_OLD", 0); }
static int of(device d) { return (int)((int *)d - devices); }
static int bad(device d) { return !started ? UNINITIALIZED : of(d) < 0 || of(d) >= env("STANDIN_DEVICES", 1) ? INVALID : OK; }
#define DEVICE { int r_ = bad(d); if (r_) return r_; }

/* What the stand-in driver of this process has allocated, where there is one. */
static unsigned long long allocated(int d) {
	const char *file = getenv("GANDER_LIBCUDA");
	void *cuda = file ? dlopen(file, RTLD_NOW | RTLD_NOLOAD) : NULL, *f = cuda ? dlsym(cuda, "standin_cuda_used") : NULL;
	return f ? ((unsigned long long (*)(int))f)(d) : 0;
}

int nvmlInit_v2(void) { int r = env("STANDIN_NVML_INIT", 0); started = !r; return r; }
int nvmlInit(void) { return nvmlInit_v2(); }
int nvmlShutdown(void) { started = 0; return OK; }
const char *nvmlErrorString(int r) { return r == 9 ? "Driver Not Loaded" : r == 18 ? "Driver/library version mismatch" : r == 999 ? "Unknown Error" : "Error"; }
int nvmlSystemGetDriverVersion(char *b, unsigned n) { snprintf(b, n, "550.54.15"); return OK; }
int nvmlSystemGetNVMLVersion(char *b, unsigned n) { snprintf(b, n, "12.550.54.15"); return OK; }
int nvmlSystemGetCudaDriverVersion(int *v) { *v = 12040; return OK; }
int nvmlSystemGetCudaDriverVersion_v2(int *v) { *v = 12040; return OK; }
int nvmlSystemGetProcessName(unsigned pid, char *b, unsigned n) { if (pid == 4242) return 6; snprintf(b, n, "process-%u", pid); return OK; }
int nvmlDeviceGetCount_v2(unsigned *n) { if (!started) return UNINITIALIZED; *n = (unsigned)env("STANDIN_DEVICES", 1); return OK; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, device *d) { if (i >= (unsigned)env("STANDIN_DEVICES", 1)) return INVALID; *d = (device)&devices[i]; return OK; }
int nvmlDeviceGetName(device d, char *b, unsigned n) { DEVICE snprintf(b, n, "Stand-in GPU %d", of(d)); return OK; }
int nvmlDeviceGetUUID(device d, char *b, unsigned n) { DEVICE snprintf(b, n, "GPU-%08x-0203-0405-0607-08090a0b0c0d", of(d)); return OK; }
int nvmlDeviceGetPciInfo_v3(device d, pci *p) { DEVICE memset(p, 0, sizeof *p); p->bus = 0x65; snprintf(p->bus_id, sizeof p->bus_id, "00000000:65:%02X.0", of(d)); return OK; }
int nvmlDeviceGetCudaComputeCapability(device d, int *a, int *b) { DEVICE *a = 9; *b = 0; return OK; }
int nvmlDeviceGetMemoryInfo(device d, memory *m) { DEVICE m->total = 1ull << 30; m->used = (300ull << 20) + allocated(of(d)); m->free = m->total - m->used; return OK; }
int nvmlDeviceGetMemoryInfo_v2(device d, memory2 *m) {
	DEVICE
	if (old()) return FUNCTION_NOT_FOUND;
	if (m->version != (sizeof *m | 2u << 24)) return INVALID;
	m->total = 1ull << 30; m->reserved = 44ull << 20; m->used = (256ull << 20) + allocated(of(d)); m->free = m->total - m->used - m->reserved;
	return OK;
}
int nvmlDeviceGetUtilizationRates(device d, utilization *u) { DEVICE u->gpu = 37 + of(d); u->memory = 12; return OK; }
int nvmlDeviceGetPowerUsage(device d, unsigned *mw) { DEVICE *mw = 123456; return OK; }
int nvmlDeviceGetEnforcedPowerLimit(device d, unsigned *mw) { DEVICE *mw = 700000; return OK; }
int nvmlDeviceGetTemperature(device d, int sensor, unsigned *t) { DEVICE if (sensor) return INVALID; *t = 51; return OK; }
int nvmlDeviceGetClockInfo(device d, int type, unsigned *c) { DEVICE if (type != 1 && type != 2) return INVALID; *c = type == 1 ? 1755 : 3201; return OK; }
int nvmlDeviceGetMaxClockInfo(device d, int type, unsigned *c) { DEVICE *c = type == 1 ? 1980 : 3201; return OK; }
int nvmlDeviceGetCurrentClocksThrottleReasons(device d, unsigned long long *r) { DEVICE if (old()) return NOT_SUPPORTED; *r = env("STANDIN_NVML_BUSY", 0) ? 4 : 1; return OK; }
int nvmlDeviceGetMigMode(device d, unsigned *now, unsigned *pending) { DEVICE *now = *pending = 0; return OK; }
int nvmlDeviceGetComputeRunningProcesses_v3(device d, unsigned *n, process *p) {
	const unsigned long long unknown = ~0ull;
	DEVICE
	if (*n < 2) { *n = 2; return INSUFFICIENT_SIZE; }
	p[0] = (process){(unsigned)getpid(), 256ull << 20, ~0u, ~0u};
	p[1] = (process){4242, unknown, ~0u, ~0u};
	*n = 2;
	return OK;
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(device d, unsigned *n, process *p) { DEVICE (void)p; *n = 0; return OK; }
