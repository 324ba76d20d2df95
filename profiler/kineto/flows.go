package kineto

import (
	"cmp"
	"slices"

	"github.com/gander-go/gander/profiler/trace"
)

// flowKey is what the ends of one arrow share.
type flowKey struct {
	cat trace.StringID
	id  int64
}

// flows joins the ends of arrows. Kineto also writes ends of arrows that nobody began, for every runtime call; those
// become arrows with one side.
//
// Almost always one start and one end have an id in common. Where more do (ids that come again, one start with several
// ends, steps between), they are taken in order of time: every step and end is reached from the latest start or step
// before it.
func (m *merger) flows() []trace.Flow {
	points := m.points.take(0)
	if len(points) == 0 {
		return nil
	}
	type members struct{ starts, ends int32 } // index plus one; below zero: several
	groups := make(map[flowKey]members, len(points)/2)
	for i := range points {
		p := &points[i]
		k := flowKey{p.cat, p.id}
		g := groups[k]
		side := &g.ends
		if p.phase == 's' {
			side = &g.starts
		}
		if *side != 0 || p.phase == 't' {
			*side = -1
		} else {
			*side = int32(i + 1)
		}
		groups[k] = g
	}
	out := make([]trace.Flow, 0, len(groups))
	var tangled []flowPoint
	for i := range points {
		p := &points[i]
		g := groups[flowKey{p.cat, p.id}]
		switch {
		case g.starts < 0 || g.ends < 0:
			tangled = append(tangled, *p)
		case p.phase == 's' && g.ends > 0:
			out = append(out, m.arrow(p, &points[g.ends-1]))
		case p.phase == 's':
			out = append(out, m.arrow(p, nil))
		case g.starts == 0:
			out = append(out, m.arrow(nil, p))
		}
	}
	slices.SortStableFunc(tangled, func(a, b flowPoint) int {
		return cmp.Or(cmp.Compare(a.cat, b.cat), cmp.Compare(a.id, b.id), cmp.Compare(a.time, b.time), rank(a.phase)-rank(b.phase))
	})
	for i := 0; i < len(tangled); {
		var from *flowPoint
		used := true
		n := i
		for ; n < len(tangled) && tangled[n].cat == tangled[i].cat && tangled[n].id == tangled[i].id; n++ {
			p := &tangled[n]
			if p.phase != 's' {
				out = append(out, m.arrow(from, p))
				used = true
			}
			if p.phase != 'f' {
				if !used {
					out = append(out, m.arrow(from, nil))
				}
				from, used = p, p.phase == 't'
			}
		}
		if !used {
			out = append(out, m.arrow(from, nil))
		}
		i = n
	}
	return out
}

// rank orders the ends of arrows at one time.
func rank(phase byte) int {
	switch phase {
	case 's':
		return 0
	case 't':
		return 1
	}
	return 2
}

func (m *merger) arrow(from, to *flowPoint) trace.Flow {
	f := trace.Flow{FromTrack: trace.NoTrack, ToTrack: trace.NoTrack, From: trace.NoSlice, To: trace.NoSlice}
	if to != nil {
		f.ID, f.Name, f.Cat, f.ToTrack, f.ToTime = to.id, to.name, to.cat, to.track, to.time
	}
	if from != nil {
		f.ID, f.Name, f.Cat, f.FromTrack, f.FromTime = from.id, from.name, from.cat, from.track, from.time
	}
	switch m.t.Strings.Get(f.Cat) {
	case "ac2g", "async_cpu_to_gpu", "async_gpu":
		f.Kind = trace.FlowLaunch
	case "fwdbwd", "forward_backward":
		f.Kind = trace.FlowBackward
	case "wake":
		f.Kind = trace.FlowWake
	}
	return f
}
