//go:build gorgonia

package cuda

// gorgonia.org/cu is not linked by Gander itself: its init function would end the session process on a machine without a
// driver. Cells import it, against the trampolines of cuda/driver. This file, which no build includes, keeps the version
// that cells and tests use among the module's requirements.
import _ "gorgonia.org/cu"
