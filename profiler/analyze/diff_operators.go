package analyze

import "slices"

// Bounds of diffOperators: rows that are kept, and operators that are visited for them.
const (
	maxDiffRows    = 100_000
	maxDiffVisited = 20_000_000
)

// diffOperators fills the operators of each node, those of outer nodes first.
func diffOperators(base, next *opTree, roots []DiffNode) {
	b, n := newSubtrees(base), newSubtrees(next)
	rows, visited := 0, 0
	level := make([]*DiffNode, len(roots))
	for i := range roots {
		level[i] = &roots[i]
	}
	for len(level) > 0 {
		var below []*DiffNode
		for _, node := range level {
			if rows > maxDiffRows || visited > maxDiffVisited {
				return
			}
			list := map[string]*DiffRow{}
			visited += b.sum(node.BaseSlices, list, func(r *DiffRow) *DiffSide { return &r.Base })
			visited += n.sum(node.NewSlices, list, func(r *DiffRow) *DiffSide { return &r.New })
			node.Operators = make([]DiffRow, 0, len(list))
			for _, r := range list {
				r.Status = status(r.Base.Count, r.New.Count)
				node.Operators = append(node.Operators, *r)
			}
			slices.SortFunc(node.Operators, byTotalChange)
			rows += len(list)
			for i := range node.Children {
				below = append(below, &node.Children[i])
			}
		}
		level = below
	}
}

// byTotalChange orders operators of a range by the change of their self time on the host and on the device.
func byTotalChange(p, q DiffRow) int {
	size := func(r *DiffRow) int64 {
		host, device := r.New.HostSelf-r.Base.HostSelf, r.New.DeviceSelf-r.Base.DeviceSelf
		return max(host, -host) + max(device, -device)
	}
	if c := compareInt(size(&q), size(&p)); c != 0 {
		return c
	}
	if p.Name < q.Name {
		return -1
	}
	return 1
}

// subtrees finds what is below a node: it follows the node in the tree's order.
type subtrees struct {
	tree *opTree
	at   []int32 // by slice: its place in the order
	size []int32 // by place: nodes of the subtree, itself included
}

func newSubtrees(t *opTree) *subtrees {
	s := &subtrees{tree: t, at: make([]int32, len(t.parent)), size: make([]int32, len(t.order))}
	for k, i := range t.order {
		s.at[i] = int32(k)
	}
	for k := len(t.order) - 1; k >= 0; k-- {
		s.size[k]++
		if p := t.parent[t.order[k]]; p >= 0 {
			s.size[s.at[p]] += s.size[k]
		}
	}
	return s
}

// sum adds the operators in ranges to rows by name and returns how many nodes it visited.
func (s *subtrees) sum(ranges []int32, rows map[string]*DiffRow, side func(*DiffRow) *DiffSide) int {
	visited := 0
	t := s.tree
	for _, r := range ranges {
		from := s.at[r]
		for _, i := range t.order[from : from+s.size[from]] {
			visited++
			if !t.isOp(i) {
				continue
			}
			slice := &t.x.t.Slices[i]
			name := t.x.t.Name(slice)
			row := rows[name]
			if row == nil {
				row = &DiffRow{Name: name}
				rows[name] = row
			}
			d := side(row)
			d.Count++
			d.Host += slice.Dur
			d.HostSelf += t.hostSelf[i]
			d.Device += t.devTotal[i]
			d.DeviceSelf += t.devSelf[i]
		}
	}
	return visited
}
