package analyze

import (
	"slices"
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

func TestFormatNegativeTime(t *testing.T) {
	for ns, want := range map[float64]string{-143_525_444: "-143.525ms", -1500: "-1.500us", -2e9: "-2.000s", 143_525_444: "143.525ms"} {
		if got := formatTime(ns, ""); got != want {
			t.Errorf("%v is %q, want %q", ns, got, want)
		}
	}
}
