package analyze

import (
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

const modulePrefix = "nn.Module: "

// opTree is the tree of operators, ranges and modules that the operator, kernel, memory and module views share, with the
// runtime calls and the device work that each of them launched. Slices of parallel arrays are indexed as Trace.Slices.
type opTree struct {
	x      *index
	order  []int32 // nodes, callers before callees
	parent []int32
	same   []int32 // the node that stands for a slice: itself unless collapsed; nil when nothing collapsed
	owner  []int32 // of a call or device work: the node that launched it, or NoSlice

	hostSelf   []int64 // without children and launched calls
	devSelf    []int64
	devTotal   []int64
	tcSelf     []int64 // device time in tensor-core kernels
	tcTotal    []int64
	tcEligible []bool
}

// opTree returns the tree under convention c, Plugin or Exact.
//
// The plugin's tree has operators, annotations, steps and modules; what overlaps its caller only in part is left out; calls
// belong to the operator of their external id and device work to its call; calls into the driver are unknown to it. Exact
// knows driver calls, falls back to nesting where ids do not fit, and keeps what overlaps.
func (a *Analysis) opTree(c Convention) *opTree {
	a.treesMu.Lock()
	defer a.treesMu.Unlock()
	if t := a.trees[c == Plugin]; t != nil {
		return t
	}
	if a.trees == nil {
		a.trees = map[bool]*opTree{}
	}
	t := a.newOpTree(c)
	a.trees[c == Plugin] = t
	return t
}

func (a *Analysis) newOpTree(c Convention) *opTree {
	x := a.index()
	t := &opTree{x: x}
	s := x.t.Slices
	node := func(i int32) bool {
		switch x.class[i] {
		case trace.ClassOp, trace.ClassAnnotation, trace.ClassStep, trace.ClassCall, trace.ClassComm:
			return true
		case trace.ClassPython:
			return strings.HasPrefix(x.t.Name(&s[i]), modulePrefix)
		}
		return false
	}
	t.parent = filled(len(s))
	children := make([]int32, len(s))
	var stack []int32
	lost := map[int32]bool{} // left out; Plugin loses what they launched with them
	for i := range s {
		n := int32(i)
		if !node(n) || s[i].Flags&trace.FlagAsync != 0 {
			continue
		}
		if len(stack) > 0 && s[stack[0]].Track != s[i].Track {
			stack = stack[:0]
		}
		for len(stack) > 0 && s[i].Start >= s[stack[len(stack)-1]].End() {
			stack = stack[:len(stack)-1]
		}
		if len(stack) > 0 {
			p := stack[len(stack)-1]
			if s[i].End() > s[p].End() {
				if c == Plugin {
					lost[n] = true
					continue
				}
				for len(stack) > 0 && s[i].End() > s[stack[len(stack)-1]].End() {
					stack = stack[:len(stack)-1]
				}
			}
		}
		if len(stack) > 0 {
			t.parent[i] = stack[len(stack)-1]
			children[t.parent[i]]++
		}
		stack = append(stack, n)
		t.order = append(t.order, n)
	}
	t.link(c)
	if len(lost) > 0 {
		for i, o := range t.owner {
			if lost[o] {
				t.owner[i] = trace.NoSlice
			}
		}
	}
	t.collapse(children, c)
	t.fill()
	return t
}

// link finds the node that launched each call and each piece of device work.
func (t *opTree) link(c Convention) {
	x, s := t.x, t.x.t.Slices
	t.owner = filled(len(s))
	if c != Plugin {
		for i, class := range x.class {
			if isCall(class) || class.OnDevice() {
				t.owner[i] = x.launcher(int32(i))
			}
		}
		return
	}
	for i, class := range x.class {
		if class == trace.ClassRuntime && s[i].Ext > 0 {
			t.owner[i] = x.opOf(int32(i))
		}
	}
	for i, class := range x.class {
		if call := x.callOf(int32(i)); class.DeviceWork() && call >= 0 && x.class[call] == trace.ClassRuntime {
			t.owner[i] = t.owner[call]
		}
	}
}

// collapse removes only children of their parent's name. Plugin drops what the parent launched itself.
func (t *opTree) collapse(children []int32, c Convention) {
	s := t.x.t.Slices
	var dropped map[int32]bool
	var standing map[int32]int32 // the child whose calls are now the node's
	kept := t.order[:0]
	for _, i := range t.order {
		p := t.parent[i]
		if p >= 0 && t.same != nil {
			p = t.same[p]
			t.parent[i] = p
		}
		if p < 0 || children[p] != 1 || s[p].Name != s[i].Name || t.x.class[i] != trace.ClassOp || t.x.class[p] != trace.ClassOp {
			kept = append(kept, i)
			continue
		}
		if t.same == nil {
			t.same = make([]int32, len(s))
			for j := range t.same {
				t.same[j] = int32(j)
			}
			dropped, standing = map[int32]bool{}, map[int32]int32{}
		}
		if c == Plugin { // the parent, or the child that stood for it before, loses its own calls
			last, ok := standing[p]
			if !ok {
				last = p
			}
			dropped[last] = true
			standing[p] = i
		}
		t.same[i] = p
		children[p] = children[i]
	}
	t.order = kept
	if t.same == nil {
		return
	}
	for i, o := range t.owner {
		if o >= 0 {
			if dropped[o] {
				t.owner[i] = trace.NoSlice
			} else {
				t.owner[i] = t.same[o]
			}
		}
	}
}

// fill computes the times of every node.
func (t *opTree) fill() {
	x, s := t.x, t.x.t.Slices
	n := len(s)
	t.hostSelf, t.devSelf, t.devTotal = make([]int64, n), make([]int64, n), make([]int64, n)
	t.tcSelf, t.tcTotal, t.tcEligible = make([]int64, n), make([]int64, n), make([]bool, n)
	tc := x.kernelNames(tensorCoreMarks)
	for i, class := range x.class {
		o := t.owner[i]
		if o < 0 {
			continue
		}
		switch {
		case isCall(class):
			t.hostSelf[o] -= s[i].Dur
		case class.DeviceWork():
			t.devSelf[o] += s[i].Dur
			if class == trace.ClassKernel && tc[s[i].Name] {
				t.tcSelf[o] += s[i].Dur
			}
		}
	}
	for k := len(t.order) - 1; k >= 0; k-- {
		i := t.order[k]
		t.hostSelf[i] += s[i].Dur
		t.devTotal[i] += t.devSelf[i]
		t.tcTotal[i] += t.tcSelf[i]
		if x.class[i] == trace.ClassOp && (t.tcSelf[i] > 0 || tensorCoreOps[x.t.Name(&s[i])]) {
			t.tcEligible[i] = true
		}
		if p := t.parent[i]; p >= 0 {
			t.hostSelf[p] -= s[i].Dur
			t.devTotal[p] += t.devTotal[i]
			t.tcTotal[p] += t.tcTotal[i]
			if t.tcEligible[i] && x.class[p] == trace.ClassOp {
				t.tcEligible[p] = true
			}
		}
	}
}

// isOp reports whether node i is a row of the operator view.
func (t *opTree) isOp(i int32) bool {
	c := t.x.class[i]
	return (c == trace.ClassOp || c == trace.ClassCall) && !excludedOp(t.x.t.Name(&t.x.t.Slices[i]))
}

// kernelNames returns, by StringID, which kernel names contain one of marks.
func (x *index) kernelNames(marks []string) []bool {
	yes := make([]bool, x.t.Strings.Len())
	seen := make([]bool, x.t.Strings.Len())
	for i, c := range x.class {
		if id := x.t.Slices[i].Name; c == trace.ClassKernel && !seen[id] {
			seen[id] = true
			yes[id] = containsAny(x.t.Strings.Get(id), marks)
		}
	}
	return yes
}
