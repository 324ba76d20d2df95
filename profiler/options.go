package profiler

import (
	"fmt"
	"strings"
)

// Activity is a set of things to record.
type Activity uint

const (
	CPU    Activity = 1 << iota // spans, operators and calls on the host; without it only steps are recorded
	CUDA                        // work on NVIDIA devices; needs a linked source, see RegisterSource
	Memory                      // heap and resident size over time, the program's own allocators
	Go                          // garbage collection, stop-the-world pauses, goroutine counts
)

var activityNames = []struct {
	name string
	a    Activity
}{{"cpu", CPU}, {"cuda", CUDA}, {"mem", Memory}, {"go", Go}}

// String lists the set as ParseActivities reads it: "cpu,mem".
func (a Activity) String() string {
	var list []string
	for _, n := range activityNames {
		if a&n.a != 0 {
			list = append(list, n.name)
		}
	}
	return strings.Join(list, ",")
}

// ParseActivities reads a comma-separated list of cpu, cuda, mem and go. The empty string is the empty set, which
// Options takes for everything.
func ParseActivities(s string) (Activity, error) {
	var a Activity
next:
	for word := range strings.SplitSeq(s, ",") {
		word = strings.ToLower(strings.TrimSpace(word))
		if word == "" {
			continue
		}
		for _, n := range activityNames {
			if n.name == word || n.name == "mem" && word == "memory" || n.name == "cuda" && word == "gpu" {
				a |= n.a
				continue next
			}
		}
		return 0, fmt.Errorf("parsing activities: %q is none of cpu, cuda, mem, go", word)
	}
	return a, nil
}

// MarshalText and UnmarshalText make activities readable in JSON.
func (a Activity) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText is the reverse of MarshalText.
func (a *Activity) UnmarshalText(b []byte) (err error) {
	*a, err = ParseActivities(string(b))
	return err
}

// Options say what a profile records. The zero value records everything that costs next to nothing.
type Options struct {
	Activities Activity `json:"activities,omitempty"` // empty: all that this process and machine have sources for

	RecordShapes  bool `json:"record_shapes,omitempty"`  // shapes of operators' arguments
	ProfileMemory bool `json:"profile_memory,omitempty"` // each Alloc and Free; with WithStack also the heap by stack
	WithStack     bool `json:"with_stack,omitempty"`     // the call stack of every span: a quarter of a microsecond each, more for deep ones
	WithFLOPs     bool `json:"with_flops,omitempty"`     // floating-point operations and bytes of operators

	// SampleHz is how often per second of CPU time the stacks of running goroutines are sampled; 0 is never. The
	// kernel's timer is the ceiling, 250 on most machines: more is asked for in vain and reported as a problem. While a
	// span is open the goroutine's own profiler labels are replaced by its name, by which samples are attributed.
	SampleHz int `json:"sample_hz,omitempty"`
	// OSCounts reads, at both ends of every span, what the operating system counts for the thread: CPU time, page faults, storage
	// blocks and context switches. It costs 1.5 us a span, and goroutines hold their threads while they have a span open, so
	// that each wait of theirs is a switch of threads. Spans of 20 us and more keep their counts. Linux only. Steps have the
	// counts of the whole process, always.
	OSCounts bool `json:"os_counts,omitempty"`
	// Sched takes a Go execution trace along: the state of every goroutine and why it waits. It slows programs that
	// allocate or communicate a lot, by up to 2.5 times in the worst case.
	Sched bool `json:"sched,omitempty"`

	// Schedule says which steps are recorded; the zero Schedule records from Start to Stop.
	Schedule Schedule `json:"schedule,omitzero"`
	// ScheduleFunc says what each step does, for loops that a Schedule cannot describe; it replaces Schedule. A cycle must
	// end with ActionRecordAndSave: other ends are reported and their records discarded.
	ScheduleFunc func(step int) Action `json:"-"`
	// OnTraceReady is called whenever a cycle of the schedule (or the whole recording, without one) is complete: on the
	// goroutine that called Step or Stop, before that returns. A panic of it reaches that caller.
	OnTraceReady func(p *Profile) `json:"-"`
	// AccEvents keeps the events of earlier cycles; without it each cycle starts empty.
	AccEvents bool `json:"acc_events,omitempty"`

	// WholeCycles throws away what was recorded of a cycle that Stop cuts short, once another one is complete. Without it a few
	// instructions behind the last Step replace the steps before them.
	WholeCycles bool `json:"whole_cycles,omitempty"`

	// MaxEvents bounds the spans kept, at 32 bytes each; what does not fit is counted. 0 is about four million.
	MaxEvents int `json:"max_events,omitempty"`
	// Owner says who records, for the error of a second Start; without it that is where Start was called.
	Owner string `json:"-"`
	// Metadata is written into the trace; values that are JSON text stay that, others become JSON strings.
	Metadata map[string]string `json:"metadata,omitempty"`
}

// unscheduled reports whether everything from Start to Stop is recorded.
func (o *Options) unscheduled() bool { return o.ScheduleFunc == nil && o.Schedule.none() }

// actionOf returns what happens during step.
func (o *Options) actionOf(step int) Action {
	if o.ScheduleFunc != nil {
		return min(o.ScheduleFunc(step), ActionRecordAndSave)
	}
	return o.Schedule.Action(step)
}
