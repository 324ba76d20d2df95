// Package kineto reads and writes Chrome trace JSON, first of all as PyTorch's profiler (Kineto) writes it.
//
// It turns bytes into a trace.Trace and back and does nothing else: attribution, trees and totals are profiler/analyze's.
// It is called by the front process for files of users and by profiler.ExportChromeTrace for live recordings, and imports
// only the standard library.
//
// Its invariant: whatever the input, Read stays within the memory that its options state, every trace that it returns
// passes Validate, and every event that is not in that trace is counted in Trace.Problems.
package kineto
