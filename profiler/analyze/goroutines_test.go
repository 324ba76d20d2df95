package analyze

import (
	"slices"
	"testing"

	"github.com/gander-go/gander/profiler/trace"
)

func TestGoroutinesByFunction(t *testing.T) {
	tr := &trace.Trace{}
	cat := tr.Category("goroutine_state", trace.ClassState)
	track := func(name string) trace.TrackID {
		tr.Tracks = append(tr.Tracks, trace.Track{Kind: trace.TrackOther, Name: name})
		return trace.TrackID(len(tr.Tracks) - 1)
	}
	add := func(on trace.TrackID, state string, start, dur int64) {
		tr.Slices = append(tr.Slices, trace.Slice{Start: start, Dur: dur, Track: on, Name: tr.Strings.ID(state), Cat: cat})
	}
	a, b, c, other := track("goroutine 1 states"), track("goroutine 7 main.work states"), track("goroutine 8 main.work states"), track("thread 4")
	add(a, "waiting (chan receive)", 0, 100)
	add(b, "running", 0, 30)
	add(b, "waiting (select)", 30, 20)
	add(b, "syscall", 50, 5)
	add(c, "runnable", 0, 10)
	add(c, "running", 10, 40)
	add(c, "waiting (chan send)", 50, 25)
	add(other, "running", 0, 1000)
	want := []Goroutines{
		{Function: "main.work", Count: 2, Running: 70, Runnable: 10, Waiting: 45, Syscall: 5, LongestOn: "chan send"},
		{Function: "goroutine 1", Count: 1, Waiting: 100, LongestOn: "chan receive"},
	}
	if got := Of(tr).Goroutines(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}
