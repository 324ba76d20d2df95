//go:build !linux

package goruntime

// ReadResources reads the counts of the process since it started; here nothing is known.
func ReadResources() (Resources, bool) { return Resources{}, false }
