package render

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

const defaultLimit = 20

// limit is the number of rows of static and text tables.
func (o Options) limit() int {
	switch {
	case o.Limit == 0:
		return defaultLimit
	case o.Limit < 0:
		return math.MaxInt
	}
	return o.Limit
}

// number turns a cell into a number. Empty cells and figures that are not known are NaN.
func number(v any) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case int32:
		return float64(v)
	case int64:
		return float64(v)
	case float32:
		return float64(v)
	case float64:
		if math.IsInf(v, 0) {
			return math.NaN()
		}
		return v
	}
	return math.NaN()
}

// cellText writes a cell as its column wants it.
func cellText(c Column, v any, timeUnit string) string {
	if c.Unit == UnitNone {
		switch v := v.(type) {
		case nil:
			return ""
		case string:
			return v
		case bool:
			if v {
				return "yes"
			}
			return "no"
		}
		return fmt.Sprint(v)
	}
	f := number(v)
	if math.IsNaN(f) {
		return ""
	}
	return formatValue(c.Unit, f, timeUnit)
}

// part turns g into what the script's table reads: columns of values.
func (g *Grid) part() *tablePart {
	p := &tablePart{partHead: partHead{K: "table", Title: g.Title, Note: g.Note}, Label: g.Title, Sort: g.Sort, Find: -1, Total: g.Total, File: fileName(g.Title)}
	for i, c := range g.Cols {
		p.Cols = append(p.Cols, colPart{c.Name, c.Unit, c.Help, c.Heat, c.Hide})
		if c.Unit == UnitNone {
			col := make([]string, len(g.Rows))
			for r := range g.Rows {
				col[r] = strings.ToValidUTF8(cellText(c, g.Rows[r][i], ""), "\uFFFD")
			}
			p.Data = append(p.Data, col)
			continue
		}
		col := make([]*float64, len(g.Rows))
		for r := range g.Rows {
			if f := number(g.Rows[r][i]); !math.IsNaN(f) {
				col[r] = &f
			}
		}
		p.Data = append(p.Data, col)
	}
	if p.Label == "" {
		p.Label = "Table"
	}
	return p
}

func fileName(title string) string {
	s := strings.ToLower(strings.Join(strings.FieldsFunc(title, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	}), "-"))
	if s == "" {
		return "table"
	}
	return s
}

// visible are the columns that static forms show.
func (g *Grid) visible() []int {
	var out []int
	for i, c := range g.Cols {
		if !c.Hide {
			out = append(out, i)
		}
	}
	return out
}

// html writes the first limit rows as a plain table: it must read well without any style, because classic Notebook's
// sanitiser destroys them.
func (g *Grid) html(limit int, timeUnit string) string {
	var b strings.Builder
	b.WriteString("<table>\n")
	if g.Title != "" {
		fmt.Fprintf(&b, "<caption>%s</caption>\n", escape(g.Title))
	}
	b.WriteString("<thead><tr>")
	cols := g.visible()
	for _, i := range cols {
		fmt.Fprintf(&b, "<th scope=\"col\"%s>%s</th>", alignOf(g.Cols[i]), escape(g.Cols[i].Name))
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for r := range g.Rows[:min(limit, len(g.Rows))] {
		b.WriteString("<tr>")
		for n, i := range cols {
			tag := "td"
			if n == 0 {
				tag = "th scope=\"row\""
			}
			fmt.Fprintf(&b, "<%s%s>%s</%s>", tag, alignOf(g.Cols[i]), escape(clipText(cellText(g.Cols[i], g.Rows[r][i], timeUnit), 80)), tag[:2])
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>\n")
	if n := g.count(); n > min(limit, len(g.Rows)) {
		fmt.Fprintf(&b, "<p><small>The first %s of %s rows.</small></p>\n", formatCount(float64(min(limit, len(g.Rows)))), formatCount(float64(n)))
	}
	return b.String()
}

func (g *Grid) count() int { return max(g.Total, len(g.Rows)) }

// alignOf is an attribute and not a style, because sanitisers keep it.
func alignOf(c Column) string {
	if c.Unit == UnitNone {
		return ` align="left"`
	}
	return ` align="right"`
}

// text writes the first limit rows in fixed-width columns.
func (g *Grid) text(limit int, timeUnit string) string {
	cols := g.visible()
	n := min(limit, len(g.Rows))
	cells := make([][]string, n+1)
	width := make([]int, len(cols))
	for r := range cells {
		for k, i := range cols {
			s := g.Cols[i].Name
			if r > 0 {
				s = clipText(oneLine(cellText(g.Cols[i], g.Rows[r-1][i], timeUnit)), 56)
			}
			cells[r] = append(cells[r], s)
			width[k] = max(width[k], utf8.RuneCountInString(s))
		}
	}
	var b strings.Builder
	if g.Title != "" {
		b.WriteString(g.Title + "\n")
	}
	for r, row := range cells {
		var line strings.Builder
		for k, s := range row {
			pad := strings.Repeat(" ", width[k]-utf8.RuneCountInString(s))
			if k > 0 {
				line.WriteString("  ")
			}
			if g.Cols[cols[k]].Unit == UnitNone {
				line.WriteString(s + pad)
			} else {
				line.WriteString(pad + s)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		if r == 0 {
			for k, w := range width {
				if k > 0 {
					b.WriteString("  ")
				}
				b.WriteString(strings.Repeat("-", w))
			}
			b.WriteByte('\n')
		}
	}
	if g.count() > n {
		fmt.Fprintf(&b, "(%s of %s rows)\n", formatCount(float64(n)), formatCount(float64(g.count())))
	}
	return b.String()
}

// oneLine replaces what would break a line or move the cursor of a terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case r < 32 || r == 127 || r >= 0x80 && r < 0xa0:
			return '\uFFFD'
		}
		return r
	}, s)
}

// Table draws one table. Rows shorter than the columns are filled with empty cells.
func Table(g Grid, o Options) (Bundle, error) {
	g = g.complete()
	c := newContainer(o)
	c.view(ViewTable, "Table", g.part())
	c.still.WriteString(g.html(o.limit(), o.TimeUnit))
	h, err := c.html(o)
	return Bundle{HTML: h, Text: g.text(o.limit(), o.TimeUnit)}, err
}

func (g Grid) complete() Grid {
	rows := make([][]any, len(g.Rows))
	for i, r := range g.Rows {
		if len(r) != len(g.Cols) {
			r = append(append([]any(nil), r...), make([]any, len(g.Cols))...)[:len(g.Cols)]
		}
		rows[i] = r
	}
	g.Rows = rows
	if g.Sort >= len(g.Cols) || g.Sort < 0 {
		g.Sort = -1
	}
	return g
}
