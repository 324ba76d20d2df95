// Package bind makes Go functions of CUDA kernels: it finds the __global__ functions in CUDA C++ source, maps the types of their
// parameters to Go's, and writes the Go code of %%cuda.
//
// It reads declarations, not C++: preprocessor conditions are not evaluated, and of templates only the explicit instantiations
// are kernels. Whether the source is right, the compiler says. Its one invariant: a parameter whose size or kind it is not sure of is an error, never a guess.
package bind

import "fmt"

// Kernel is a kernel with its parameters.
type Kernel struct {
	Name     string // as an expression of C++: "ns::scale", "ns::scale<float>"
	Line     int    // of the source, from 1
	Params   []Param
	Template bool // it is a template and has no Go function itself
}

// Param is a parameter of a kernel.
type Param struct {
	Name string // empty when the source gives none
	C    string // its type in C++, without qualifiers
	Go   string // its type in Go, in terms of package driver
}

// Error is a declaration that cannot be bound.
type Error struct {
	Line int
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }
