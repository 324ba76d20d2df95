// Package driver runs work on NVIDIA GPUs from Go: devices, contexts, memory, streams, events, graphs and kernels of CUDA's driver
// API, for notebooks and programs alike.
//
// It needs no CUDA to build and none to start: the driver is opened when it is first used, and where there is none every
// call returns an error that says why. It is not a binding of everything the driver can do; gorgonia.org/cu is, builds in
// cells by the same means, and works inside Context.Do.
//
// Its one invariant: no call depends on the OS thread it is made on. Each makes its context current, works and restores
// what was current, within one call of C, so goroutines may move as they like.
package driver
