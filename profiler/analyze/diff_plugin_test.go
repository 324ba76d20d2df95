package analyze

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gander-go/gander/internal/shared"
	"github.com/gander-go/gander/profiler/trace"
)

// pluginNodeSays is a node of the plugin's diff view (testdata/make_diffs.py); times are microseconds.
type pluginNodeSays struct {
	Left     pluginSideSays   `json:"left"`
	Right    pluginSideSays   `json:"right"`
	Children []pluginNodeSays `json:"children"`
}

type pluginSideSays struct {
	Name      string  `json:"name"`
	Host      float64 `json:"host"`
	Device    float64 `json:"device"`
	Operators [][]any `json:"operators"` // name, calls, host, self host, device, self device
}

// TestDiffIsThePlugins compares ranges, times and operators with those that the plugin showed.
func TestDiffIsThePlugins(t *testing.T) {
	files, err := filepath.Glob("testdata/plugin/*.diff.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no diffs: %v", err)
	}
	find := func(name string) *trace.Trace {
		for _, folder := range []string{"testdata/torch/", "testdata/plugin/"} {
			if _, err := os.Stat(folder + name + ".json.gz"); err == nil {
				return readTrace(t, folder+name+".json.gz")
			}
		}
		t.Fatalf("no trace %s", name)
		return nil
	}
	for _, file := range files {
		base, next, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".diff.json"), ".")
		t.Run(base+" "+next, func(t *testing.T) {
			var want pluginNodeSays
			readJSON(t, file, &want)
			comparePluginDiff(t, find(base), find(next), want)
		})
	}
}

// TestDiffIsThePluginsOnSharedTraces asks the plugin itself. GANDER_PLUGIN_PYTHON names a Python that has torch-tb-profiler.
func TestDiffIsThePluginsOnSharedTraces(t *testing.T) {
	python := os.Getenv("GANDER_PLUGIN_PYTHON")
	if python == "" {
		t.Skip("SKIPPED: GANDER_PLUGIN_PYTHON names no Python with torch-tb-profiler; its diff view was NOT asked")
	}
	for _, pair := range [][2]string{
		{"compare_base.json.gz", "compare_test.json.gz"},
		{"bert_small_h100.json.gz", "qwen_mi300x.json.gz"},
		{"qwen_mi300x.json.gz", "bert_small_h100.json.gz"},
		{"simple_add_a100.json.gz", "bert_small_h100.json.gz"},
		{"resnet50_workers0_v100.pt.trace.json.gz", "ns_resolution_v100.pt.trace.json.gz"},
		{"resnet50_workers0_v100.pt.trace.json.gz", "resnet50_workers0_v100.pt.trace.json.gz"},
	} {
		t.Run(pair[0]+" "+pair[1], func(t *testing.T) {
			base, next := shared.Path(t, "data", "traces", pair[0]), shared.Path(t, "data", "traces", pair[1])
			out, err := exec.Command(python, "testdata/make_diffs.py", base, next).Output()
			if err != nil {
				t.Fatalf("asking the plugin: %v", err)
			}
			var want pluginNodeSays
			if err := json.Unmarshal(out, &want); err != nil {
				t.Fatal(err)
			}
			comparePluginDiff(t, readTrace(t, base), readTrace(t, next), want)
		})
	}
}

func comparePluginDiff(t *testing.T, base, next *trace.Trace, want pluginNodeSays) {
	t.Helper()
	d := DiffOf(Of(inTicks(base)), Of(inTicks(next)), DiffOptions{Convention: Plugin})
	if len(d.Tree) != 1 {
		t.Fatalf("%d roots", len(d.Tree))
	}
	nodes, ops := comparePluginNode(t, "0", &d.Tree[0], want)
	t.Logf("%d ranges and %d operators in them are the plugin's", nodes, ops)
}

func comparePluginNode(t *testing.T, path string, got *DiffNode, want pluginNodeSays) (nodes, ops int) {
	t.Helper()
	near := func(ticks int64, us float64) bool { return math.Abs(float64(ticks)/tick-us) < 0.01 }
	rows := map[string]*DiffRow{}
	for i := range got.Operators {
		rows[got.Operators[i].Name] = &got.Operators[i]
	}
	for _, side := range []struct {
		name string
		got  RangeTime
		want pluginSideSays
		ops  func(*DiffRow) *DiffSide
	}{
		{"base", got.Base, want.Left, func(r *DiffRow) *DiffSide { return &r.Base }},
		{"new", got.New, want.Right, func(r *DiffRow) *DiffSide { return &r.New }},
	} {
		kind := map[bool]string{true: "Blank", false: "one"}[side.got.Ranges == 0]
		if side.got.Ranges > 1 {
			kind = "CompositeNodes"
		}
		if kind != side.want.Name && !(kind == "one" && side.want.Name != "Blank" && side.want.Name != "CompositeNodes") {
			t.Errorf("%s %s: %d ranges, want %s", path, side.name, side.got.Ranges, side.want.Name)
		}
		if !near(side.got.Host, side.want.Host) || !near(side.got.Device, side.want.Device) {
			t.Errorf("%s %s %s: host %g, device %g; want %g, %g us", path, side.name, got.Name, float64(side.got.Host)/tick, float64(side.got.Device)/tick, side.want.Host, side.want.Device)
		}
		seen := 0
		for _, r := range rows {
			if side.ops(r).Count > 0 {
				seen++
			}
		}
		if seen != len(side.want.Operators) {
			t.Errorf("%s %s: %d operators, want %d", path, side.name, seen, len(side.want.Operators))
		}
		for _, op := range side.want.Operators {
			r := rows[op[0].(string)]
			if r == nil {
				t.Errorf("%s %s: no %v", path, side.name, op[0])
				continue
			}
			s := side.ops(r)
			if s.Count != int64(op[1].(float64)) || !near(s.Host, op[2].(float64)) || !near(s.HostSelf, op[3].(float64)) || !near(s.Device, op[4].(float64)) || !near(s.DeviceSelf, op[5].(float64)) {
				t.Errorf("%s %s: %+v in ticks, want %v in us", path, side.name, *s, op)
			}
			ops++
		}
	}
	if len(got.Children) != len(want.Children) {
		t.Errorf("%s %s: %d children, want %d", path, got.Name, len(got.Children), len(want.Children))
		return 1, ops
	}
	nodes = 1
	for i := range want.Children {
		n, o := comparePluginNode(t, path+"-"+string(rune('0'+i%10)), &got.Children[i], want.Children[i])
		nodes, ops = nodes+n, ops+o
	}
	return nodes, ops
}
