//go:build !linux

package goruntime

// withRate would set another sampling rate than the default.
func withRate(int, func() error) error { return errNoRate }
