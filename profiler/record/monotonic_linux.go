package record

import (
	"syscall"
	"time"
	"unsafe"
)

// clockMonotonic is CLOCK_MONOTONIC of clock_gettime(2), the clock below time.Now's monotonic part.
const clockMonotonic = 1

// monotonicBase reads CLOCK_MONOTONIC at base. Of a few tries the one with the smallest gap between the two readings
// counts; the system call itself puts the error below a microsecond.
func monotonicBase() int64 {
	var at, best int64 = 0, 1 << 62
	for range 8 {
		var ts syscall.Timespec
		a := int64(time.Since(base))
		_, _, e := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0)
		b := int64(time.Since(base))
		if e != 0 {
			return 0
		}
		if b-a < best {
			best, at = b-a, ts.Nano()-(a+b)/2
		}
	}
	return at
}
