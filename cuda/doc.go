// Package cuda records device work in profiles: importing it adds a source for profiler.CUDA.
//
//	import _ "github.com/gander-go/gander/cuda"
//
// Kernels, copies, sets, synchronisation, allocations and the calls that cause them are tied to the span in which they were
// launched, whether the program calls the runtime or the driver, from Go or from a C library. NVIDIA's profiling library is
// opened when a profile asks for CUDA and not before; where there is none, or no driver, or no device, the profile has a
// problem that says so.
//
// It is not an API of CUDA: package cuda/driver is. Capturing is package cuda/cupti's; this package makes a trace of the
// records.
//
// # What is in a profile
//
// Device work belongs to the window in which it was launched; work whose launch is not known, to that in which it started.
// Stop waits for the device, as torch.profiler does, so that the last step has its kernels; times of device work may then
// reach beyond the window. Durations of device work are the device's own; its place in time is right to below a microsecond
// (see clock). A call that was made inside a span lies on the goroutine's track, others on their thread's.
//
// A span of the program's is a range on each stream that its work ran on, and so is each launch of a graph (see ranges).
// CUPTI tells of each node of a graph; with GANDER_CUDA_GRAPHS=whole it tells of each launch as one piece of work, which costs less
// where graphs are large.
// NVTX's ranges and marks are recorded where NVTX_INJECTION64_PATH names libcupti, on the tracks of their threads.
//
// # Figures
//
// Blocks and warps per multiprocessor and the estimated achieved occupancy are those of torch.profiler (see occupancy);
// bandwidth is bytes by duration, in GB/s of 10⁹ bytes. Allocated memory is what this process allocated and did not release,
// counted from the allocations that the capture saw and the releases of earlier ones; reserved memory adds what pools hold.
//
// Names of kernels are as the C++ runtime library demangles them where the machine has one, else as compiled.
//
// The package's one invariant: what the capture could not see or lost is a problem of the trace.
package cuda
