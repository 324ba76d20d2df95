package analyze

import (
	"testing"

	"github.com/gander-go/gander/profiler/trace"
)

func TestUntimedCalls(t *testing.T) {
	x := &trace.Trace{Meta: trace.Meta{End: 1000, Rank: trace.NoRank}, Calls: make([]trace.CallArgs, 2)}
	call := x.Category("go_call", trace.ClassCall)
	x.Calls[1] = trace.CallArgs{ID: -1, Parent: -1, Module: -1, Extra: x.Strings.ID(`{"calls counted only":97}`)}
	k := x.TrackIndex().Goroutine(x.Process(1, "p"), 7)
	for i := range 3 {
		s := trace.Slice{Start: int64(100 * i), Dur: int64(10 * (i + 1)), Track: k, Name: x.Strings.ID("strconv.Itoa"), Cat: call}
		if i == 0 {
			s.Kind, s.Args = trace.ArgCall, 1
		}
		x.Slices = append(x.Slices, s)
	}
	if err := x.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Convention{Exact, Torch} {
		a := KeyAverages(x, KeyOptions{Convention: c})
		r := a.Rows[0]
		if len(a.Rows) != 1 || r.Count != 100 || r.Untimed != 97 || r.CPUTotal != 60 || r.CPUAvg() != 20 {
			t.Errorf("%v: %+v", c, r)
		}
		if n := a.Total(); n.Count != 100 || n.CPUAvg() != 20 {
			t.Errorf("%v: total %+v", c, n)
		}
	}
}
