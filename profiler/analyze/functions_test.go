package analyze

import (
	"slices"
	"strings"
	"testing"

	"github.com/gander-go/gander/profiler/trace"
)

func TestFunctions(t *testing.T) {
	tr := &trace.Trace{}
	name := func(s string) trace.StringID { return tr.Strings.ID(s) }
	tr.Frames = []trace.Frame{{}, {Func: name("main.main")}, {Func: name("main.walk")}, {Func: name("main.leaf")}}
	// main → walk → walk → leaf: walk calls itself.
	tr.Stacks = []trace.Stack{{}, {Parent: 0, Frame: 1}, {Parent: 1, Frame: 2}, {Parent: 2, Frame: 2}, {Parent: 3, Frame: 3}}
	tr.Samples = []trace.Sample{
		{Stack: 4, Weight: 30, Count: 3}, {Stack: 3, Weight: 20, Count: 2}, {Stack: 1, Weight: 5, Count: 1}, {Stack: 0, Weight: 1, Count: 1},
		{Stack: 4, Weight: 1000, Count: 7, Kind: trace.SampleInUse},
	}
	got := Of(tr).Functions()
	want := []FunctionReport{
		{Kind: "cpu", Unit: "ns", Sum: 56, Rows: []Function{{"main.leaf", "", 30, 30, 3}, {"main.walk", "", 20, 50, 2}, {"main.main", "", 5, 55, 1}}},
		{Kind: "inuse", Unit: "bytes", Sum: 1000, Rows: []Function{{"main.leaf", "", 1000, 1000, 7}, {"main.main", "", 0, 1000, 0}, {"main.walk", "", 0, 1000, 0}}},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i].Kind != want[i].Kind || got[i].Unit != want[i].Unit || got[i].Sum != want[i].Sum || !slices.Equal(got[i].Rows, want[i].Rows) {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}

// TestDiffOfSampledProfiles compares two profiles: one function of the first is gone in the second, and one is new.
func TestDiffOfSampledProfiles(t *testing.T) {
	profile := func(leaf string, weights ...int64) *trace.Trace {
		tr := &trace.Trace{}
		name := func(s string) trace.StringID { return tr.Strings.ID(s) }
		tr.Frames = []trace.Frame{{}, {Func: name("main.main")}, {Func: name(leaf)}}
		tr.Stacks = []trace.Stack{{}, {Parent: 0, Frame: 1}, {Parent: 1, Frame: 2}}
		tr.Samples = []trace.Sample{{Stack: 1, Weight: weights[0], Count: 1}, {Stack: 2, Weight: weights[1], Count: 1}}
		return tr
	}
	d := Diff(profile("main.old", 10, 30), profile("main.new", 15, 50))
	want := []FunctionDiff{{"main.new", "", 0, 50, 0, 50}, {"main.old", "", 30, 0, 30, 0}, {"main.main", "", 10, 15, 40, 65}}
	if len(d.Functions) != 1 || d.Functions[0].BaseSum != 40 || d.Functions[0].NewSum != 65 || !slices.Equal(d.Functions[0].Rows, want) {
		t.Fatalf("%+v", d.Functions)
	}
	if text := d.Text(1); !strings.HasPrefix(text, "CPU time: 0.040us, new 0.065us, change +0.025us (+62.5%)\n") || !strings.Contains(text, "and 2 more") {
		t.Error(text)
	}
	var b strings.Builder
	if err := d.WriteCSV(&b); err != nil || !strings.HasPrefix(b.String(), "kind,unit,function,file,base_self,new_self,base_total,new_total\ncpu,ns,main.new,,0,50,0,50\n") {
		t.Errorf("%s %v", &b, err)
	}
}

func TestFormatNegativeTime(t *testing.T) {
	for ns, want := range map[float64]string{-143_525_444: "-143.525ms", -1500: "-1.500us", -2e9: "-2.000s", 143_525_444: "143.525ms"} {
		if got := formatTime(ns, ""); got != want {
			t.Errorf("%v is %q, want %q", ns, got, want)
		}
	}
}
