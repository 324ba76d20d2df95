//go:build !linux || !cgo || !(amd64 || arm64)

package doctor

import "context"

// cudaChecks says that this build has no CUDA.
func cudaChecks(context.Context) (wait func() []Check) {
	return func() []Check {
		return []Check{{Name: "CUDA", Status: Optional, Detail: "this build of gander cannot open NVIDIA's libraries", Fix: "on Linux, build it with a C compiler"}}
	}
}
