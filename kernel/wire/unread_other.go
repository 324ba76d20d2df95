//go:build !linux

package wire

import "net"

// awaitReadable returns at once: the read that follows waits.
func awaitReadable(net.Conn) {}

// unread returns 0: what has arrived but was not read is not known on this system.
func unread(net.Conn) int { return 0 }
