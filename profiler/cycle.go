package profiler

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/gander-go/gander/profiler/cellstack"
	"github.com/gander-go/gander/profiler/goruntime"
	"github.com/gander-go/gander/profiler/record"
	"github.com/gander-go/gander/profiler/trace"
)

// cycle is one recording: from the warmup, if there is one, to the last active step.
type cycle struct {
	recorder *record.Recorder
	sources  []running
	problems []trace.Problem
	open     bool  // the window is open: spans are recorded
	start    int64 // record time just before it opened
	end      int64 // record time just after it closed
	usage    stepUsage
}

// accumulated is what AccEvents carries from cycle to cycle.
type accumulated struct {
	recorder *record.Recorder
	relay    *relay
	sources  *trace.Trace // what the sources of all cycles recorded
	usage    map[int]goruntime.Resources
	epoch    int64
}

// relay hands spans to the correlating source of the current cycle.
type relay struct {
	to atomic.Pointer[record.Correlator]
}

func (r *relay) Push(id uint64) {
	if c := r.to.Load(); c != nil {
		(*c).Push(id)
	}
}

func (r *relay) Pop(id uint64) {
	if c := r.to.Load(); c != nil {
		(*c).Pop(id)
	}
}

// enter goes from the action of one step to that of the next one. What it does in each case is torch.profiler's
// transition table, except that an incorrect RECORD to WARMUP prepares the new cycle.
func (p *Profile) enter(from, to Action) error {
	switch from {
	case ActionNone:
		return p.advance(to, true)
	case ActionWarmup:
		if to == ActionNone {
			p.warn("schedule", "Incorrect schedule: WARMUP followed by NONE.", "Let active steps follow the warmup.")
			p.discard()
			return nil
		}
		return p.advance(to, false)
	case ActionRecord:
		if to == ActionNone || to == ActionWarmup {
			p.warn("schedule", fmt.Sprintf("Incorrect schedule: RECORD followed by %s; what was recorded is discarded.", to),
				"Let the last active step be RECORD_AND_SAVE.")
			p.discard()
			return p.advance(to, true)
		}
		return nil
	}
	return p.save(to)
}

// advance prepares a cycle when fresh says that there is none yet, and opens its window, as far as to demands it.
func (p *Profile) advance(to Action, fresh bool) error {
	if to == ActionNone {
		return nil
	}
	if fresh {
		p.prepare()
	}
	if to == ActionWarmup {
		return nil
	}
	return p.open()
}

// save completes the cycle, hands it over, and goes on to the next action, also when OnTraceReady panics.
func (p *Profile) save(to Action) (err error) {
	p.complete()
	defer func() {
		if !p.stopping {
			err = p.advance(to, true)
		}
	}()
	p.ready()
	return nil
}

// leave ends the profile during a step of action from.
func (p *Profile) leave(from Action) {
	switch from {
	case ActionWarmup:
		p.discard()
		p.empty("The profile ended during the warmup: no step was recorded.")
	case ActionNone:
		p.empty("The schedule never reached an active step.")
	case ActionRecord, ActionRecordAndSave:
		if p.cycle == nil {
			return // OnTraceReady called Stop: the cycle is complete
		}
		if p.options.WholeCycles && p.Cycles() > 0 && p.acc == nil && !p.options.unscheduled() {
			p.discard()
			return
		}
		p.complete()
		p.ready()
	}
}

// empty leaves a trace that says why it is empty, unless a cycle is complete.
func (p *Profile) empty(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cycles > 0 {
		return
	}
	now := record.Now()
	t := p.newTrace(now, now)
	t.Problem("schedule", 1, why, "Call Step at the end of every iteration and let the schedule be shorter than the loop.")
	for _, w := range p.warnings {
		t.Problem(w.Kind, w.Count, w.Text, w.Remedy)
	}
	p.trace = t
}

// prepare starts the sources of a new cycle.
func (p *Profile) prepare() {
	c := &cycle{}
	p.cycle = c
	config := record.Config{
		MaxEvents: p.options.MaxEvents, NoSpans: p.options.Activities&CPU == 0, Shapes: p.options.RecordShapes, FLOPs: p.options.WithFLOPs,
		Memory: p.options.ProfileMemory, Stacks: p.options.WithStack, Labels: p.options.SampleHz > 0, OSCounts: p.options.OSCounts,
	}
	link := new(relay)
	if p.acc != nil {
		link = p.acc.relay
	}
	for _, k := range cycleSources(p.options) {
		if err := guard(k.source.Start); err != nil {
			c.failed(k, "Nothing was recorded by %s: %v.", err)
			continue
		}
		c.sources = append(c.sources, k)
		if s, ok := k.source.(record.Correlator); ok {
			link.to.Store(&s)
			config.Correlator = link
		}
	}
	if p.acc != nil {
		c.recorder, c.usage.steps = p.acc.recorder, p.acc.usage
		return
	}
	c.recorder = record.New(config)
	c.usage.steps = make(map[int]goruntime.Resources)
	if p.options.AccEvents {
		p.acc = &accumulated{recorder: c.recorder, relay: link, usage: c.usage.steps}
	}
}

// failed notes that a source recorded nothing, or that it is lost.
func (c *cycle) failed(k running, format string, err error) {
	c.problems = append(c.problems, trace.Problem{
		Kind: "source-" + strings.ReplaceAll(k.Name, " ", "-"), Count: 1, Text: fmt.Sprintf(format, k.Name, err), Remedy: k.Remedy,
	})
}

// guard turns a panic of a source into an error: no source may take the program down.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return f()
}

// open opens the window of the cycle.
func (p *Profile) open() error {
	c := p.cycle
	for _, k := range c.sources {
		if s, ok := k.source.(windowed); ok {
			s.Open()
		}
	}
	c.start = record.Now()
	if err := c.recorder.Start(); err != nil {
		p.discard()
		return err
	}
	c.open = true
	return nil
}

// close ends the recording of the cycle.
func (p *Profile) close() {
	c := p.cycle
	c.recorder.Stop()
	c.end = record.Now()
	if c.open {
		for _, k := range c.sources {
			if s, ok := k.source.(windowed); ok {
				s.Close()
			}
		}
	}
	c.open = false
	kept := c.sources[:0]
	for _, k := range c.sources {
		if err := guard(k.source.Stop); err != nil {
			c.failed(k, "What %s recorded is lost: %v.", err)
			continue
		}
		kept = append(kept, k)
	}
	c.sources = kept
}

// discard ends the cycle and throws its records away.
func (p *Profile) discard() {
	if p.cycle != nil {
		p.close()
		p.cycle = nil
	}
}

// complete ends the cycle and makes its trace the profile's.
func (p *Profile) complete() {
	c := p.cycle
	if c == nil {
		return
	}
	p.close()
	p.cycle = nil
	w := record.Window{Epoch: c.start, Start: c.start, End: c.end}
	t := p.newTrace(c.start, c.end)
	if a := p.acc; a != nil {
		if a.sources == nil {
			a.epoch, a.sources = c.start, t
		}
		t, w.Epoch = a.sources, a.epoch
		t.Meta.End = c.end - a.epoch
	}
	for _, k := range c.sources {
		if err := guard(func() error { return k.source.AddTo(t, w) }); err != nil {
			c.failed(k, "What %s recorded is lost: %v.", err)
		}
	}
	for _, q := range c.problems {
		t.Problem(q.Kind, q.Count, q.Text, q.Remedy)
	}
	if p.acc != nil {
		t = t.Clone()
	}
	c.recorder.AddTo(t, w.Epoch)
	for _, k := range c.sources {
		if s, ok := k.source.(settler); ok {
			if err := guard(func() error { s.Settle(t); return nil }); err != nil {
				t.Problem("source-"+strings.ReplaceAll(k.Name, " ", "-"), 1, fmt.Sprintf("What %s recorded is not tied to spans: %v.", k.Name, err), "Please report this.")
			}
		}
	}
	c.usage.addTo(t)
	cellstack.Plain(t, nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.warnings {
		t.Problem(q.Kind, q.Count, q.Text, q.Remedy)
	}
	if p.cycles > 0 && p.acc == nil && p.options.OnTraceReady == nil {
		t.Problem("schedule", int64(p.cycles), "Earlier cycles of the schedule are not in this profile: each cycle starts empty.",
			"Say repeat=1 for the first one, set AccEvents for all of them, or take each in OnTraceReady.")
	}
	t.Sort()
	t.Bind()
	if err := t.Validate(); err != nil {
		t.Problem("invalid-trace", 1, "The recording is not consistent: "+err.Error()+".", "Please report this.")
	}
	p.trace = t
	p.cycles++
}

// ready calls OnTraceReady.
func (p *Profile) ready() {
	if p.options.OnTraceReady == nil {
		return
	}
	p.handling.Store(record.Goroutine())
	defer p.handling.Store(0)
	p.options.OnTraceReady(p)
}

// newTrace returns a trace without events whose time zero is the record time epoch.
func (p *Profile) newTrace(epoch, end int64) *trace.Trace {
	t := &trace.Trace{Meta: trace.Meta{
		Tool: "gander", PID: int64(os.Getpid()), Rank: trace.NoRank, Epoch: record.Wall(epoch), End: end - epoch,
	}}
	t.Category("", trace.ClassOther)
	if host, err := os.Hostname(); err == nil {
		t.Meta.Host = host
	}
	value := func(key string, v any) {
		if text, err := json.Marshal(v); err == nil {
			t.Meta.Values = append(t.Meta.Values, trace.KeyValue{Key: key, Value: string(text)})
		}
	}
	o := p.options
	for _, f := range []struct {
		key string
		on  bool
	}{{"record_shapes", o.RecordShapes}, {"profile_memory", o.ProfileMemory}, {"with_stack", o.WithStack}, {"with_flops", o.WithFLOPs}, {"os_counts", o.OSCounts}} {
		if f.on {
			value(f.key, 1)
		}
	}
	value("activities", o.Activities)
	value("go_version", runtime.Version())
	value("go_max_procs", runtime.GOMAXPROCS(0))
	value("clock", record.ClockName())
	if mono := record.Monotonic(epoch); mono != 0 {
		value(trace.MonotonicZero, mono)
	}
	if !o.Schedule.none() {
		value("schedule", o.Schedule)
	}
	keys := make([]string, 0, len(o.Metadata))
	for k := range o.Metadata {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		if v := o.Metadata[k]; json.Valid([]byte(v)) {
			t.Meta.Values = append(t.Meta.Values, trace.KeyValue{Key: k, Value: v})
		} else {
			value(k, v)
		}
	}
	return t
}
