// Package pprof writes samples of a trace.Trace as profile.proto, the format of `go tool pprof`.
//
// It does not read profiles: internal/open does, with the reference parser. It imports only the standard library, because
// cells export profiles from the process they run in; the few message types it needs do not justify more.
//
// Its invariant: the values of all samples written add up to those of the trace.
package pprof
