package gotrace

import (
	"strconv"
	"strings"

	xtrace "golang.org/x/exp/trace"

	"github.com/gander-go/gander/profiler/trace"
)

var stateNames = map[xtrace.GoState]string{
	xtrace.GoRunnable: "runnable", xtrace.GoRunning: "running", xtrace.GoWaiting: "waiting", xtrace.GoSyscall: "syscall",
}

// transition ends one state of a goroutine and begins the next.
func (b *builder) transition(e *xtrace.Event, d *xtrace.StateTransition, at int64) {
	id := d.Resource.Goroutine()
	from, to := d.Goroutine()
	g := b.goroutine(id)
	shown := g.line.end(at)
	if by := e.Goroutine(); from == xtrace.GoWaiting && to == xtrace.GoRunnable && by != xtrace.NoGoroutine && by != id && shown {
		b.wake(b.goroutine(by).line.track, g.line.track, at)
	}
	if from == xtrace.GoNotExist && d.Stack != xtrace.NoStack {
		b.name(id, g, d.Stack)
	}
	if name, ok := stateNames[to]; ok {
		if to == xtrace.GoWaiting && d.Reason != "" {
			name += " (" + waitReason(d) + ")"
		}
		g.line.begin(b.t.Strings.ID(name), at)
	}
	if p := e.Proc(); p != xtrace.NoProc && from != to {
		b.proc(p, id, from, to, at)
	}
}

// waitReason is why a goroutine waits. The runtime says "sync" of mutexes, wait groups and conditions alike: the stack tells
// which of them it is, as sync.(*Mutex).Lock.
func waitReason(d *xtrace.StateTransition) string {
	if d.Reason != "sync" || d.Stack == xtrace.NoStack {
		return d.Reason
	}
	const looks = 8 // frames from the innermost
	found, n := "", 0
	for f := range d.Stack.Frames() {
		name := strings.Replace(f.Func, "internal/sync.", "sync.", 1)
		if n++; n > looks || found != "" && !strings.HasPrefix(name, "sync.") {
			break
		}
		if strings.HasPrefix(name, "sync.(") {
			found = name // the outermost: what the program called
		}
	}
	if found == "" {
		return d.Reason
	}
	return strings.TrimSuffix(found, "Slow")
}

// proc shows on the track of a processor which goroutine it runs.
func (b *builder) proc(p xtrace.ProcID, id xtrace.GoID, from, to xtrace.GoState, at int64) {
	l := b.procs[p]
	if l == nil {
		l = b.lines.add(b.tracks.ID(b.process, trace.TrackRuntime, trackProcs+int64(p), "P"+strconv.FormatInt(int64(p), 10)))
		b.procs[p] = l
	}
	switch {
	case to == xtrace.GoRunning:
		l.end(at)
		l.begin(b.t.Strings.ID(b.t.Tracks[b.goroutine(id).track].Name), at)
	case from == xtrace.GoRunning:
		l.end(at)
	}
}

// name adds to the track's name the function that the goroutine began with.
func (b *builder) name(id xtrace.GoID, g *goroutine, s xtrace.Stack) {
	var outer string
	for f := range s.Frames() {
		outer = f.Func
	}
	g.named, g.function = outer != "", outer
	number := "goroutine " + strconv.FormatInt(int64(id), 10)
	if k := &b.t.Tracks[g.track]; outer != "" && k.Name == number {
		k.Name += " " + outer
		b.t.Tracks[g.line.track].Name = k.Name + " states"
	}
}
