package render

import (
	"encoding/base64"
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode"
)

// svgPen writes SVG. Inside an img element it cannot see the page's style, so it brings a card of its own that follows
// the system's choice of light or dark.
type svgPen struct{ b strings.Builder }

const svgStyle = `<style>:root{--f:#1f2328;--d:#59636e;--l:#d8dee4;--b:#fff;--n:#f3f5f7;--a:#0969da}` +
	`@media(prefers-color-scheme:dark){:root{--f:#e6edf3;--d:#9da7b1;--l:#3d444d;--b:#15181c;--n:#20252b;--a:#58a6ff}}` +
	`text{font:11px system-ui,-apple-system,"Segoe UI",sans-serif;fill:var(--f)}.d{fill:var(--d)}.m{text-anchor:middle}.e{text-anchor:end}</style>`

// svg returns the chart as an SVG document.
func (c *chart) svg() string {
	var p svgPen
	fmt.Fprintf(&p.b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="t d"><title id="t">%s</title><desc id="d">%s</desc>%s<rect width="%d" height="%d" fill="var(--b)"/>`,
		c.w, c.h, c.w, c.h, xmlText(c.title), xmlText(c.alt), svgStyle, c.w, c.h)
	c.draw(&p)
	p.b.WriteString("</svg>")
	return p.b.String()
}

// img returns the chart as an img element with its sentence as alternative text. An inline svg element would not do:
// JupyterLab's sanitiser drops it in untrusted notebooks and leaves its labels as one run-on line.
func (c *chart) img() string {
	return fmt.Sprintf(`<img src="data:image/svg+xml;base64,%s" width="%d" alt="%s">`,
		base64.StdEncoding.EncodeToString([]byte(c.svg())), c.w, html.EscapeString(c.title+". "+c.alt))
}

// xmlText escapes s for XML and drops the characters that XML does not have: one of them would make the picture invalid.
func xmlText(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || r < 32 && r != '\t' && r != '\n' || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return html.EscapeString(s)
}

func (p *svgPen) color(c ink) string {
	switch {
	case c == inkText:
		return "var(--f)"
	case c == inkDim:
		return "var(--d)"
	case c == inkLine:
		return "var(--l)"
	case c == inkBand:
		return "var(--n)"
	case c == inkAccent:
		return "var(--a)"
	}
	return hexOf(c)
}

// hexOf is the colour of a chart series or an event class, which are the same on both grounds.
func hexOf(c ink) string {
	if c >= inkClass {
		return classHex[int(c-inkClass)%len(classHex)]
	}
	return seriesColors[int(c-inkSeries)%len(seriesColors)]
}

// num writes a coordinate with at most one decimal.
func num(v float64) string {
	s := strconv.FormatFloat(v, 'f', 1, 64)
	s = strings.TrimSuffix(s, ".0")
	if s == "-0" {
		return "0"
	}
	return s
}

func alphaAttr(name string, a float64) string {
	if a >= 1 {
		return ""
	}
	return fmt.Sprintf(` %s="%s"`, name, strconv.FormatFloat(a, 'g', 2, 64))
}

func (p *svgPen) rect(x, y, w, h float64, c ink, alpha float64) {
	fmt.Fprintf(&p.b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"%s/>`, num(x), num(y), num(w), num(h), p.color(c), alphaAttr("fill-opacity", alpha))
}

// spans draws one row as a single path of thick strokes: a run costs about six bytes.
func (p *svgPen) spans(y, h float64, list []run, c ink, alpha float64) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(&p.b, `<path stroke="%s" stroke-width="%s"%s d="M%s %s`, p.color(c), num(h), alphaAttr("stroke-opacity", alpha), num(list[0].x), num(y+h/2))
	at := list[0].x
	for i, s := range list {
		if i > 0 {
			fmt.Fprintf(&p.b, "m%s 0", num(s.x-at))
		}
		p.b.WriteString("h" + num(s.w))
		at = s.x + s.w
	}
	p.b.WriteString(`"/>`)
}

func (p *svgPen) line(x0, y0, x1, y1 float64, c ink, dashed bool) {
	dash := ""
	if dashed {
		dash = ` stroke-dasharray="5 4"`
	}
	fmt.Fprintf(&p.b, `<path d="M%s %sL%s %s" stroke="%s"%s/>`, num(x0), num(y0), num(x1), num(y1), p.color(c), dash)
}

func (p *svgPen) steps(pts []point, base float64, c ink, area bool) {
	if len(pts) == 0 {
		return
	}
	var d strings.Builder
	fmt.Fprintf(&d, "M%s %s", num(pts[0].x), num(pts[0].y))
	x, y := num(pts[0].x), num(pts[0].y)
	for _, q := range pts[1:] {
		if nx := num(q.x); nx != x {
			d.WriteString("H" + nx)
			x = nx
		}
		if ny := num(q.y); ny != y {
			d.WriteString("V" + ny)
			y = ny
		}
	}
	if area {
		fmt.Fprintf(&p.b, `<path d="%sV%sH%sz" fill="%s" fill-opacity=".2"/>`, d.String(), num(base), num(pts[0].x), p.color(c))
	}
	fmt.Fprintf(&p.b, `<path d="%s" fill="none" stroke="%s" stroke-width="1.5"/>`, d.String(), p.color(c))
}

func (p *svgPen) text(x, y float64, s string, a anchor, c ink) {
	class := [...]string{"", "m", "e"}[a]
	if c == inkDim {
		class = strings.TrimSpace("d " + class)
	}
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(&p.b, `<text x="%s" y="%s"%s>%s</text>`, num(x), num(y+4), class, xmlText(s))
}
