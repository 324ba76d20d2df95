// Package parts lists what a session process is made of, beside the worker itself: packages that register with it in
// their init functions, and packages that cells import and that must therefore be the same in the process and in every
// plugin. The generated main package of the session process and `gander session` both import it.
//
// A package that is added here, or that one of these imports, must be named in the module's embed.go too; a test in
// kernel/session says which one is missing.
package parts

import (
	_ "github.com/gander-go/gander/cuda"
	_ "github.com/gander-go/gander/display"
	_ "github.com/gander-go/gander/kernel/session/worker/interp"
	_ "github.com/gander-go/gander/profiler/insession"
	_ "github.com/gander-go/gander/profiler/timing"
)
