package render

import (
	"fmt"
	"math"

	"github.com/gander-go/gander/profiler/analyze"
)

// diffPicture shows the largest changes, gains to the left and losses to the right.
func diffPicture(d *analyze.DiffReport) *chart {
	const w, row, top, left, limit = 900, 19, 34, 330, 16
	type line struct {
		name  string
		delta int64
	}
	var lines []line
	for i := range d.Rows { // largest change first
		r := &d.Rows[i]
		if delta := r.Change(); delta != 0 && len(lines) < limit {
			lines = append(lines, line{r.Name, delta})
		}
	}
	var most int64 = 1
	for _, l := range lines {
		most = max(most, l.delta, -l.delta)
	}
	alt := fmt.Sprintf("Recorded time went from %s to %s.", formatTime(float64(d.BaseSpan)), formatTime(float64(d.NewSpan)))
	return &chart{w: w, h: top + len(lines)*row + 8, title: "Largest changes of self time", alt: alt, draw: func(p pen) {
		const mid, half = left + 240, 190
		p.text(8, 15, "Largest changes of self time", anchorStart, inkText)
		p.text(mid-6, 15, "less", anchorEnd, inkDim)
		p.text(mid+6, 15, "more", anchorStart, inkDim)
		for i, l := range lines {
			y := float64(top + i*row)
			width := math.Abs(float64(l.delta)) / float64(most) * half
			p.text(left-8, y+row/2, clipText(shorten(l.name), 50), anchorEnd, inkText)
			x, c, at, a := float64(mid), seriesInk(1), mid+width+6, anchorStart
			if l.delta < 0 {
				x, c, at, a = mid-width, seriesInk(0), mid-width-6, anchorEnd
			}
			p.rect(x, y+3, max(1, width), row-6, c, 1)
			sign := ""
			if l.delta > 0 {
				sign = "+"
			}
			p.text(at, y+row/2, sign+formatTime(float64(l.delta)), a, inkDim)
		}
		p.line(mid, top, mid, float64(top+len(lines)*row), inkDim, false)
	}}
}
