// Package trace is the one model in the middle of Gander: what was recorded, whoever recorded it.
//
// Sources (profiler/record, profiler/goruntime, cuda/cupti, profiler/kineto, profiler/pprof) build a Trace; analysis,
// rendering and exports read it. It is not a wire format of anybody's and holds no analysis. It imports only the
// standard library, because the process that runs user code links it.
//
// Its one invariant is Validate: a Trace that passes can be read without bounds checks and in order.
package trace
