// Package gander holds the sources of its own session process, so that the binary can build that process with the
// toolchain that cells are compiled with. It is not an API; cmd/gander is the program.
package gander

import "embed"

// Sources are the packages that the session process is made of (kernel/session/worker/parts names them) and those that cells
// can import beside (kernel/session names them), with go.mod and go.sum. Files that end in _test.go are not used. A test in
// kernel/session fails when a package is missing here.
//
//go:embed go.mod go.sum
//go:embed cuda/*.go cuda/cupti/*.go cuda/cupti/*.c cuda/cupti/*.h cuda/internal/dl/*.go
//go:embed cuda/driver/*.go cuda/driver/*.c cuda/driver/*.h
//go:embed display/*.go
//go:embed kernel/session/link/*.go
//go:embed kernel/session/rt/*.go
//go:embed kernel/session/worker/*.go
//go:embed kernel/session/worker/interp/*.go
//go:embed kernel/session/worker/parts/*.go
//go:embed kernel/session/worker/plugins/*.go
//go:embed profiler/*.go
//go:embed profiler/analyze/*.go
//go:embed profiler/cellstack/*.go
//go:embed profiler/goruntime/*.go
//go:embed profiler/hooks/gonum/*.go
//go:embed profiler/insession/*.go
//go:embed profiler/kineto/*.go
//go:embed profiler/pprof/*.go
//go:embed profiler/record/*.go profiler/record/*.s
//go:embed profiler/timing/*.go
//go:embed profiler/trace/*.go
var Sources embed.FS

// CellPackages are the embedded packages that the session process does not link: cells import them, and bring the modules
// that they need themselves.
var CellPackages = []string{"profiler/hooks/gonum"}
