package display

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// Chart is a simple chart of one or more series over the same X. It is a value to display:
//
//	display.Display(display.Chart{Title: "loss", Y: losses})
//
// It is drawn as a picture inside the output, so that it shows everywhere, also in exports and without scripts.
type Chart struct {
	Kind   string // "line" (also when empty), "bar", "scatter"
	Title  string
	X      []float64 // 0, 1, 2, … when nil
	Labels []string  // names of the X positions, instead of X
	Y      []float64
	Series []Series // instead of Y, or beside it
	XLabel string
	YLabel string
	Width  int // in pixels; 640 when 0
	Height int // 360 when 0
}

// Series is one named sequence of values of a chart. Values that are not finite are left out.
type Series struct {
	Name string
	Y    []float64
}

// maxPoints is how many points of a series are drawn; longer ones are thinned to the extremes of equal stretches.
const maxPoints = 4000

var palette = []string{"#3b6fb6", "#d9772b", "#3c9a5f", "#b6494f", "#7c62b0", "#8a6d4f", "#c46aa5", "#6b7280"}

// SVG draws the chart on a card of its own, readable on light and dark pages.
func (c Chart) SVG() string {
	d := newDrawing(c)
	d.axes()
	for i, s := range d.series {
		switch c.Kind {
		case "bar":
			d.bars(i, s)
		case "scatter":
			d.dots(i, s)
		default:
			d.line(i, s)
		}
	}
	d.legend()
	d.b.WriteString("</svg>\n")
	return d.b.String()
}

// MIMEBundle returns the drawing and the figures as text.
func (c Chart) MIMEBundle() map[string]any {
	alt := c.Title
	if alt == "" {
		alt = "chart"
	}
	return map[string]any{mimeHTML: svgImage(c.SVG(), alt), mimeText: c.text()}
}

func (c Chart) all() []Series {
	s := c.Series
	if c.Y != nil {
		s = append([]Series{{Y: c.Y}}, s...)
	}
	return s
}

// text is a table of each series' range.
func (c Chart) text() string {
	var b strings.Builder
	if c.Title != "" {
		b.WriteString(c.Title + "\n")
	}
	for i, s := range c.all() {
		name := s.Name
		if name == "" {
			name = "series " + strconv.Itoa(i+1)
		}
		lo, hi, n := bounds(s.Y)
		if n == 0 {
			fmt.Fprintf(&b, "%s: no values\n", name)
			continue
		}
		fmt.Fprintf(&b, "%s: %d values, %.6g to %.6g  %s\n", name, len(s.Y), lo, hi, spark(s.Y, lo, hi))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// spark draws values as a line of blocks.
func spark(y []float64, lo, hi float64) string {
	const width = 40
	blocks := []rune("▁▂▃▄▅▆▇█")
	n := min(len(y), width)
	var b strings.Builder
	for i := range n {
		v := y[i*len(y)/n]
		if !finite(v) {
			b.WriteByte(' ')
			continue
		}
		k := 0
		if hi > lo {
			k = int((v - lo) / (hi - lo) * float64(len(blocks)-1))
		}
		b.WriteRune(blocks[min(max(k, 0), len(blocks)-1)])
	}
	return b.String()
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func bounds(y []float64) (lo, hi float64, n int) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range y {
		if finite(v) {
			lo, hi, n = min(lo, v), max(hi, v), n+1
		}
	}
	return lo, hi, n
}

// drawing maps values to pixels.
type drawing struct {
	c                        Chart
	series                   []Series
	b                        strings.Builder
	w, h                     float64
	left, right, top, bottom float64 // margins
	x0, x1, y0, y1           float64 // ranges of the values
}

func newDrawing(c Chart) *drawing {
	size := func(v, def int) float64 {
		if v <= 0 {
			v = def
		}
		return float64(min(max(v, 120), 4000))
	}
	d := &drawing{c: c, series: c.all(), w: size(c.Width, 640), h: size(c.Height, 360), left: 64, right: 16, top: 16, bottom: 36}
	if c.Title != "" {
		d.top += 22
	}
	if c.XLabel != "" {
		d.bottom += 16
	}
	if c.YLabel != "" {
		d.left += 16
	}
	for _, s := range d.series {
		if s.Name != "" {
			d.top += 20
			break
		}
	}
	d.x0, d.x1, d.y0, d.y1 = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, s := range d.series {
		lo, hi, _ := bounds(s.Y)
		d.y0, d.y1 = min(d.y0, lo), max(d.y1, hi)
		for i := range s.Y {
			if x, ok := d.at(i); ok {
				d.x0, d.x1 = min(d.x0, x), max(d.x1, x)
			}
		}
	}
	if c.Kind == "bar" {
		d.y0, d.y1 = min(d.y0, 0), max(d.y1, 0)
		d.x0, d.x1 = d.x0-0.5, d.x1+0.5
	}
	if c.Kind == "scatter" { // so that no point lies on the frame
		padX, padY := (d.x1-d.x0)*0.03, (d.y1-d.y0)*0.05
		d.x0, d.x1, d.y0, d.y1 = d.x0-padX, d.x1+padX, d.y0-padY, d.y1+padY
	}
	widen(&d.x0, &d.x1)
	widen(&d.y0, &d.y1)
	fmt.Fprintf(&d.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g" font-family="sans-serif" font-size="12">`+"\n", d.w, d.h, d.w, d.h)
	fmt.Fprintf(&d.b, `<rect width="%g" height="%g" rx="4" fill="#ffffff" stroke="#d8dce2"/>`+"\n", d.w, d.h)
	return d
}

// widen makes a range that has a length.
func widen(lo, hi *float64) {
	switch {
	case !finite(*lo) || !finite(*hi):
		*lo, *hi = 0, 1
	case *lo == *hi:
		pad := math.Abs(*lo) / 2
		if pad == 0 {
			pad = 1
		}
		*lo, *hi = *lo-pad, *hi+pad
	}
}

// at is the X value of point i. Bars stand at their index.
func (d *drawing) at(i int) (float64, bool) {
	if d.c.X == nil || len(d.c.Labels) > 0 || d.c.Kind == "bar" {
		return float64(i), true
	}
	if i >= len(d.c.X) || !finite(d.c.X[i]) {
		return 0, false
	}
	return d.c.X[i], true
}

func (d *drawing) px(x float64) float64 {
	return d.left + (x-d.x0)/(d.x1-d.x0)*(d.w-d.left-d.right)
}

func (d *drawing) py(y float64) float64 {
	return d.h - d.bottom - (y-d.y0)/(d.y1-d.y0)*(d.h-d.top-d.bottom)
}

func (d *drawing) text(x, y float64, anchor, fill, s string) {
	fmt.Fprintf(&d.b, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, anchor, fill, html.EscapeString(s))
}

func (d *drawing) axes() {
	if d.c.Title != "" {
		fmt.Fprintf(&d.b, `<text x="%.1f" y="24" text-anchor="middle" font-size="14" font-weight="bold" fill="#1f2937">%s</text>`+"\n", d.w/2, html.EscapeString(d.c.Title))
	}
	for _, v := range ticks(d.y0, d.y1, int(d.h/60)) {
		y := d.py(v)
		fmt.Fprintf(&d.b, `<path d="M%.1f %.1fH%.1f" stroke="#e5e7eb"/>`+"\n", d.left, y, d.w-d.right)
		d.text(d.left-6, y+4, "end", "#4b5563", tickText(v))
	}
	base := d.h - d.bottom
	for _, t := range d.xTicks() {
		x := d.px(t.at)
		fmt.Fprintf(&d.b, `<path d="M%.1f %.1fv4" stroke="#9ca3af"/>`+"\n", x, base)
		d.text(x, base+18, "middle", "#4b5563", t.text)
	}
	fmt.Fprintf(&d.b, `<path d="M%.1f %.1fV%.1fH%.1f" fill="none" stroke="#9ca3af"/>`+"\n", d.left, d.top, base, d.w-d.right)
	if d.c.XLabel != "" {
		d.text((d.left+d.w-d.right)/2, d.h-8, "middle", "#1f2937", d.c.XLabel)
	}
	if d.c.YLabel != "" {
		y := (d.top + base) / 2
		fmt.Fprintf(&d.b, `<text transform="translate(16 %.1f) rotate(-90)" text-anchor="middle" fill="#1f2937">%s</text>`+"\n", y, html.EscapeString(d.c.YLabel))
	}
}

type xTick struct {
	at   float64
	text string
}

func (d *drawing) xTicks() []xTick {
	var r []xTick
	if names := d.names(); len(names) > 0 {
		step := max(1, (len(names)*70+int(d.w)-1)/int(d.w))
		for i := 0; i < len(names); i += step {
			s := names[i]
			if n := []rune(s); len(n) > 12 {
				s = string(n[:11]) + "…"
			}
			r = append(r, xTick{float64(i), s})
		}
		return r
	}
	for _, v := range ticks(d.x0, d.x1, int(d.w/90)) {
		r = append(r, xTick{v, tickText(v)})
	}
	return r
}

// names are the labels below the points of a chart that has them.
func (d *drawing) names() []string {
	if len(d.c.Labels) > 0 || d.c.Kind != "bar" {
		return d.c.Labels
	}
	var r []string
	for _, x := range d.c.X {
		r = append(r, tickText(x))
	}
	return r
}

func (d *drawing) legend() {
	x := d.left
	for i, s := range d.series {
		if s.Name == "" {
			continue
		}
		y := d.top - 8
		fmt.Fprintf(&d.b, `<rect x="%.1f" y="%.1f" width="10" height="10" rx="2" fill="%s"/>`+"\n", x, y-9, color(i))
		d.text(x+14, y, "start", "#1f2937", s.Name)
		x += 14 + 7.5*float64(len([]rune(s.Name))) + 14
	}
}

func color(i int) string { return palette[i%len(palette)] }

// ticks are about n round numbers in a range.
func ticks(lo, hi float64, n int) []float64 {
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/float64(max(n, 2)))))
	for _, m := range []float64{1, 2, 5, 10} {
		if (hi-lo)/(step*m) <= float64(max(n, 2)) {
			step *= m
			break
		}
	}
	if step <= 0 || !finite(step) {
		return nil
	}
	var r []float64
	for k := math.Ceil(lo / step); k*step <= hi && len(r) < 50; k++ {
		r = append(r, k*step)
	}
	return r
}

func tickText(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }
