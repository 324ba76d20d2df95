package display

import "fmt"

// line draws a series as a line that is interrupted where there is no value.
func (d *drawing) line(i int, s Series) {
	fmt.Fprintf(&d.b, `<path fill="none" stroke="%s" stroke-width="1.5" stroke-linejoin="round" d="`, color(i))
	pen := false
	for _, k := range thin(s.Y) {
		x, ok := d.at(k)
		if !ok || !finite(s.Y[k]) {
			pen = false
			continue
		}
		op := 'M'
		if pen {
			op = 'L'
		}
		fmt.Fprintf(&d.b, "%c%.1f %.1f", op, d.px(x), d.py(s.Y[k]))
		pen = true
	}
	d.b.WriteString(`"/>` + "\n")
}

func (d *drawing) dots(i int, s Series) {
	fmt.Fprintf(&d.b, `<g fill="%s" fill-opacity="0.75">`+"\n", color(i))
	for _, k := range thin(s.Y) {
		if x, ok := d.at(k); ok && finite(s.Y[k]) {
			fmt.Fprintf(&d.b, `<circle cx="%.1f" cy="%.1f" r="2.5"/>`+"\n", d.px(x), d.py(s.Y[k]))
		}
	}
	d.b.WriteString("</g>\n")
}

// bars draws a series as bars beside those of the other series.
func (d *drawing) bars(i int, s Series) {
	const gap = 0.2 // of the room of one position
	width := (1 - gap) / float64(len(d.series))
	fmt.Fprintf(&d.b, `<g fill="%s">`+"\n", color(i))
	zero := d.py(0)
	for _, k := range thin(s.Y) {
		if !finite(s.Y[k]) {
			continue
		}
		left := d.px(float64(k) - 0.5 + gap/2 + float64(i)*width)
		right := d.px(float64(k) - 0.5 + gap/2 + float64(i+1)*width)
		y := d.py(s.Y[k])
		fmt.Fprintf(&d.b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`+"\n", left, min(y, zero), max(right-left, 0.5), max(y-zero, zero-y))
	}
	d.b.WriteString("</g>\n")
}

// thin chooses the points that are drawn: all, or of each stretch of equal length the lowest and the highest, in order.
func thin(y []float64) []int {
	if len(y) <= maxPoints {
		all := make([]int, len(y))
		for i := range all {
			all[i] = i
		}
		return all
	}
	var r []int
	const stretches = maxPoints / 2
	for s := range stretches {
		from, to := s*len(y)/stretches, (s+1)*len(y)/stretches
		lo, hi := from, from
		for k := from; k < to; k++ {
			if y[k] < y[lo] || !finite(y[lo]) {
				lo = k
			}
			if y[k] > y[hi] || !finite(y[hi]) {
				hi = k
			}
		}
		if lo != hi {
			r = append(r, min(lo, hi))
		}
		r = append(r, max(lo, hi))
	}
	return r
}
