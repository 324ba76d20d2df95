// Package insession records profiles in the session process: it is what the front process switches on before a %%profile
// cell and off after it. Importing it registers it with the session's worker, so only the session's main package does.
//
// It turns calls that instrumented cells make into spans and everything else over to package profiler. It neither
// analyses nor renders: the trace leaves the process in its file form.
//
// Its invariant: a profile is under way exactly between a Start that succeeded and the next Stop.
package insession
