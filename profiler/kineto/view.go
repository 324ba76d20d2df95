package kineto

import "unsafe"

// view returns b as a string without copying. The caller must never change b again.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
