package kineto

import (
	"strconv"

	"github.com/gander-go/gander/profiler/trace"
)

var flowNames = [...]string{trace.FlowOther: "flow", trace.FlowLaunch: "ac2g", trace.FlowBackward: "fwdbwd", trace.FlowWake: "wake"}

// flows writes the ends of arrows. Arrows that share an id were one start with several ends, or a chain; they are written
// as that, so that the reader joins the same ends again.
func (x *writer) flows() {
	count := make(map[flowKey]int32, len(x.t.Flows))
	for i := range x.t.Flows {
		count[x.flowKey(i)]++
	}
	shared := map[flowKey][]int32{}
	for i := range x.t.Flows {
		if k := x.flowKey(i); count[k] > 1 {
			shared[k] = append(shared[k], int32(i))
		}
	}
	for i := range x.t.Flows {
		k := x.flowKey(i)
		switch list := shared[k]; {
		case list == nil:
			f := &x.t.Flows[i]
			if f.FromTrack >= 0 {
				x.flowEnd(f, k, 's', f.FromTrack, f.FromTime)
			}
			if f.ToTrack >= 0 {
				x.flowEnd(f, k, 'f', f.ToTrack, f.ToTime)
			}
		case list[0] == int32(i):
			x.sharedFlows(k, list)
		}
	}
}

// flowKey is what the ends of arrow i share; arrows that no file gave an id get one beyond those of files.
func (x *writer) flowKey(i int) flowKey {
	f := &x.t.Flows[i]
	if f.Cat == 0 && f.ID == 0 {
		return flowKey{f.Cat, 1<<40 + int64(i)}
	}
	return flowKey{f.Cat, f.ID}
}

func (x *writer) sharedFlows(k flowKey, list []int32) {
	type place struct {
		track trace.TrackID
		at    int64
	}
	begun, ended := map[place]bool{}, map[place]bool{} // starts that have an end, ends
	passed := map[place]bool{}                         // ends that another arrow goes on from
	for _, i := range list {
		f := &x.t.Flows[i]
		from, to := place{f.FromTrack, f.FromTime}, place{f.ToTrack, f.ToTime}
		if f.FromTrack >= 0 && !begun[from] && ended[from] {
			passed[from] = true
		} else if f.FromTrack >= 0 && f.ToTrack >= 0 {
			begun[from] = true
		}
		if f.ToTrack >= 0 {
			ended[to] = true
		}
	}
	clear(begun)
	for _, i := range list {
		f := &x.t.Flows[i]
		from, to := place{f.FromTrack, f.FromTime}, place{f.ToTrack, f.ToTime}
		if f.FromTrack >= 0 && !begun[from] && !passed[from] {
			x.flowEnd(f, k, 's', f.FromTrack, f.FromTime)
			begun[from] = f.ToTrack >= 0
		}
		if f.ToTrack >= 0 {
			phase := byte('f')
			if passed[to] {
				phase = 't'
			}
			x.flowEnd(f, k, phase, f.ToTrack, f.ToTime)
		}
	}
}

func (x *writer) flowEnd(f *trace.Flow, k flowKey, phase byte, on trace.TrackID, at int64) {
	cat := x.t.Strings.Get(f.Cat)
	if cat == "" {
		cat = flowNames[f.Kind]
	}
	x.event(phase)
	x.b = strconv.AppendInt(append(x.b, `,"id":`...), k.id, 10)
	if phase != 's' {
		x.b = append(x.b, `,"bp":"e"`...)
	}
	if f.Name != 0 {
		x.name(cat, f.Name)
	} else {
		x.b = quote(append(quote(append(x.b, `,"cat":`...), cat), `,"name":`...), cat)
	}
	x.on(on)
	x.time("ts", at)
	x.end()
}
