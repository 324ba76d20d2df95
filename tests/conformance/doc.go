// Package conformance runs Go programs that are cut into cells through the whole stack (checker, engines, session
// process) and compares what they print with what `go run` prints. It holds only tests.
package conformance
