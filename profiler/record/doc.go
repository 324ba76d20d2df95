// Package record is the hot path of the profiler: it notes spans, memory events and counter values while the program
// runs, and turns them into a trace.Trace when asked.
//
// It is not the API users call (that is package profiler) and knows no sources but the program itself. At most one
// Recorder is active in a process; Begin finds it with one atomic load, which is all that a span costs when nothing
// records.
//
// # How a span is recorded
//
//  1. Begin interns the name (a cache by string address, checked by content), reads the goroutine id, takes the shard
//     that the id selects and reserves the next 32-byte Event of the shard's chunk under the shard's lock.
//  2. Begin stores start time, goroutine, name and argument id there and returns a Span: a pointer to the Event.
//  3. End stores the end time into the Event with one atomic write and no lock.
//
// So an unfinished span is an Event without an end, Events of one goroutine are ordered by start, and a reader may take
// a snapshot at any time. Times are raw ticks of the time stamp counter where the kernel trusts it and are converted
// when the trace is built, from readings of both clocks at the start and the end of the recording.
//
// The one invariant: memory is bounded by Config; what does not fit is counted and reported as a trace.Problem.
package record
