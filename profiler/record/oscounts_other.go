//go:build !linux

package record

func readOSCounts() (osCounts, bool) { return osCounts{}, false }
