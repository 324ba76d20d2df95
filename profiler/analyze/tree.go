package analyze

import (
	"slices"

	"github.com/gander-go/gander/profiler/trace"
)

// tree is the call tree of the host events by torch's rules, for key averages.
//
//  1. Host events of one thread, ordered by (start, -end), nest: the innermost event that is still running and ends no
//     earlier is the parent. One that overlaps only in part is no parent, and none of anything later either.
//  2. A call linked by external id to an operator of another thread counts as of that thread.
//  3. An only child of its parent's name is the same call seen twice (an operator dispatched again): it goes, and its
//     children become the parent's. settle does the same to what the events own.
type tree struct {
	order  []int32 // host events, grouped by thread, callers before callees; without those that went
	parent []int32 // by slice
	thread func(int32) trace.TrackID
	gone   []int32 // events that collapsed, callers first
	same   []int32 // by slice: the event into which this one was collapsed, or itself; nil when nothing collapsed
}

// self returns the event that stands for slice i.
func (t *tree) self(i int32) int32 {
	if t.same == nil || i < 0 {
		return i
	}
	return t.same[i]
}

// buildTree builds the tree of the slices that host accepts. twice says whether an only child is its parent seen again; nil
// is never.
func buildTree(x *index, host func(trace.Class) bool, twice func(parent, child int32) bool) *tree {
	var accept [trace.NumClasses]bool
	for c := range accept {
		accept[c] = host(trace.Class(c))
	}
	order, thread := hostOrder(x, &accept)
	s := x.t.Slices
	tr := &tree{order: order, parent: filled(len(s)), thread: thread}
	children := make([]int32, len(s)) // number of
	var stack []int32
	last := trace.NoTrack
	for _, i := range order {
		if thread(i) != last {
			last, stack = thread(i), stack[:0]
		}
		start, end := s[i].Start, s[i].End()
		for len(stack) > 0 {
			p := stack[len(stack)-1]
			if pe := s[p].End(); start < pe && end <= pe {
				tr.parent[i] = p
				children[p]++
				break
			}
			stack = stack[:len(stack)-1]
		}
		stack = append(stack, i)
	}
	if twice != nil {
		tr.collapse(children, twice)
	}
	return tr
}

func (t *tree) collapse(children []int32, twice func(parent, child int32) bool) {
	kept := t.order[:0]
	for _, i := range t.order {
		p := t.parent[i]
		if p >= 0 && t.same != nil {
			p = t.same[p]
			t.parent[i] = p
		}
		if p < 0 || children[p] != 1 || !twice(p, i) {
			kept = append(kept, i)
			continue
		}
		if t.same == nil {
			t.same = make([]int32, len(t.parent))
			for j := range t.same {
				t.same[j] = int32(j)
			}
		}
		t.same[i] = p
		t.gone = append(t.gone, i)
		children[p] = children[i]
	}
	t.order = kept
}

// settle moves what collapsed events own to the events that stand for them: in place of what these own (as torch does,
// losing it) or on top of it.
func (t *tree) settle(own []int64, replace bool) {
	if own == nil {
		return
	}
	for _, i := range t.gone {
		p := t.same[i]
		if replace {
			own[p] = own[i]
		} else {
			own[p] += own[i]
		}
		own[i] = 0
	}
}

// hostOrder returns the synchronous host events ordered by (thread, start, -duration), and the thread of an event.
func hostOrder(x *index, accept *[trace.NumClasses]bool) ([]int32, func(int32) trace.TrackID) {
	s := x.t.Slices
	order := make([]int32, 0, len(s))
	var moved []int32
	thread := func(i int32) trace.TrackID {
		if x.op != nil && isCall(x.class[i]) {
			if o := x.op[i]; o >= 0 && s[o].Flags&trace.FlagAsync == 0 {
				return s[o].Track
			}
		}
		return s[i].Track
	}
	for i := range s {
		switch n := int32(i); {
		case !accept[x.class[i]] || s[i].Flags&trace.FlagAsync != 0:
		case thread(n) != s[i].Track:
			moved = append(moved, n)
		default:
			order = append(order, n)
		}
	}
	if len(moved) == 0 {
		return order, thread
	}
	compare := func(a, b int32) int {
		switch ta, tb := thread(a), thread(b); {
		case ta != tb:
			return int(ta - tb)
		case s[a].Start != s[b].Start:
			return compareInt(s[a].Start, s[b].Start)
		}
		if c := compareInt(s[b].Dur, s[a].Dur); c != 0 {
			return c
		}
		return int(a - b)
	}
	slices.SortFunc(moved, compare)
	return mergeSorted(order, moved, compare), thread
}

func mergeSorted(a, b []int32, compare func(x, y int32) int) []int32 {
	out := make([]int32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compare(b[0], a[0]) < 0 {
			out, b = append(out, b[0]), b[1:]
		} else {
			out, a = append(out, a[0]), a[1:]
		}
	}
	return append(append(out, a...), b...)
}

func compareInt(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
