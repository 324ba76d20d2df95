package analyze

import "slices"

// span is the half-open interval [start, end).
type span struct{ start, end int64 }

// union sorts and merges spans, in place. Empty ones go.
func union(s []span) []span {
	ordered := true
	for i := 1; i < len(s) && ordered; i++ {
		ordered = s[i-1].start <= s[i].start
	}
	if !ordered {
		slices.SortFunc(s, func(a, b span) int { return compareInt(a.start, b.start) })
	}
	out := s[:0]
	for _, v := range s {
		if v.end <= v.start {
			continue
		}
		if n := len(out); n > 0 && v.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, v.end)
		} else {
			out = append(out, v)
		}
	}
	return out
}

// intersect returns what two unions have in common.
func intersect(a, b []span) []span {
	var out []span
	for len(a) > 0 && len(b) > 0 {
		if from, to := max(a[0].start, b[0].start), min(a[0].end, b[0].end); from < to {
			out = append(out, span{from, to})
		}
		if a[0].end < b[0].end {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}

// subtract returns what of union a is not in union b.
func subtract(a, b []span) []span {
	var out []span
	for _, v := range a {
		for len(b) > 0 && b[0].end <= v.start {
			b = b[1:]
		}
		from := v.start
		for i := 0; i < len(b) && b[i].start < v.end; i++ {
			if b[i].start > from {
				out = append(out, span{from, b[i].start})
			}
			from = max(from, b[i].end)
		}
		if from < v.end {
			out = append(out, span{from, v.end})
		}
	}
	return out
}

// total is the length of all spans together.
func total(s []span) int64 {
	var sum int64
	for _, v := range s {
		sum += v.end - v.start
	}
	return sum
}

// within returns the part of union s inside w, by binary search.
func within(s []span, w span) []span {
	lo, _ := slices.BinarySearchFunc(s, w.start, func(v span, at int64) int {
		if v.end <= at {
			return -1
		}
		return 1
	})
	var out []span
	for _, v := range s[lo:] {
		if v.start >= w.end {
			break
		}
		if from, to := max(v.start, w.start), min(v.end, w.end); from < to {
			out = append(out, span{from, to})
		}
	}
	return out
}
