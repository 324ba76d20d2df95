// Package cupti captures what CUDA does in this process: it opens NVIDIA's profiling library (libcupti) at run time, has it
// write activity records into a bounded pool of buffers, and decodes them, for toolkits 11.8 to 13.x.
//
// It is not the profiler's source: package cuda makes a trace of the records. It takes nothing from CUDA's headers at build
// time and links no library of NVIDIA's. Layouts of records come from a generated table (layouts_gen.go) and are gated by
// the record sizes that the opened library itself reports; every layout from 11.8 on has only grown, so that a library that
// is newer than the table is read too, without its newest fields.
//
// # Threads
//
// CUPTI asks for buffers and hands them back on the application's threads, inside CUDA calls and with its own locks held.
// These callbacks are C, take one lock that is never held while CUPTI is called, and never enter Go. One goroutine waits for
// full buffers and decodes them. When it falls behind, the oldest undecoded buffer is used again, and what is lost is
// counted.
//
// The package's one invariant: no record is lost without being counted in Records.Lost.
package cupti
