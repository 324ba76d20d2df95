// Package goruntime records what the Go runtime and the operating system know about the process while a profile runs:
// heap and resident size, goroutines, garbage collection, CPU samples, the heap by stack, the execution trace, CPU time,
// IO and context switches.
//
// Each source has Start, Stop and AddTo, as profiler.Source demands, and can fail without the others. None analyses
// anything. What a source costs while it runs, measured by the package's benchmarks on two virtual CPUs (AMD EPYC):
//
//	Metrics    10 ms ticker: a few microseconds a tick, below 0.1% of one CPU
//	Usage      two calls of getrusage and, exactly once before and once after, runtime.ReadMemStats (10-200 us, the
//	           world stopped)
//	CPU        0.3-1.7% at 100 Hz
//	Heap       two garbage collections, and 2-20 ns an allocation at the rate of 64 KiB
//	ExecTrace  nothing for pure computation, about 110 ns an allocation of 512 bytes, 300 ns a channel operation,
//	           500 ns a goroutine started
//
// Its invariant: times it adds lie in the window it was given, and figures that are estimates have that word in their name.
package goruntime
