package analyze

import (
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// pluginDiff matches as the plugin does: the ranges of the first thread that has any, those inside of steps in place of the
// steps. A module, a data loader or an optimizer step matches the first of its kind and name that follows the last match on
// the other side; what stands between two matches is one node.
func pluginDiff(base, next *Analysis) []DiffNode {
	b, n := newPluginRanges(base), newPluginRanges(next)
	left, right := b.roots(), n.roots()
	if len(left)+len(right) == 0 {
		return nil
	}
	root := pluginNode(b, n, left, right)
	root.Name = "all"
	if len(left) != 1 || len(right) != 1 {
		root.Children = pluginLists(b, n, left, right, 0)
	}
	return []DiffNode{root}
}

// pluginRanges is a trace as the plugin's comparison sees it: user annotations other than collectives are not there.
type pluginRanges struct {
	t     *trace.Trace
	tree  *opTree
	under map[int32][]int32 // by caller, NoSlice for the first thread
}

func newPluginRanges(a *Analysis) *pluginRanges {
	r := &pluginRanges{t: a.Trace, tree: a.opTree(Plugin), under: map[int32][]int32{}}
	s := a.Trace.Slices
	first := trace.NoSlice
	for _, i := range r.tree.order {
		if !r.skip(i) && (first < 0 || s[i].Start < s[first].Start) {
			first = i
		}
	}
	for _, i := range r.tree.order {
		if r.skip(i) || s[i].Track != s[first].Track {
			continue
		}
		p := r.tree.parent[i]
		for p >= 0 && r.skip(p) {
			p = r.tree.parent[p]
		}
		r.under[p] = append(r.under[p], i)
	}
	return r
}

func (r *pluginRanges) skip(i int32) bool {
	return r.tree.x.class[i] == trace.ClassAnnotation && !commOp(r.name(i))
}

func (r *pluginRanges) name(i int32) string { return r.t.Name(&r.t.Slices[i]) }

// mark is what has to be equal for a match, empty for what never matches.
func (r *pluginRanges) mark(i int32) string {
	name := r.name(i)
	switch class := r.tree.x.class[i]; {
	case class == trace.ClassStep, class == trace.ClassPython:
	case dataLoader(name), strings.HasPrefix(name, "Optimizer.step"):
	default:
		return ""
	}
	return name
}

func (r *pluginRanges) roots() []int32 {
	var inside []int32
	steps := false
	for _, i := range r.under[trace.NoSlice] {
		if r.tree.x.class[i] == trace.ClassStep {
			steps = true
			inside = append(inside, r.under[i]...)
		}
	}
	if steps {
		return inside
	}
	return r.under[trace.NoSlice]
}

func pluginLists(b, n *pluginRanges, left, right []int32, depth int) []DiffNode {
	var pairs [][2]int
	places := map[string][]int{}
	for j, r := range right {
		if m := n.mark(r); m != "" {
			places[m] = append(places[m], j)
		}
	}
	next := 0
	for i, l := range left {
		m := b.mark(l)
		if m == "" {
			continue
		}
		list := places[m]
		for len(list) > 0 && list[0] < next {
			list = list[1:]
		}
		places[m] = list
		if len(list) > 0 {
			pairs = append(pairs, [2]int{i, list[0]})
			next = list[0] + 1
		}
	}
	if len(pairs) == 0 || depth >= maxAligned {
		return nil
	}
	var out []DiffNode
	i, j := 0, 0
	add := func(l, r []int32, matched bool) {
		if len(l)+len(r) == 0 {
			return
		}
		node := pluginNode(b, n, l, r)
		node.Matched = matched
		if len(l) == 1 && len(r) == 1 {
			node.Children = pluginLists(b, n, b.under[l[0]], n.under[r[0]], depth+1)
		}
		out = append(out, node)
	}
	for _, p := range pairs {
		add(left[i:p[0]], right[j:p[1]], false)
		i, j = p[0]+1, p[1]+1
		add(left[p[0]:i], right[p[1]:j], true)
	}
	add(left[i:], right[j:], false)
	return out
}

func pluginNode(b, n *pluginRanges, left, right []int32) DiffNode {
	node := DiffNode{Name: "unmatched", Base: b.tree.times(left), New: n.tree.times(right), BaseSlices: left, NewSlices: right}
	switch {
	case len(left) == 1:
		node.Name = b.name(left[0])
	case len(left) == 0 && len(right) == 1:
		node.Name = n.name(right[0])
	}
	return node
}
