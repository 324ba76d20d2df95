//go:build !linux

package worker

import "syscall"

// dup makes to a copy of from.
func dup(from, to int) error { return syscall.Dup2(from, to) }
