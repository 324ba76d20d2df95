package cellstack

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gander-go/gander/profiler/trace"
)

const (
	worker = "github.com/gander-go/gander/kernel/session/worker.(*process).execute"
	do     = "github.com/gander-go/gander/kernel/session/rt.Do.func1"
	begin  = "github.com/gander-go/gander/kernel/session/rt.BeginArgs"
	stmts  = "gander/sa9acb75671e2b23a44ff.Cell"
	decls  = "gander/d31407f03319abd4db276."
)

// stack pushes frames given as "name@file:line", outermost first.
func stack(t *trace.Trace, frames ...string) trace.StackID {
	x := t.StackIndex()
	var id trace.StackID
	for _, f := range frames {
		name, place, _ := strings.Cut(f, "@")
		file, line, _ := strings.Cut(place, ":")
		n := int32(0)
		for _, c := range line {
			n = n*10 + c - '0'
		}
		id = x.Push(id, x.Frame(name, file, n))
	}
	return id
}

// names is a stack as text, outermost first.
func names(t *trace.Trace, id trace.StackID) (list []string) {
	for ; id != 0; id = t.Stacks[id].Parent {
		list = append([]string{t.Strings.Get(t.Frames[t.Stacks[id].Frame].Func)}, list...)
	}
	return
}

func number(s string) string { return strings.ReplaceAll(s, "In[#12345678]", "In[7]") }

func TestPlain(t *testing.T) {
	const cell = "In[#12345678]"
	tests := []struct {
		name     string
		in, want []string
	}{
		{"starts at the cell", []string{do, worker, stmts + "@" + cell + ":3", decls + "G__inner@" + cell + ":9", "runtime.mallocgc"}, []string{"In[7]:3", "inner", "runtime.mallocgc"}},
		{"literal around a call", []string{do, worker, stmts + "@" + cell + ":3", stmts + ".func1@" + cell + ":3", "fmt.Sprint"}, []string{"In[7]:3", "fmt.Sprint"}},
		{"literal in a function", []string{worker, decls + "G__outer@" + cell + ":4", decls + "G__outer.func1@" + cell + ":4", decls + "G__outer@" + cell + ":4"}, []string{"outer", "outer"}},
		{"closure called elsewhere", []string{worker, stmts + "@" + cell + ":8", stmts + ".func1@" + cell + ":3"}, []string{"In[7]:8", "In[7]:3"}},
		{"what records", []string{worker, stmts + "@" + cell + ":3", begin, "github.com/gander-go/gander/profiler/insession.(*calls).Begin", "github.com/gander-go/gander/profiler/record.BeginCall", "runtime.Callers"}, []string{"In[7]:3", Recording}},
		{"process in between", []string{worker, stmts + "@" + cell + ":3", "github.com/gander-go/gander/kernel/session/rt.Sprint", "fmt.Sprint"}, []string{"In[7]:3", "fmt.Sprint"}},
		{"loading", []string{worker, "github.com/gander-go/gander/kernel/session/worker/plugins.load", "plugin.Open", "runtime.cgocall"}, []string{Loading}},
		{"only the process", []string{do, worker, "runtime.selectgo"}, []string{Session}},
		{"the runtime's own", []string{"runtime.gcBgMarkWorker", "runtime.gcDrain"}, []string{"runtime.gcBgMarkWorker", "runtime.gcDrain"}},
		{"method", []string{worker, stmts + "@" + cell + ":1", decls + "(*G__tree).insert@" + cell + ":2"}, []string{"In[7]:1", "(*tree).insert"}},
	}
	tr := &trace.Trace{}
	var ids []trace.StackID
	for _, tt := range tests {
		ids = append(ids, stack(tr, tt.in...))
	}
	for _, id := range ids {
		tr.Samples = append(tr.Samples, trace.Sample{Time: trace.NoTime, Track: trace.NoTrack, Stack: id})
	}
	tr.Ops = []trace.OpArgs{{}, {Stack: ids[0]}}
	tr.Calls = []trace.CallArgs{{}, {Stack: ids[0]}}
	tr.Memory = []trace.MemEvent{{Stack: ids[0]}}
	for _, name := range []string{"goroutine 7 gander/d31407f03319abd4db276.G__pipeline.func1 states", "goroutine 8 " + do, "goroutine 9 runtime.bgsweep"} {
		tr.Tracks = append(tr.Tracks, trace.Track{Name: name})
	}
	for pass := range 2 {
		Plain(tr, number)
		for i, tt := range tests {
			if got := names(tr, tr.Samples[i].Stack); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("pass %d: %s: %q, want %q", pass, tt.name, got, tt.want)
			}
		}
		if s := tr.Samples[0].Stack; tr.Ops[1].Stack != s || tr.Calls[1].Stack != s || tr.Memory[0].Stack != s {
			t.Errorf("pass %d: stacks of operators, calls and memory are not those of samples", pass)
		}
	}
	for i, want := range []string{"goroutine 7 pipeline.func1 states", "goroutine 8 (the cell)", "goroutine 9 runtime.bgsweep"} {
		if tr.Tracks[i].Name != want {
			t.Errorf("track %q, want %q", tr.Tracks[i].Name, want)
		}
	}
	if f := tr.Frames[tr.Stacks[tr.Samples[0].Stack].Frame]; f.Line != 0 && tr.Strings.Get(f.File) == cell {
		t.Error("files keep the hash of the cell")
	}
}

// What no cell is part of stays as it is, down to the ids.
func TestPlainProgram(t *testing.T) {
	tr := &trace.Trace{}
	stack(tr, "runtime.main@proc.go:1", "main.main@main.go:3", "main.main.func1@main.go:3", "github.com/gander-go/gander/profiler/record.Begin@span.go:1", "runtime.Callers")
	before := tr.Clone()
	Plain(tr, number)
	if !reflect.DeepEqual(before.Stacks, tr.Stacks) || !reflect.DeepEqual(before.Frames, tr.Frames) {
		t.Errorf("stacks of a program were changed: %v", tr.Stacks)
	}
}
