package analyze

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gander-go/gander/profiler/trace"
)

func outline(nodes []DiffNode) string {
	var out []string
	for _, n := range nodes {
		mark := "?"
		if n.Matched {
			mark = "="
		}
		s := fmt.Sprintf("%s%s %d/%d", mark, n.Name, n.Base.Time()/1000, n.New.Time()/1000)
		if len(n.Children) > 0 {
			s += " (" + outline(n.Children) + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestDiffAligns(t *testing.T) {
	run := func(steps int64, extra bool, forward int64) *trace.Trace {
		m := newMaker()
		th := m.thread(1)
		for k := range steps {
			at := k * 1000
			m.add(trace.ClassStep, "user_annotation", th, fmt.Sprintf("ProfilerStep#%d", 5+k), at, 900)
			m.add(trace.ClassAnnotation, "user_annotation", th, "forward", at+10, forward)
			if extra {
				m.add(trace.ClassAnnotation, "user_annotation", th, "checkpoint", at+400, 50)
			}
			m.add(trace.ClassAnnotation, "user_annotation", th, "backward", at+500, 100)
		}
		return m.done()
	}
	d := Diff(run(2, false, 100), run(3, true, 200))
	want := "=ProfilerStep 900/900 (=forward 100/200, ?checkpoint 0/50, =backward 100/100), " +
		"=ProfilerStep 900/900 (=forward 100/200, ?checkpoint 0/50, =backward 100/100), ?ProfilerStep 0/900"
	if got := outline(d.Tree); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	rows := map[string]DiffRow{}
	for _, r := range d.Rows {
		rows[r.Name] = r
	}
	if r := rows["forward"]; r.Status != "increased" || r.Base.HostSelf != 200_000 || r.New.HostSelf != 600_000 || r.Base.Count != 2 || r.New.Count != 3 {
		t.Errorf("%+v", r)
	}
	if r := rows["checkpoint"]; r.Status != "added" || r.New.Count != 3 {
		t.Errorf("%+v", r)
	}
	if d.Rows[0].Change() < d.Rows[1].Change() {
		t.Error("rows are not ordered by change")
	}
	b, err := json.Marshal(rows["forward"])
	if err != nil || string(b) != `{"name":"forward","device":"CPU","status":"increased","base":{"count":2,"host":200000,"host_self":200000,"device":0,"device_self":0},"new":{"count":3,"host":600000,"host_self":600000,"device":0,"device_self":0}}` {
		t.Errorf("%s %v", b, err)
	}
	if text := d.Text(1); !strings.Contains(text, "... and 3 more") || !strings.Contains(text, "Whole: 1.900ms, new 2.900ms") {
		t.Error(text)
	}
}

func TestGreedyAlignmentAgreesOnSimpleLists(t *testing.T) {
	m := newMaker()
	th := m.thread(1)
	for k, name := range []string{"a", "x", "b", "c"} {
		m.add(trace.ClassAnnotation, "user_annotation", th, name, int64(k*10), 5)
	}
	n := newMaker()
	th = n.thread(1)
	for k, name := range []string{"a", "b", "y", "c"} {
		n.add(trace.ClassAnnotation, "user_annotation", th, name, int64(k*10), 5)
	}
	left, right := newLandmarks(Of(m.done())), newLandmarks(Of(n.done()))
	l, r := left.under[trace.NoSlice], right.under[trace.NoSlice]
	if got, want := fmt.Sprint(greedy(left, right, l, r, 0)), fmt.Sprint(commonOrder(left, right, l, r)); got != want || got != "[[0 0] [2 1] [3 3]]" {
		t.Errorf("greedy %s, exact %s", got, want)
	}
}

func TestDistributedReasons(t *testing.T) {
	rank := func(ops int, name string) *trace.Trace {
		m := newMaker()
		th := m.thread(1)
		for k := range ops {
			m.op(th, name, int64(k*100), int64(10+k), int64(k+1), trace.OpArgs{Dims: m.Strings.ID("[[2,3]]"), Types: m.Strings.ID(`["float"]`)})
		}
		return m.done()
	}
	for want, ts := range map[string][]*trace.Trace{
		"several ranks":                 {rank(1, "gloo:all_reduce")},
		"no collective operations":      {rank(1, "gloo:all_reduce"), rank(1, "aten::add")},
		"1 collective operations where": {rank(2, "gloo:all_reduce"), rank(1, "gloo:all_reduce")},
		"mixed":                         {rank(1, "gloo:all_reduce"), rank(1, "nccl:all_reduce")},
	} {
		if r := Distributed(ts); !strings.Contains(r.Reason, want) || !strings.Contains(r.Text(), r.Reason) {
			t.Errorf("reason %q, want %q", r.Reason, want)
		}
	}
	r := Distributed([]*trace.Trace{rank(2, "gloo:all_reduce"), rank(2, "gloo:all_reduce")})
	if op := r.Workers[0].Ops[0]; r.Reason != "" || r.Backend != "gloo" || op.Calls != 2 || op.Bytes != 48 || op.Latency != 21_000 || op.DataTransfer != 21_000 {
		t.Errorf("%+v", r)
	}
	if got := tensorBytes([]byte(`[[2,3],[4]]`), 8); got != 80 {
		t.Errorf("a list of tensors: %d bytes", got)
	}
}

func TestModulesByNestingAndBackward(t *testing.T) {
	m := newMaker()
	th, back := m.thread(1), m.thread(2)
	m.add(trace.ClassPython, "python_function", th, "nn.Module: Net", 0, 100)
	m.add(trace.ClassPython, "python_function", th, "nn.Module: Linear", 10, 50)
	m.op(th, "aten::addmm", 20, 30, 1, trace.OpArgs{})
	m.op(back, "AddmmBackward0", 200, 40, 2, trace.OpArgs{})
	tr := m.done()
	find := func(name string) int32 {
		for i := range tr.Slices {
			if tr.Name(&tr.Slices[i]) == name {
				return int32(i)
			}
		}
		return trace.NoSlice
	}
	tr.Flows = []trace.Flow{{Kind: trace.FlowBackward, From: find("aten::addmm"), To: find("AddmmBackward0")}}
	r := Modules(tr)
	if len(r.Roots) != 1 || r.Roots[0].Name != "Net" || r.Roots[0].HostSelf != 50_000 || len(r.Roots[0].Children) != 2 {
		t.Fatalf("%+v", r.Roots)
	}
	linear, backward := r.Roots[0].Children[0], r.Roots[0].Children[1]
	if linear.Name != "Linear" || linear.Host != 50_000 || linear.HostSelf != 20_000 || linear.Operators != 1 {
		t.Errorf("%+v", linear)
	}
	if backward.Name != "Linear.backward" || backward.Host != 40_000 || backward.Calls != 1 {
		t.Errorf("%+v", backward)
	}
	if text := r.Text(); !strings.Contains(text, "  Linear.backward") {
		t.Error(text)
	}
}
