package trace

import (
	"math/rand/v2"
	"testing"
)

// innermost is Bind by definition: of the slices that hold time, the last one in slice order.
func innermost(t *Trace, track TrackID, time int64) int32 {
	for i := len(t.Slices) - 1; i >= 0; i-- {
		if s := &t.Slices[i]; s.Track == track && s.Start <= time && s.End() >= time {
			return int32(i)
		}
	}
	return NoSlice
}

func TestBindFindsInnermost(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		x := nested(r, 3, 60)
		for range 80 {
			from, to := TrackID(r.IntN(3)), TrackID(r.IntN(4))-1
			x.Flows = append(x.Flows, Flow{FromTrack: from, FromTime: r.Int64N(1100) - 50, ToTrack: to, ToTime: r.Int64N(1100) - 50})
		}
		x.Bind()
		if err := x.Validate(); err != nil {
			t.Fatal(err)
		}
		for i := range x.Flows {
			f := &x.Flows[i]
			if want := innermost(x, f.FromTrack, f.FromTime); f.From != want {
				t.Fatalf("seed %d: time %d on track %d is bound to %d, want %d", seed, f.FromTime, f.FromTrack, f.From, want)
			}
			want := NoSlice
			if f.ToTrack != NoTrack {
				want = innermost(x, f.ToTrack, f.ToTime)
			}
			if f.To != want {
				t.Fatalf("seed %d: time %d on track %d is bound to %d, want %d", seed, f.ToTime, f.ToTrack, f.To, want)
			}
		}
	}
}

// nested builds tracks of randomly nested slices that share no boundary between siblings.
func nested(r *rand.Rand, tracks, n int) *Trace {
	x := &Trace{}
	cat := x.Category("c", ClassOther)
	index := x.TrackIndex()
	p := x.Process(1, "p")
	for k := range tracks {
		id := index.Goroutine(p, int64(k+1))
		var split func(from, to int64, n int)
		split = func(from, to int64, n int) {
			if n <= 0 || to-from < 8 {
				return
			}
			x.Slices = append(x.Slices, Slice{Start: from, Dur: to - from, Track: id, Cat: cat})
			mid := from + 1 + r.Int64N(to-from-4)
			split(from+1, mid, (n-1)/2)
			split(mid+2, to-1, (n-1)/2)
		}
		split(0, 1000, n)
	}
	x.Sort()
	return x
}

func TestBindPrefersCorrelation(t *testing.T) {
	x := &Trace{}
	cat := x.Category("kernel", ClassKernel)
	k := x.TrackIndex().ID(NoProcess, TrackStream, 7, "stream 7")
	x.Slices = []Slice{{Start: 10, Dur: 50, Corr: 1, Track: k, Cat: cat}, {Start: 20, Dur: 50, Corr: 2, Track: k, Cat: cat}}
	x.Flows = []Flow{
		{Kind: FlowLaunch, ID: 1, FromTrack: NoTrack, ToTrack: k, ToTime: 20},
		{Kind: FlowLaunch, ID: 2, FromTrack: NoTrack, ToTrack: k, ToTime: 20},
		{Kind: FlowLaunch, ID: 1, FromTrack: NoTrack, ToTrack: k, ToTime: 65},
	}
	x.Bind()
	for i, want := range []int32{0, 1, 1} {
		if got := x.Flows[i].To; got != want {
			t.Errorf("flow %d is bound to %d, want %d", i, got, want)
		}
	}
}
