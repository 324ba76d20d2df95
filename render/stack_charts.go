package render

import "strings"

// stackCharts puts charts below each other as one picture. It returns nil for none.
func stackCharts(title string, list []*chart) *chart {
	if len(list) == 0 {
		return nil
	}
	all := &chart{title: title}
	var alts []string
	for _, c := range list {
		all.w = max(all.w, c.w)
		all.h += c.h + 8
		alts = append(alts, c.title+": "+c.alt)
	}
	all.alt = strings.Join(alts, " ")
	all.draw = func(p pen) {
		y := 0
		for _, c := range list {
			c.draw(lowered{p, float64(y)})
			y += c.h + 8
		}
	}
	return all
}

// lowered draws dy further down.
type lowered struct {
	pen
	dy float64
}

func (l lowered) rect(x, y, w, h float64, c ink, alpha float64) {
	l.pen.rect(x, y+l.dy, w, h, c, alpha)
}
func (l lowered) spans(y, h float64, list []run, c ink, alpha float64) {
	l.pen.spans(y+l.dy, h, list, c, alpha)
}
func (l lowered) line(x0, y0, x1, y1 float64, c ink, dashed bool) {
	l.pen.line(x0, y0+l.dy, x1, y1+l.dy, c, dashed)
}
func (l lowered) steps(points []point, base float64, c ink, area bool) {
	moved := make([]point, len(points))
	for i, p := range points {
		moved[i] = point{p.x, p.y + l.dy}
	}
	l.pen.steps(moved, base+l.dy, c, area)
}
func (l lowered) text(x, y float64, s string, a anchor, c ink) { l.pen.text(x, y+l.dy, s, a, c) }
