package pprof

import (
	"bytes"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/gander-go/gander/profiler/trace"
)

// sampled returns a trace with samples of every kind.
func sampled() *trace.Trace {
	t := &trace.Trace{Meta: trace.Meta{Tool: "gander", Epoch: 1_700_000_000_000_000_000, Start: 5, End: 2_000_000_005}}
	x := t.StackIndex()
	root := x.Push(0, x.Frame("main.main", "/src/main.go", 10))
	work := x.Push(root, x.Frame("main.work", "/src/work.go", 20))
	other := x.Push(root, x.Frame("main.work", "/src/work.go", 31))
	span := t.Strings.ID("forward")
	add := func(kind trace.SampleKind, stack trace.StackID, span trace.StringID, weight, count int64) {
		t.Samples = append(t.Samples, trace.Sample{Time: trace.NoTime, Track: trace.NoTrack, Stack: stack, Kind: kind, Weight: weight, Count: count, Span: span})
	}
	add(trace.SampleCPU, work, span, 10_000_000, 1)
	add(trace.SampleCPU, work, span, 10_000_000, 1)
	add(trace.SampleCPU, work, 0, 30_000_000, 3)
	add(trace.SampleCPU, 0, 0, 1, 1)
	add(trace.SampleAlloc, other, 0, 4096, 2)
	add(trace.SampleInUse, other, 0, 1024, 1)
	add(trace.SampleInUse, work, 0, 512, 4)
	add(trace.SampleBlock, work, 0, 777, 7)
	return t
}

func parse(t *testing.T, tr *trace.Trace, kind trace.SampleKind) *profile.Profile {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, tr, kind); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestReferenceParserReadsCPUProfile(t *testing.T) {
	p := parse(t, sampled(), trace.SampleCPU)
	if len(p.SampleType) != 2 || p.SampleType[0].Type != "samples" || p.SampleType[1].Type != "cpu" || p.SampleType[1].Unit != "nanoseconds" || p.DefaultSampleType != "cpu" {
		t.Fatalf("types %v, default %q", p.SampleType, p.DefaultSampleType)
	}
	if p.TimeNanos != 1_700_000_000_000_000_005 || p.DurationNanos != 2_000_000_000 || p.PeriodType.Type != "cpu" {
		t.Errorf("time %d, duration %d, period %v", p.TimeNanos, p.DurationNanos, p.PeriodType)
	}
	if !p.HasFunctions() || !p.HasFileLines() {
		t.Error("pprof would try to find names in a binary")
	}
	if len(p.Sample) != 3 {
		t.Fatalf("%d samples, want 3: one without stack, two of one stack in and out of a span", len(p.Sample))
	}
	var spans, plain *profile.Sample
	for _, s := range p.Sample {
		switch {
		case len(s.Location) == 0:
		case s.Label[SpanLabel] != nil:
			spans = s
		default:
			plain = s
		}
	}
	if spans == nil || plain == nil || spans.Value[0] != 2 || spans.Value[1] != 20_000_000 || plain.Value[1] != 30_000_000 || spans.Label[SpanLabel][0] != "forward" {
		t.Fatalf("in a span %+v, outside %+v", spans, plain)
	}
	line := spans.Location[0].Line[0]
	if line.Function.Name != "main.work" || line.Function.Filename != "/src/work.go" || line.Line != 20 || spans.Location[1].Line[0].Function.Name != "main.main" {
		t.Errorf("the innermost frame must come first: %+v", spans.Location)
	}
}

func TestHeapProfileHoldsBothViews(t *testing.T) {
	for kind, def := range map[trace.SampleKind]string{trace.SampleAlloc: "alloc_space", trace.SampleInUse: "inuse_space"} {
		p := parse(t, sampled(), kind)
		if p.DefaultSampleType != def || len(p.SampleType) != 4 {
			t.Fatalf("default %q, want %q; types %v", p.DefaultSampleType, def, p.SampleType)
		}
		var sums [4]int64
		for _, s := range p.Sample {
			for i, v := range s.Value {
				sums[i] += v
			}
		}
		if want := [4]int64{2, 4096, 5, 1536}; sums != want {
			t.Errorf("sums %v, want %v", sums, want)
		}
		if len(p.Function) != 2 || len(p.Location) != 3 {
			t.Errorf("%d functions and %d locations, want 2 and 3: two lines of one function", len(p.Function), len(p.Location))
		}
	}
}

func TestEmptyAndUnknown(t *testing.T) {
	if p := parse(t, &trace.Trace{}, trace.SampleMutex); len(p.Sample) != 0 || len(p.SampleType) != 2 {
		t.Errorf("%+v", p)
	}
	if err := Write(&bytes.Buffer{}, &trace.Trace{}, 99); err == nil {
		t.Error("a kind that is none must be an error")
	}
}

func TestNegativeValuesSurvive(t *testing.T) {
	tr := &trace.Trace{Samples: []trace.Sample{{Kind: trace.SampleInUse, Weight: -8, Count: -1}}}
	if p := parse(t, tr, trace.SampleInUse); len(p.Sample) != 1 || p.Sample[0].Value[3] != -8 {
		t.Errorf("%+v", p.Sample)
	}
}

func BenchmarkWrite(b *testing.B) {
	t := sampled()
	for range 12 {
		t.Samples = append(t.Samples, t.Samples...)
	}
	b.ReportAllocs()
	for b.Loop() {
		var out bytes.Buffer
		if err := Write(&out, t, trace.SampleCPU); err != nil {
			b.Fatal(err)
		}
	}
}
