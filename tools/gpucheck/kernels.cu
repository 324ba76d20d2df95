// The kernels of gpucheck. kernels.ptx is made of this file by NVRTC 11.8 for compute_75: any driver since runs it.
extern "C" {

__global__ void gc_saxpy(int n, float a, const float *x, float *y) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] += a * x[i];
}

__global__ void gc_reduce(const float *x, int n, float *sum) {
	float s = 0;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		s += x[i];
	for (int d = 16; d > 0; d /= 2)
		s += __shfl_down_sync(0xffffffff, s, d);
	if (threadIdx.x % 32 == 0)
		atomicAdd(sum, s);
}

__global__ void gc_gemm(int m, int n, int k, const float *a, const float *b, float *c) {
	int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
	if (row >= m || col >= n)
		return;
	float s = 0;
	for (int i = 0; i < k; i++)
		s += a[row * k + i] * b[i * n + col];
	c[row * n + col] = s;
}

// These last that many nanoseconds of the device's clock. The second one keeps a stream busy while others are put on it.
__device__ void spin(long long ns) {
	long long start, now;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (now - start < ns);
}
__global__ void gc_spin(long long ns) { spin(ns); }
__global__ void gc_hold(long long ns) { spin(ns); }

}
