package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/gander-go/gander/internal/golden"
)

// cpuProfile is a profile as runtime/pprof writes it: 10 ms a sample.
func cpuProfile(t *testing.T, file string) {
	t.Helper()
	f := func(id uint64, name string) *profile.Function {
		return &profile.Function{ID: id, Name: name, SystemName: name, Filename: "main.go"}
	}
	functions := []*profile.Function{f(1, "main.main"), f(2, "main.walk"), f(3, "main.leaf")}
	var locations []*profile.Location
	for i, fn := range functions {
		locations = append(locations, &profile.Location{ID: uint64(i + 1), Address: uint64(0x1000 * (i + 1)), Line: []profile.Line{{Function: fn, Line: 10}}})
	}
	sample := func(n int64, at ...int) *profile.Sample {
		s := &profile.Sample{Value: []int64{n, n * 10_000_000}}
		for _, k := range at { // innermost first
			s.Location = append(s.Location, locations[k])
		}
		return s
	}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10_000_000, DurationNanos: 1_000_000_000,
		Sample: []*profile.Sample{sample(30, 2, 1, 1, 0), sample(15, 1, 0), sample(5, 0)}, Location: locations, Function: functions,
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestReportText compares what is printed for inputs of several kinds. The figures of the profile are those of `go tool pprof
// -top`; testdata/go.trace is a Go execution trace of four goroutines that each sum up in a region "sum" of a task "job".
func TestReportText(t *testing.T) {
	dir := t.TempDir()
	cpuProfile(t, filepath.Join(dir, "cpu.pb.gz"))
	if err := os.WriteFile(filepath.Join(dir, "tiny.json"), []byte(tinyTrace), 0o644); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"pprof": "cpu.pb.gz", "chrome": "tiny.json", "gotrace": filepath.Join(here, "go.trace")} {
		code, out, errs := gander(t, dir, "report", "--text", file)
		if code != 0 || errs != "" {
			t.Errorf("%s: exit code %d: %s", name, code, errs)
		}
		golden.Check(t, filepath.Join("testdata", "text", name+".txt"), []byte(out))
	}
}

// TestDiffForms compares what gander diff prints: two files of which the second has one operator slower and one more.
func TestDiffForms(t *testing.T) {
	dir := t.TempDir()
	event := func(name string, ts, dur int) string {
		return fmt.Sprintf(`{"ph":"X","cat":"cpu_op","name":%q,"pid":1,"tid":1,"ts":%d,"dur":%d}`, name, ts, dur)
	}
	for name, events := range map[string][]string{
		"a.json": {event("aten::mm", 0, 100), event("aten::add", 200, 10)},
		"b.json": {event("aten::mm", 0, 150), event("aten::add", 200, 10), event("aten::relu", 220, 5)},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(`{"traceEvents":[`+strings.Join(events, ",")+`]}`), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, form := range []string{"text", "csv", "json"} {
		code, out, errs := gander(t, dir, "diff", "a.json", "b.json", "--"+form)
		if code != 0 || errs != "" {
			t.Errorf("%s: exit code %d: %s", form, code, errs)
		}
		golden.Check(t, filepath.Join("testdata", "text", "diff."+form), []byte(out))
	}
	if code, _, errs := gander(t, dir, "diff", "a.json", "b.json", "--convention", "plugin"); code != 2 || !strings.Contains(errs, "--json") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// TestReportRefuses checks that what cannot be opened is named, with what could be.
func TestReportRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct{ text, want string }{
		"lfs.json":   {"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git-lfs pointer"},
		"page.json":  {"<!doctype html><html></html>", "HTML"},
		"nodes.json": {`{"schema":"1.0.1","nodes":[{"id":1}]}`, "execution trace"},
		"other.json": {`{"a":1}`, "no \"traceEvents\""},
		"empty.json": {"", "empty"},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(tt.text), 0o644); err != nil {
			t.Fatal(err)
		}
		code, out, errs := gander(t, dir, "report", name, "--text")
		if code != 1 || out != "" || !bytes.Contains([]byte(errs), []byte(tt.want)) || bytes.Count([]byte(errs), []byte("\n")) > 2 {
			t.Errorf("%s: exit code %d, %q, want %q", name, code, errs, tt.want)
		}
	}
}
