package profiler

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gander-go/gander/profiler/trace"
)

func TestTables(t *testing.T) {
	p := start(t, Options{RecordShapes: true, Schedule: Schedule{Warmup: 1, Active: 2, Repeat: 1}})
	p.Step()
	for range 2 {
		Record("outer", func() {
			time.Sleep(time.Millisecond)
			BeginOp("op", &Op{Shapes: [][]int{{2, 3}}}).End()
			BeginOp("op", &Op{Shapes: [][]int{{4}}}).End()
			done := make(chan bool)
			go func() { BeginOp("op", nil).End(); close(done) }()
			<-done
		})
		p.Step()
	}
	p.Stop()
	rows := func(o ...GroupOption) (n int) {
		for _, r := range p.KeyAverages(o...).Rows {
			if r.Key == "op" {
				n++
			}
		}
		return n
	}
	for name, c := range map[string]struct{ got, want int }{
		"by name":      {rows(), 1},
		"by shape":     {rows(GroupByShape()), 3},
		"by goroutine": {rows(GroupByGoroutine()), 3},
		"by step":      {rows(GroupByStep()), 2},
		"as torch":     {rows(TorchConvention()), 1},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d rows, want %d", name, c.got, c.want)
		}
	}
	a := p.KeyAverages()
	lines := func(s, part string) int { return strings.Count(s, part) }
	if s := a.Table(SortBy("count"), RowLimit(1), Header("title")); lines(s, "op ") != 1 || lines(s, "outer") != 0 || lines(s, "title") != 1 {
		t.Errorf("the row with the most calls:\n%s", s)
	}
	if s := a.Table(SortBy("cpu_time_total"), TopLevel(), TimeUnit("s")); lines(s, "ProfilerStep*") != 1 || lines(s, "outer") != 0 {
		t.Errorf("top level:\n%s", s)
	}
	if s := p.KeyAverages(TorchConvention()).Table(TorchColumns()); lines(s, "Self CPU time total:") != 1 || lines(s, "# of Calls") != 1 {
		t.Errorf("torch's columns:\n%s", s)
	}
	if s := a.Table(SortBy("nonsense")); !strings.HasPrefix(s, "profiler: ") || lines(s, "nonsense") != 1 {
		t.Errorf("a wrong key: %s", s)
	}
	var b bytes.Buffer
	if err := a.WriteTable(&b, SortBy("nonsense")); err == nil || b.Len() > 0 {
		t.Errorf("a wrong key: %v, %s", err, b.String())
	}
	if err := a.WriteTable(&b); err != nil || b.String() != a.String() {
		t.Errorf("%v", err)
	}
}

func TestExportsOfSamples(t *testing.T) {
	p := start(t, Options{Activities: CPU, WithStack: true, SampleHz: 100})
	Record("busy", func() { burn(100 * time.Millisecond) })
	p.Stop()
	if !hasSamples(p.Trace(), trace.SampleCPU) {
		t.Skip("SKIPPED: the machine took no CPU samples, or the CPU profile is in use")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "cpu.pprof")
	if err := p.ExportPprof(path); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x, err := profile.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	var got, want int64
	for i, typ := range x.SampleType {
		if typ.Unit == "nanoseconds" {
			for _, s := range x.Sample {
				got += s.Value[i]
			}
		}
	}
	for _, s := range p.Trace().Samples {
		if s.Kind == trace.SampleCPU {
			want += s.Weight
		}
	}
	if got != want || want == 0 {
		t.Errorf("samples of %d ns in the export, want %d", got, want)
	}
	stacks := filepath.Join(dir, "stacks.txt")
	if err := p.ExportStacks(stacks, "self_cpu_time_total"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(stacks)
	if err != nil || !strings.Contains(string(text), "TestExportsOfSamples") {
		t.Errorf("stacks: %q, %v", text, err)
	}
}

func TestTensorBoardHandler(t *testing.T) {
	dir := t.TempDir()
	p := start(t, Options{OnTraceReady: TensorBoardHandler(filepath.Join(dir, "runs"), "")})
	Begin("x").End()
	p.Stop()
	files, err := filepath.Glob(filepath.Join(dir, "runs", "*.pt.trace.json.gz"))
	if err != nil || len(files) != 1 {
		t.Errorf("files %v, %v; warnings %+v", files, err, p.Warnings())
	}
	blocked := filepath.Join(dir, "file")
	if err := os.WriteFile(blocked, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	q := start(t, Options{OnTraceReady: TensorBoardHandler(blocked, "w")})
	q.Stop()
	if w := q.Warnings(); len(w) != 1 || w[0].Kind != "export" {
		t.Errorf("warnings %+v", w)
	}
}

func TestReportNeedsItsPackage(t *testing.T) {
	p := start(t, Options{})
	p.Stop()
	if HasReport() {
		t.Fatal("the report is linked")
	}
	if err := p.ExportReport(filepath.Join(t.TempDir(), "r.html")); err == nil || !strings.Contains(err.Error(), "profiler/report") {
		t.Errorf("%v", err)
	}
}
