package session

import "golang.org/x/sys/unix"

// growBuffer makes room for long messages: with the privilege to, beyond the system's limit.
func growBuffer(fd int) {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, sendBuffer) != nil {
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, sendBuffer)
	}
}
