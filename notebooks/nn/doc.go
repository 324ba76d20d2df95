// Package nn is a small neural network library: float32 tensors in NCHW order, layers with forward and backward passes,
// ResNet-18, SGD and a DataLoader with workers. It is the workload of Gander's notebooks, written as any user would write
// it: on gonum's BLAS, which profiler/hooks/gonum instruments, with named ranges around layers and with tensors that tell
// the profiler of their memory.
//
// It is not a framework: no autograd graph (each layer keeps what its backward pass needs), no broadcasting, no devices.
// Its one invariant: a layer's Backward may be called once after each Forward, in reverse order.
package nn
