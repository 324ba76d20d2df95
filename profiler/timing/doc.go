// Package timing measures how long a function takes and how much memory it needs: what %timeit and %memit run in the
// session process, and any Go program may use. It is no benchmark framework and no profiler.
//
// Its one invariant: a figure is measured over whole runs of the function, and its spread is told with it.
package timing
