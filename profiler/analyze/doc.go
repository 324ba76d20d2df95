// Package analyze computes everything that a report shows from one trace.Trace: key averages, steps, device metrics,
// operators, kernels, memory, modules, idle time, launches, overlap, the critical path, flame graphs, advice and diffs.
//
// It reads traces and returns plain values; it draws nothing (render does), reads no files (kineto, pprof do) and never
// changes a Trace. Who calls it: profiler (in the process that runs user code, so it imports only the standard library),
// profiler/report, magics and the command line.
//
// Its one invariant: all times are int64 nanoseconds on the trace's clock and all sizes are bytes; a number that is an
// estimate or that double counts says so in its field's comment. Where a peer (torch, its TensorBoard plugin, Holistic
// Trace Analysis) uses another convention, the exact figure is the default and the peer's is a named Convention.
//
// Use Of when more than one view of a trace is wanted: the views share the call tree and the links between launches and
// device work. The functions of the package are shorthands for one view.
package analyze
