package analyze

import (
	"fmt"
	"testing"

	"github.com/gander-go/gander/internal/shared"
	"github.com/gander-go/gander/profiler/trace"
)

// spansTrace has n spans on eight goroutines, nested four deep, of 64 names.
func spansTrace(n int) *trace.Trace {
	t := &trace.Trace{}
	cat := t.Category("user_annotation", trace.ClassAnnotation)
	names := make([]trace.StringID, 64)
	for i := range names {
		names[i] = t.Strings.ID(fmt.Sprintf("span %d", i))
	}
	const goroutines = 8
	for g := range goroutines {
		t.Tracks = append(t.Tracks, trace.Track{Kind: trace.TrackGoroutine, ID: int64(g + 1), Device: trace.NoDevice})
		for k := 0; k < n/goroutines; k += 4 {
			for depth := range 4 {
				t.Slices = append(t.Slices, trace.Slice{Start: int64(k*1000 + depth*10), Dur: int64(900 - depth*100 + k%7),
					Track: trace.TrackID(g), Name: names[(k/4+depth*5)%64], Cat: cat})
			}
		}
	}
	return t
}

func BenchmarkKeyAveragesMillion(b *testing.B) {
	t := spansTrace(1_000_000)
	b.ReportAllocs()
	for b.Loop() {
		if a := KeyAverages(t, KeyOptions{}); len(a.Rows) != 64 {
			b.Fatal(len(a.Rows))
		}
	}
}

func BenchmarkKeyAveragesTorchMillion(b *testing.B) {
	t := spansTrace(1_000_000)
	b.ReportAllocs()
	for b.Loop() {
		KeyAverages(t, KeyOptions{Convention: Torch})
	}
}

func BenchmarkFlameMillion(b *testing.B) {
	t := spansTrace(1_000_000)
	b.ReportAllocs()
	for b.Loop() {
		Flame(t, FlameOptions{})
	}
}

// BenchmarkViews computes every view of real traces, as a report does.
func BenchmarkViews(b *testing.B) {
	for _, name := range []string{"owlv2_h100_132k_events.json.gz", "mtia_456k_events.json.gz"} {
		t := readTrace(b, shared.Path(b, "data", "traces", name))
		views := map[string]func(*Analysis){
			"averages": func(a *Analysis) { a.KeyAverages(KeyOptions{}) }, "overview": func(a *Analysis) { a.Overview() },
			"operators": func(a *Analysis) { a.Operators(OperatorOptions{}) }, "kernels": func(a *Analysis) { a.Kernels() },
			"memory": func(a *Analysis) { a.Memory(MemoryOptions{}) }, "modules": func(a *Analysis) { a.Modules() },
			"device": func(a *Analysis) {
				a.Temporal(Exact)
				a.Idle(IdleOptions{})
				a.Launches(LaunchOptions{})
				a.QueueLength(0, Exact)
				a.KernelBreakdown(BreakdownOptions{})
			},
			"advice": func(a *Analysis) { a.Advise() }, "flame": func(a *Analysis) { a.Flame(FlameOptions{}) },
		}
		all := func(a *Analysis) {
			for _, v := range views {
				v(a)
			}
		}
		b.Run(name+"/all", func(b *testing.B) {
			for b.Loop() {
				all(Of(t))
			}
		})
		for view, f := range views {
			b.Run(name+"/"+view, func(b *testing.B) {
				for b.Loop() {
					f(Of(t))
				}
			})
		}
	}
}
