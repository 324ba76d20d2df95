package analyze

import (
	"slices"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// align matches the landmarks of two traces in order, as the plugin's diff view does: steps, and below them (or at the top)
// data loading, modules, optimizer and backward ranges and what the user annotated. What lies between matched ones and has
// no partner is one unmatched node.
func align(base, next *Analysis) []DiffNode {
	b, n := newLandmarks(base), newLandmarks(next)
	return matchLists(b, n, b.under[trace.NoSlice], n.under[trace.NoSlice], 0)
}

// maxAligned bounds the depth of the comparison, and maxPairs the work for one pair of lists.
const (
	maxAligned = 64
	maxPairs   = 4 << 20
)

type landmarks struct {
	a     *Analysis
	tree  *opTree
	under map[int32][]int32 // by landmark: the landmarks directly below it
}

func newLandmarks(a *Analysis) *landmarks {
	l := &landmarks{a: a, tree: a.opTree(Exact), under: map[int32][]int32{}}
	for _, i := range l.tree.order {
		if !l.is(i) {
			continue
		}
		p := l.tree.parent[i]
		for p >= 0 && !l.is(p) {
			p = l.tree.parent[p]
		}
		l.under[p] = append(l.under[p], i)
	}
	return l
}

func (l *landmarks) is(i int32) bool {
	switch l.tree.x.class[i] {
	case trace.ClassStep, trace.ClassAnnotation, trace.ClassPython:
		return true
	case trace.ClassOp, trace.ClassCall:
		name := l.a.Trace.Name(&l.a.Trace.Slices[i])
		return loaderCall(name) || strings.HasPrefix(name, "Optimizer.") || strings.HasPrefix(name, "autograd::engine::evaluate_function") ||
			name == "DistributedDataParallel.forward" || name == "DataParallel.forward"
	}
	return false
}

// label is what has to be equal for a match: the name, steps without their number.
func (l *landmarks) label(i int32) string {
	if l.tree.x.class[i] == trace.ClassStep {
		return "ProfilerStep"
	}
	return l.a.Trace.Name(&l.a.Trace.Slices[i])
}

// times sums up landmarks with all below.
func (t *opTree) times(list []int32) RangeTime {
	r := RangeTime{Ranges: len(list)}
	for _, i := range list {
		r.Device += t.devTotal[i]
		r.Host += t.x.t.Slices[i].Dur
	}
	return r
}

func matchLists(b, n *landmarks, left, right []int32, depth int) []DiffNode {
	var out []DiffNode
	i, j := 0, 0
	gap := func(toLeft, toRight int) {
		if toLeft > i || toRight > j {
			l, r := left[i:toLeft], right[j:toRight]
			out = append(out, DiffNode{Name: runName(b, l, n, r), Base: b.tree.times(l), New: n.tree.times(r), BaseSlices: l, NewSlices: r})
		}
	}
	for _, pair := range commonOrder(b, n, left, right) {
		gap(pair[0], pair[1])
		i, j = pair[0]+1, pair[1]+1
		l, r := left[pair[0]:i], right[pair[1]:j]
		node := DiffNode{Name: b.label(l[0]), Base: b.tree.times(l), New: n.tree.times(r), Matched: true, BaseSlices: l, NewSlices: r}
		if depth < maxAligned {
			node.Children = matchLists(b, n, b.under[l[0]], n.under[r[0]], depth+1)
		}
		out = append(out, node)
	}
	gap(len(left), len(right))
	return out
}

// runName names what stands between two matches: its ranges, the base's first.
func runName(b *landmarks, l []int32, n *landmarks, r []int32) string {
	left, right := labels(b, l), labels(n, r)
	switch {
	case len(r) == 0:
		return left
	case len(l) == 0:
		return right
	}
	return left + " ↔ " + right
}

// labels lists the names of ranges, each once and three at most.
func labels(m *landmarks, list []int32) string {
	var out []string
	for _, i := range list {
		if s := m.label(i); !slices.Contains(out, s) {
			if len(out) == 3 {
				out = append(out, "…")
				break
			}
			out = append(out, s)
		}
	}
	return strings.Join(out, ", ")
}

// commonOrder returns a longest common subsequence of both lists by label, as pairs of positions. Lists too long for the
// quadratic comparison match greedily from the front.
func commonOrder(b, n *landmarks, left, right []int32) [][2]int {
	var out [][2]int
	lo := 0
	for lo < len(left) && lo < len(right) && b.label(left[lo]) == n.label(right[lo]) {
		out = append(out, [2]int{lo, lo})
		lo++
	}
	rows, cols := len(left)-lo, len(right)-lo
	if rows == 0 || cols == 0 {
		return out
	}
	if rows > maxPairs/cols {
		return append(out, greedy(b, n, left, right, lo)...)
	}
	length := make([]int32, (rows+1)*(cols+1))
	at := func(i, j int) *int32 { return &length[i*(cols+1)+j] }
	for i := rows - 1; i >= 0; i-- {
		label := b.label(left[lo+i])
		for j := cols - 1; j >= 0; j-- {
			if label == n.label(right[lo+j]) {
				*at(i, j) = *at(i+1, j+1) + 1
			} else {
				*at(i, j) = max(*at(i+1, j), *at(i, j+1))
			}
		}
	}
	for i, j := 0, 0; i < rows && j < cols; {
		switch {
		case b.label(left[lo+i]) == n.label(right[lo+j]):
			out = append(out, [2]int{lo + i, lo + j})
			i, j = i+1, j+1
		case *at(i+1, j) >= *at(i, j+1):
			i++
		default:
			j++
		}
	}
	return out
}

func greedy(b, n *landmarks, left, right []int32, lo int) [][2]int {
	places := map[string][]int{}
	for j := lo; j < len(right); j++ {
		l := n.label(right[j])
		places[l] = append(places[l], j)
	}
	var out [][2]int
	next := lo
	for i := lo; i < len(left); i++ {
		l := b.label(left[i])
		list := places[l]
		for len(list) > 0 && list[0] < next {
			list = list[1:]
		}
		places[l] = list
		if len(list) > 0 {
			out = append(out, [2]int{i, list[0]})
			next = list[0] + 1
		}
	}
	return out
}
