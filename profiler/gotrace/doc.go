// Package gotrace turns Go execution traces (runtime/trace) into tracks, slices, counters and samples of a trace.Trace.
//
// It runs in the front process only, because the parser it uses is not part of the standard library. It does not analyse:
// states too short to see are added up, nothing else.
//
// Its invariant: times of the result are on the clock of the recording it is merged into, and the time that a goroutine
// spent in each state is kept exactly, added up or not.
package gotrace
