package profiler

import (
	"slices"

	"github.com/gander-go/gander/profiler/record"
	"github.com/gander-go/gander/profiler/trace"
)

// Source records something beside spans: the Go runtime, a device. A profile makes one for each cycle of its schedule
// and calls Start, Stop and AddTo once each, in that order, from one goroutine at a time.
//
// A Source that also is a record.Correlator hears of every span, on the locked OS thread of its goroutine, so that it can
// tie device work to the span that launched it. One that has Open() and Close() hears of the very ends of the window.
type Source interface {
	// Start begins recording; it is called before the window opens (during the warmup, when there is one). An error
	// means that the source records nothing: it becomes a problem of the trace and the profile goes on without it.
	Start() error
	// Stop ends recording. Records of everything that was started before it are complete when it returns.
	Stop() error
	// AddTo adds what lies in the window to t. It need not sort. Problems are added to t; an error means that what was
	// recorded is lost.
	AddTo(t *trace.Trace, w record.Window) error
}

// Kind describes a source to RegisterSource.
type Kind struct {
	Name     string   // "cuda", for problems: lower case, a word or two
	Activity Activity // the source is used when Options.Activities has it
	// New makes a source for one cycle, or returns nil when o does not ask for it.
	New func(o Options) Source
	// Remedy says what people can do when the source does not start.
	Remedy string
	// Present reports whether there is anything to record on this machine, without side effects; nil is yes. A source that
	// is not present is not used where Options.Activities is empty; asked for by name, it says why it does not start.
	Present func() bool
}

// kinds is filled by init functions and read-only after.
var kinds []Kind

// RegisterSource adds a kind of source to all profiles of the process. It is for use in init functions.
func RegisterSource(k Kind) { kinds = append(kinds, k) }

// Supported returns the activities that this process has sources for.
func Supported() Activity {
	a := CPU | Memory | Go
	for _, k := range kinds {
		a |= k.Activity
	}
	return a
}

// present returns the activities that a profile records unless it is told which: those that the machine has.
func present() Activity {
	a := CPU | Memory | Go
	for _, k := range kinds {
		if k.Present == nil || k.Present() {
			a |= k.Activity
		}
	}
	return a
}

// settler is a source that adds to a trace what it can only tell when everything else is in it: spans are added after
// the sources. With AccEvents it is called again for each cycle, for the events of all of them.
type settler interface {
	Settle(t *trace.Trace)
}

// windowed is a source that reads something exactly at the ends of the window.
type windowed interface {
	Open()
	Close()
}

// running is a source of the current cycle.
type running struct {
	Kind
	source Source
}

// cycleSources makes the sources that o asks for.
func cycleSources(o Options) []running {
	var list []running
	for _, k := range slices.Concat(builtin, kinds) {
		if o.Activities&k.Activity == 0 {
			continue
		}
		if s := k.New(o); s != nil {
			list = append(list, running{k, s})
		}
	}
	return list
}
