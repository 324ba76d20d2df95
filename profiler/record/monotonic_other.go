//go:build !linux

package record

func monotonicBase() int64 { return 0 }
