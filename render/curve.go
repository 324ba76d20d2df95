package render

import (
	"fmt"
	"math"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// maxPoints bounds the points of one curve in a page. Beyond it each of maxPoints/4 stretches of time keeps its first,
// lowest, highest and last value, so peaks stay.
const maxPoints = 120_000

// thin keeps at most about n points of a step curve: per stretch of time the first, lowest, highest and last.
func thin(times []int64, values []float64, n int) ([]int64, []float64) {
	if len(times) <= n {
		return times, values
	}
	t0, width := times[0], max(1, (times[len(times)-1]-times[0])/int64(max(1, n/4))+1)
	var ts []int64
	var vs []float64
	for i := 0; i < len(times); {
		cell := (times[i] - t0) / width
		j, lo, hi := i, i, i
		for ; j < len(times) && (times[j]-t0)/width == cell; j++ {
			if values[j] < values[lo] {
				lo = j
			}
			if values[j] > values[hi] {
				hi = j
			}
		}
		last := -1
		for _, k := range [...]int{i, min(lo, hi), max(lo, hi), j - 1} {
			if k > last {
				ts, vs = append(ts, times[k]), append(vs, values[k])
				last = k
			}
		}
		i = j
	}
	return ts, vs
}

// part packs g for the script. base is time zero of the page and end its last moment after base.
func (g *Graph) part(c *container, base, end int64) (*curvePart, error) {
	p := &curvePart{partHead: partHead{K: "curve", Title: g.Title, Note: g.Note}, Unit: g.Unit, End: end, Marks: [][1]int64{}, Label: g.alt(base, end)}
	packed := make([]packedCurve, 0, len(g.Series))
	thinned := false
	for _, s := range g.Series {
		p.Series = append(p.Series, curveMeta{s.Name, s.Area, s.Limit})
		ts, vs := thin(s.Times, s.Values, maxPoints)
		thinned = thinned || len(ts) < len(s.Times)
		q := packedCurve{Scale: resolution(vs)}
		var at int64
		for i, t := range ts {
			if math.IsNaN(vs[i]) || math.IsInf(vs[i], 0) {
				continue
			}
			at = max(at, t-base)
			q.Times, q.Values = append(q.Times, at), append(q.Values, int64(math.Round(vs[i]/q.Scale)))
		}
		packed = append(packed, q)
	}
	if thinned {
		p.Note = strings.TrimSpace(p.Note + " The curve keeps the extremes of short stretches of time instead of every point.")
	}
	for _, m := range g.Marks {
		p.Marks = append(p.Marks, [1]int64{m.Time - base})
	}
	text, err := squeeze(packCurves(packed), gzip.BestSpeed+4)
	if err != nil {
		return nil, err
	}
	p.Blob = c.addBlob(text)
	return p, nil
}

// resolution is the unit that values are stored in: 1 when all are whole, else a millionth of the largest.
func resolution(vs []float64) float64 {
	whole, top := true, 0.0
	for _, v := range vs {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		whole = whole && v == math.Trunc(v)
		top = max(top, math.Abs(v))
	}
	switch {
	case top == 0:
		return 1
	case whole && top < 1<<52:
		return 1
	}
	return top / 1e6
}

// alt says in words what the curves show.
func (g *Graph) alt(base, end int64) string {
	var parts []string
	for _, s := range g.Series {
		if len(s.Values) == 0 || s.Limit {
			continue
		}
		k := 0
		for i, v := range s.Values {
			if v > s.Values[k] {
				k = i
			}
		}
		parts = append(parts, fmt.Sprintf("%s peaks at %s after %s and ends at %s", s.Name, formatValue(g.Unit, s.Values[k], ""), formatTime(float64(s.Times[k]-base)), formatValue(g.Unit, s.Values[len(s.Values)-1], "")))
	}
	if len(parts) == 0 {
		return "No values."
	}
	return strings.Join(parts, "; ") + "."
}

// bounds are the first and last moment of all series.
func (g *Graph) bounds() (int64, int64) {
	a, b := int64(math.MaxInt64), int64(math.MinInt64)
	for _, s := range g.Series {
		if n := len(s.Times); n > 0 {
			a, b = min(a, s.Times[0]), max(b, s.Times[n-1])
		}
	}
	if a > b {
		return 0, 1
	}
	return a, b
}

// picture is the static form of g over [base, base+end].
func (g *Graph) picture(base, end int64) *chart {
	const w, h, left, right, top, bottom = 900, 240, 84, 16, 34, 24
	end = max(1, end)
	return &chart{w: w, h: h, title: g.Title, alt: g.alt(base, end), draw: func(p pen) {
		hi := 0.0
		for _, s := range g.Series {
			for _, v := range s.Values {
				if !math.IsNaN(v) && !math.IsInf(v, 0) {
					hi = max(hi, v)
				}
			}
		}
		if hi == 0 {
			hi = 1
		}
		hi *= 1.06
		x := func(t int64) float64 {
			return left + min(1, max(0, float64(t-base)/float64(end)))*(w-left-right)
		}
		y := func(v float64) float64 { return h - bottom - min(1, max(0, v/hi))*(h-bottom-top) }
		ys, step := axisTicks(0, hi, 4, g.Unit == UnitBytes)
		for _, v := range ys {
			p.line(left, y(v), w-right, y(v), inkLine, false)
			p.text(left-8, y(v), formatTick(g.Unit, v, step), anchorEnd, inkDim)
		}
		xs, step := axisTicks(0, float64(end), 7, false)
		for _, t := range xs {
			a, px := anchorMiddle, x(base+int64(t))
			if px > w-50 {
				a, px = anchorEnd, w-right
			}
			p.text(px, h-10, formatTick(UnitTime, t, step), a, inkDim)
		}
		at := float64(left)
		for i, s := range g.Series {
			p.rect(at, 11, 10, 10, seriesInk(i), 1)
			label := s.Name
			if n := len(s.Values); n > 0 && !s.Limit {
				top := s.Values[0]
				for _, v := range s.Values {
					top = max(top, v)
				}
				label += ", peak " + formatValue(g.Unit, top, "")
			}
			p.text(at+15, 16, label, anchorStart, inkText)
			at += 15 + 6.2*float64(len(label)) + 18
			g.stroke(p, i, x, y, h-bottom, w-right)
		}
	}}
}

func (g *Graph) stroke(p pen, i int, x func(int64) float64, y func(float64) float64, base, right float64) {
	s := g.Series[i]
	if len(s.Times) == 0 {
		return
	}
	if s.Limit {
		v := s.Values[0]
		p.line(x(s.Times[0]), y(v), right, y(v), seriesInk(i), true)
		return
	}
	ts, vs := thin(s.Times, s.Values, 1600)
	pts := make([]point, 0, len(ts)*2)
	for k, t := range ts {
		if k > 0 {
			pts = append(pts, point{x(t), y(vs[k-1])})
		}
		pts = append(pts, point{x(t), y(vs[k])})
	}
	pts = append(pts, point{right, y(vs[len(vs)-1])})
	p.steps(pts, base, seriesInk(i), s.Area)
}

// sparkline draws values as one line of n block characters, each the highest of its stretch of time.
func sparkline(times []int64, values []float64, n int) string {
	if len(values) == 0 {
		return ""
	}
	bars := []rune("▁▂▃▄▅▆▇█")
	t0, span := times[0], max(1, times[len(times)-1]-times[0])
	cells := make([]float64, n)
	hi, k, at := 0.0, 0, values[0]
	for c := range cells {
		top := at
		for k < len(times) && (times[k]-t0)*int64(n) <= int64(c+1)*span {
			at = values[k]
			top = max(top, at)
			k++
		}
		cells[c] = top
		hi = max(hi, top)
	}
	out := make([]rune, n)
	for c, v := range cells {
		out[c] = bars[0]
		if hi > 0 && v > 0 {
			out[c] = bars[min(len(bars)-1, int(v/hi*float64(len(bars)-1)+0.5))]
		}
	}
	return string(out)
}

// text is the curves as sparklines with their peaks.
func (g *Graph) text() string {
	var b strings.Builder
	for _, s := range g.Series {
		if len(s.Values) == 0 || s.Limit {
			continue
		}
		top := s.Values[0]
		for _, v := range s.Values {
			top = max(top, v)
		}
		fmt.Fprintf(&b, "%-24s %s  peak %s, last %s\n", clipText(oneLine(s.Name), 24), sparkline(s.Times, s.Values, 60), formatValue(g.Unit, top, ""), formatValue(g.Unit, s.Values[len(s.Values)-1], ""))
	}
	return b.String()
}

// Curve draws one chart of curves.
func Curve(g Graph, o Options) (Bundle, error) {
	base, last := g.bounds()
	c := newContainer(o)
	p, err := g.part(c, base, last-base)
	if err != nil {
		return Bundle{}, err
	}
	c.view(ViewMemory, "Curve", p)
	pic := g.picture(base, last-base)
	c.picture(pic)
	png, err := pic.png()
	if err != nil {
		return Bundle{}, err
	}
	h, err := c.html(o)
	return Bundle{HTML: h, Text: g.text(), PNG: png}, err
}
