//go:build unix

package history

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock takes the exclusive lock of f, which ends when f is closed.
func lock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err != unix.EINTR {
			return err
		}
	}
}
