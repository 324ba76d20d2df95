// Package parts lists what a session process is made of, beside the worker itself: packages that register with it in
// their init functions, and packages that cells import and that must therefore be the same in the process and in every
// plugin. The generated main package of the session process and `gander session` both import it.
package parts

import (
	_ "github.com/gander-go/gander/display"
)
