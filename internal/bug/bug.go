// Package bug is where mistakes of ours go that must not end the kernel: a state that cannot be, a panic in a handler. In
// tests they panic, so that none goes unseen; in a program they are written to stderr with a stack and counted, and
// the program goes on. GANDER_BUGS=panic or =report in the environment decides otherwise. Mistakes of users are error
// values and never come here.
package bug

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"sync/atomic"
)

// reports counts what was reported since the process began.
var reports atomic.Int64

// Count returns how many mistakes were reported so far.
func Count() int64 { return reports.Load() }

// panics reports whether a mistake ends the process, as it does in a test binary.
func panics() bool {
	switch os.Getenv("GANDER_BUGS") {
	case "panic":
		return true
	case "report":
		return false
	}
	return flag.Lookup("test.v") != nil
}

// Reportf reports a mistake of ours and returns it as an error.
func Reportf(format string, args ...any) error {
	err := fmt.Errorf("internal mistake: "+format, args...)
	if panics() {
		panic(err)
	}
	reports.Add(1)
	fmt.Fprintf(os.Stderr, "gander: %v\nThis is a bug in gander; please report it with these lines.\n%s", err, debug.Stack())
	return err
}

// Recover, deferred, turns a panic into a report: doing says what went wrong at, and then, when not nil, is told the error.
func Recover(doing string, then func(error)) {
	p := recover()
	if p == nil {
		return
	}
	if panics() {
		panic(p)
	}
	err := Reportf("%s: panic: %v", doing, p)
	if then != nil {
		then(err)
	}
}
