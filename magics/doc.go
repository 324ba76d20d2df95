// Package magics is the layer between the kernel and the language: it implements kernel.Engine, hands magics to the code
// here, one file for each, and everything else to the Go evaluator.
//
// It knows the evaluator, the profiler's analysis and rendering; the kernel knows none of it. It runs in the front process
// and never runs user code itself. Its one invariant: a magic that is wrong (unknown, a bad flag) stops the cell before
// any of it has run.
package magics
