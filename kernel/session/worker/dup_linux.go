package worker

import "syscall"

// dup makes to a copy of from. Not every architecture has dup2.
func dup(from, to int) error { return syscall.Dup3(from, to, 0) }
