package analyze

import "fmt"

// byName returns the collectives of each name in their order. Ranks agree on the order of one kind of collective more
// often than on that of all, which different threads issue. names numbers the names of all ranks.
func (r *rankComm) byName(names map[string]int) [][]*commNode {
	out := make([][]*commNode, len(names))
	for _, n := range r.nodes {
		name := r.t.Name(&r.t.Slices[n.slice])
		k, ok := names[name]
		if !ok {
			k = len(names)
			names[name] = k
		}
		for len(out) <= k {
			out = append(out, nil)
		}
		out[k] = append(out[k], n)
	}
	return out
}

// match finds the time that every rank spent on data transfer, or says why it cannot. sequences gives a rank's collectives
// as sequences that the ranks have in common.
func match(ranks []*rankComm, sequences func(*rankComm) [][]*commNode) string {
	all := make([][][]*commNode, len(ranks))
	for k, r := range ranks {
		all[k] = sequences(r)
	}
	first := all[0]
	for k, seqs := range all {
		for q := range max(len(seqs), len(first)) {
			mine, other := at(seqs, q), at(first, q)
			if len(mine) != len(other) {
				return fmt.Sprintf("rank %d has %d collective operations where rank 0 has %d", k, len(ranks[k].nodes), len(ranks[0].nodes))
			}
			for i, n := range mine {
				if len(n.ranges) != len(other[i].ranges) {
					return fmt.Sprintf("collective operation %d of rank %d has %d kernels where that of rank 0 has %d", i, k, len(n.ranges), len(other[i].ranges))
				}
			}
		}
	}
	for q := range first {
		for i := range first[q] {
			for j := range first[q][i].ranges {
				least := int64(1<<63 - 1)
				for _, seqs := range all {
					least = min(least, seqs[q][i].ranges[j].end-seqs[q][i].ranges[j].start)
				}
				for _, seqs := range all {
					n := seqs[q][i]
					n.transfer = append(n.transfer, span{n.ranges[j].end - least, n.ranges[j].end})
				}
			}
		}
	}
	return ""
}

// at returns the q-th sequence, or none.
func at(seqs [][]*commNode, q int) []*commNode {
	if q < len(seqs) {
		return seqs[q]
	}
	return nil
}
