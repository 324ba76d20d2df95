//go:build !linux

package session

import "golang.org/x/sys/unix"

// growBuffer makes room for long messages.
func growBuffer(fd int) { unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, sendBuffer) }
