package profiler

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gander-go/gander/profiler/goruntime"
	"github.com/gander-go/gander/profiler/trace"
)

// stepUsage notes what the operating system counts for the process during each step: half a microsecond a step.
type stepUsage struct {
	before goruntime.Resources
	known  bool
	steps  map[int]goruntime.Resources
}

// maxStepUsages bounds the map, 64 bytes each.
const maxStepUsages = 1 << 17

// beginStep reads the counts before a step.
func (c *cycle) beginStep() { c.usage.before, c.usage.known = goruntime.ReadResources() }

// endStep notes what step number n used.
func (c *cycle) endStep(n int) {
	u := &c.usage
	if !u.known || len(u.steps) >= maxStepUsages {
		return
	}
	u.known = false
	if now, ok := goruntime.ReadResources(); ok {
		u.steps[n] = now.Sub(u.before)
	}
}

// addTo hangs the counts on the slices of the steps, as JSON.
func (u *stepUsage) addTo(t *trace.Trace) {
	if len(u.steps) == 0 {
		return
	}
	for i := range t.Slices {
		s := &t.Slices[i]
		if t.Class(s) != trace.ClassStep {
			continue
		}
		n, err := strconv.Atoi(strings.TrimPrefix(t.Name(s), "ProfilerStep#"))
		used, ok := u.steps[n]
		if err != nil || !ok {
			continue
		}
		text, err := json.Marshal(map[string]int64{
			"CPU user ns": used.UserTime, "CPU system ns": used.SystemTime, "page faults": used.MinorFaults + used.Faults,
			"blocks in": used.BlocksIn, "blocks out": used.BlocksOut, "context switches": used.Switches, "preemptions": used.Preemptions,
		})
		if err != nil {
			continue
		}
		if len(t.Ops) == 0 {
			t.Ops = append(t.Ops, trace.OpArgs{})
		}
		args := trace.OpArgs{Sequence: trace.NoSequence}
		if s.Kind == trace.ArgOp {
			args = t.Ops[s.Args]
		}
		args.Extra = t.Strings.IDBytes(text)
		t.Ops = append(t.Ops, args)
		s.Kind, s.Args = trace.ArgOp, uint32(len(t.Ops)-1)
	}
}
