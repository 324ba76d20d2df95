package analyze

import (
	"strings"
	"sync"

	"github.com/gander-go/gander/profiler/trace"
)

// index is what the views share: which slice is what, and which work belongs to which operator. All of its slices are
// parallel to Trace.Slices and hold NoSlice where there is no such slice.
type index struct {
	t     *trace.Trace
	class []trace.Class

	opByExt idTable // external id -> operator or annotation that owns it
	op      []int32 // of runtime calls and device work: the operator linked by external id
	call    []int32 // of device work: the runtime or driver call of the same correlation id

	launchOnce sync.Once
	launch     []int32 // see launchers

	callsOnce sync.Once
	calls     idTable // see syncCalls

	linked bool // some call or device work is linked by external id
	device bool // there is device work
}

// index returns what the views share, building it on first use.
func (a *Analysis) index() *index {
	a.once.Do(func() { a.idx = buildIndex(a.Trace) })
	return a.idx
}

func buildIndex(t *trace.Trace) *index {
	n := len(t.Slices)
	x := &index{t: t, class: make([]trace.Class, n)}
	catClass := make([]trace.Class, len(t.Categories))
	for i, c := range t.Categories {
		catClass[i] = c.Class
	}
	step := make([]bool, t.Strings.Len()) // old traces file steps under their operators' category
	for i, name := range t.Strings.List() {
		step[i] = strings.HasPrefix(name, stepPrefix)
	}
	var calls, ops bool
	for i := range t.Slices {
		s := &t.Slices[i]
		c := catClass[s.Cat]
		if (c == trace.ClassOp || c == trace.ClassAnnotation) && step[s.Name] {
			c = trace.ClassStep
		}
		if c == trace.ClassOther && s.Track >= 0 && int(s.Track) < len(t.Tracks) && t.Tracks[s.Track].Kind == trace.TrackStream {
			c = trace.ClassState // marks of a stream ("cuda_event"): neither work of the device nor of the host
		}
		x.class[i] = c
		switch {
		case isCall(c):
			calls = calls || s.Corr != 0
			x.linked = x.linked || s.Ext > 0
		case c.OnDevice() || c == trace.ClassSync:
			x.device = x.device || c.DeviceWork()
			x.linked = x.linked || s.Ext > 0
		case isOperator(c):
			ops = ops || s.Ext > 0
		}
	}
	if x.linked && ops {
		x.opByExt = newIDTable(t, func(i int) (int64, bool) { return t.Slices[i].Ext, isOperator(x.class[i]) })
		x.op = filled(n)
		for i := range t.Slices {
			if c := x.class[i]; isCall(c) || c.OnDevice() || c == trace.ClassSync {
				x.op[i] = x.opByExt.find(t.Slices[i].Ext)
			}
		}
	}
	if x.device && calls {
		byCorr := newIDTable(t, func(i int) (int64, bool) { return t.Slices[i].Corr, isCall(x.class[i]) })
		x.call = filled(n)
		for i := range t.Slices {
			if x.class[i].OnDevice() {
				x.call[i] = byCorr.find(t.Slices[i].Corr)
			}
		}
	}
	return x
}

// isCall reports whether c is a call into a device's runtime or driver.
func isCall(c trace.Class) bool { return c == trace.ClassRuntime || c == trace.ClassDriver }

// isOperator reports whether c is host work that owns an external id.
func isOperator(c trace.Class) bool {
	return c == trace.ClassOp || c == trace.ClassAnnotation || c == trace.ClassStep || c == trace.ClassCall
}

func (x *index) opOf(i int32) int32 {
	if x.op == nil {
		return trace.NoSlice
	}
	return x.op[i]
}

func (x *index) callOf(i int32) int32 {
	if x.call == nil {
		return trace.NoSlice
	}
	return x.call[i]
}

// launchers fills x.launch: of every call and piece of device work the host event that launched it. An external id counts
// only where its operator was running when the call was made (some Kineto versions write the correlation id in its place);
// otherwise it is the innermost event around the call, on its thread.
func (x *index) launchers() []int32 {
	x.launchOnce.Do(func() {
		s := x.t.Slices
		x.launch = filled(len(s))
		around := buildTree(x, launches, nil)
		for i, c := range x.class {
			if !isCall(c) {
				continue
			}
			o := x.opOf(int32(i))
			if o < 0 || s[i].Start < s[o].Start || s[i].Start > s[o].End() {
				o = around.parent[i]
				for o >= 0 && isCall(x.class[o]) {
					o = around.parent[o]
				}
			}
			x.launch[i] = o
		}
		for i, c := range x.class {
			if !c.OnDevice() && c != trace.ClassSync {
				continue
			}
			if call := x.callOf(int32(i)); call >= 0 {
				x.launch[i] = x.launch[call]
			} else if o := x.opOf(int32(i)); o >= 0 && s[o].Start <= s[i].End() {
				x.launch[i] = o
			}
		}
	})
	return x.launch
}

func (x *index) launcher(i int32) int32 { return x.launchers()[i] }

// launches reports whether slices of class c can be what launched work, or the launching call itself.
func launches(c trace.Class) bool { return isOperator(c) || isCall(c) || c == trace.ClassComm }

func filled(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = trace.NoSlice
	}
	return s
}

// idTable finds the slice that owns an id. Ids are mostly small and dense, then it is an array.
type idTable struct {
	dense  []int32 // slice+1, by id
	sparse map[int64]int32
}

// newIDTable indexes the slices for which id returns true and an id above zero. Of several owners the first wins.
func newIDTable(t *trace.Trace, id func(i int) (int64, bool)) idTable {
	var largest int64
	count := 0
	for i := range t.Slices {
		if v, ok := id(i); ok && v > 0 {
			largest = max(largest, v)
			count++
		}
	}
	var table idTable
	if largest < int64(8*count+1024) {
		table.dense = make([]int32, largest+1)
	} else {
		table.sparse = make(map[int64]int32, count)
	}
	for i := range t.Slices {
		v, ok := id(i)
		if !ok || v <= 0 {
			continue
		}
		if table.dense != nil {
			if table.dense[v] == 0 {
				table.dense[v] = int32(i) + 1
			}
		} else if _, taken := table.sparse[v]; !taken {
			table.sparse[v] = int32(i)
		}
	}
	return table
}

func (t *idTable) find(id int64) int32 {
	if t.dense != nil {
		if id > 0 && id < int64(len(t.dense)) {
			return t.dense[id] - 1
		}
		return trace.NoSlice
	}
	if i, ok := t.sparse[id]; ok && id > 0 {
		return i
	}
	return trace.NoSlice
}

// deviceName returns torch's name of the trace's kind of device.
func deviceName(t *trace.Trace) string {
	for _, c := range t.Categories {
		switch {
		case strings.HasPrefix(c.Name, "mtia_"):
			return "MTIA"
		case strings.HasPrefix(c.Name, "xpu_"):
			return "XPU"
		case strings.HasPrefix(c.Name, "hpu_"):
			return "HPU"
		case strings.HasPrefix(c.Name, "privateuse1_"):
			return "PRIVATEUSE1"
		}
	}
	return "CUDA"
}

const stepPrefix = "ProfilerStep#"
