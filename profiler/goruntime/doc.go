// Package goruntime records what the Go runtime and the operating system know about the process while a profile runs:
// heap and resident size, goroutines, garbage collection, CPU samples, the heap by stack, the execution trace, CPU time,
// IO and context switches.
//
// Each source has Start, Stop and AddTo, as profiler.Source demands, and can fail without the others. None analyses
// anything. What a source costs while it runs, on two virtual CPUs (AMD EPYC, Go 1.26; the package's benchmarks repeat
// the measurements of single operations):
//
//	Metrics    a reading every 10 ms takes 0.6 us: below 0.01% of one CPU
//	Usage      at each end of the window 0.5 us for getrusage and 6 us for runtime.ReadMemStats, which stops the world
//	           (up to 200 us while all CPUs are busy)
//	CPU        0.3-1.7% at 100 Hz, 2.4% at the ceiling of 250 Hz; with spans 90 ns a span for labels
//	Heap       two garbage collections at each end of the recording, and 2-20 ns an allocation
//	ExecTrace  nothing for pure computation, about 110 ns an allocation of 512 bytes, 300 ns a channel operation, 540 ns a
//	           goroutine that is started
//
// Its invariant: times it adds lie in the window it was given, and figures that are estimates have that word in their name.
package goruntime
