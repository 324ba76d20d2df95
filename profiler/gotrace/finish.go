package gotrace

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// finish ends what is still open and brings t into order.
func (b *builder) finish() {
	t := b.t
	b.lines.close(b.now)
	for k, start := range b.ranges {
		b.span(k, start, b.now)
	}
	b.lines.close(b.now)
	for id, open := range b.tasks {
		b.task(id, open, b.now)
	}
	for _, g := range b.goroutines {
		for _, r := range g.regions {
			b.slice(g.track, r.name, b.cats.region, r.start, b.now, trace.FlagUnfinished)
		}
	}
	if b.exact && b.clock.merged {
		b.dropEstimates()
	}
	b.addSamples()
	if !b.clock.merged {
		t.Meta.Start, t.Meta.End = b.low, b.now
	}
	if b.lostWakes > 0 {
		t.Problem("dropped-wakes", b.lostWakes, "Arrows between goroutines beyond the first 200000 were left out.", "Record a shorter piece.")
	}
	b.background()
	t.Sort()
	b.spans()
	t.Bind()
}

// background orders the goroutines of the runtime behind those of the program, and with them those that were there before the
// recording began and have no span in it.
func (b *builder) background() {
	busy := make([]bool, len(b.t.Tracks))
	for i := range b.t.Slices {
		if s := &b.t.Slices[i]; b.t.Class(s) != trace.ClassGC { // who allocates assists
			busy[s.Track] = true
		}
	}
	const (
		behind   = 1 << 40
		sessions = "github.com/gander-go/gander/kernel/session/" // of the process that runs cells
	)
	for _, g := range b.goroutines {
		k, states := &b.t.Tracks[g.track], &b.t.Tracks[g.line.track]
		if !busy[g.track] && (!g.named || strings.HasPrefix(g.function, "runtime.") || strings.HasPrefix(g.function, "runtime/") || strings.HasPrefix(g.function, sessions)) {
			k.Sort += behind
			states.Sort += behind
		}
	}
}

// dropEstimates takes out the collections that another source estimated: they are the only slices of their categories
// that have the names it gives.
func (b *builder) dropEstimates() {
	b.t.Slices = slices.DeleteFunc(b.t.Slices, func(s trace.Slice) bool {
		if c := b.t.Categories[s.Cat].Class; c != trace.ClassGC && c != trace.ClassSTW {
			return false
		}
		name := b.t.Strings.Get(s.Name)
		return name == "GC (estimated start)" || name == "GC stop the world"
	})
}

// addSamples replaces CPU samples without time by those of the execution trace, which are the same ones with a time. The
// time that a sample stands for is taken from those replaced.
func (b *builder) addSamples() {
	if len(b.samples) == 0 {
		return
	}
	var weight, count int64
	b.t.Samples = slices.DeleteFunc(b.t.Samples, func(s trace.Sample) bool {
		if s.Kind != trace.SampleCPU {
			return false
		}
		weight, count = weight+s.Weight, count+s.Count
		return true
	})
	if count > 0 && weight > 0 {
		for i := range b.samples {
			b.samples[i].Weight = weight / count
		}
	}
	b.t.Samples = append(b.t.Samples, b.samples...)
}

// spans gives each sample the name of the innermost span that was open on its goroutine.
//
//  1. Samples with a track are ordered by track and time.
//  2. Slices, which are ordered so already, and samples are swept together; a stack holds the open spans.
func (b *builder) spans() {
	t := b.t
	var order []int
	for i := range t.Samples {
		if s := &t.Samples[i]; s.Kind == trace.SampleCPU && s.Track != trace.NoTrack && s.Time != trace.NoTime && s.Span == 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := &t.Samples[i], &t.Samples[j]
		return cmp.Or(cmp.Compare(a.Track, b.Track), cmp.Compare(a.Time, b.Time))
	})
	next := 0
	var open []int
	on := trace.NoTrack
	for _, i := range order {
		s := &t.Samples[i]
		if s.Track != on {
			on, open = s.Track, open[:0]
			for next < len(t.Slices) && t.Slices[next].Track < on {
				next++
			}
		}
		for ; next < len(t.Slices) && t.Slices[next].Track == on && t.Slices[next].Start <= s.Time; next++ {
			for len(open) > 0 && t.Slices[open[len(open)-1]].End() <= t.Slices[next].Start {
				open = open[:len(open)-1]
			}
			open = append(open, next)
		}
		for len(open) > 0 && t.Slices[open[len(open)-1]].End() <= s.Time {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			s.Span = t.Slices[open[len(open)-1]].Name
		}
	}
}
