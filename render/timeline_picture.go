package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

const (
	pictureRows    = 24  // rows of the static timeline
	pictureColumns = 400 // its resolution in time
)

// timelinePicture is the static form of the timeline: the busiest rows, one colour per class and column.
func timelinePicture(t *trace.Trace, tracks []*rowTrack) *chart {
	const w, left, right, top, rowH = 900, 150, 12, 30, 15
	base, span := t.Meta.Start, max(1, t.Meta.End-t.Meta.Start)
	type line struct {
		track int
		depth int
		row   []rowEvent
	}
	// The first row of as many tracks as there is room for, busiest first, then the next rows of each.
	order := make([]int, len(tracks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(tracks[b].busy, tracks[a].busy) })
	var lines []line
	for depth, room := 0, pictureRows; depth < 8 && room > 0; depth++ {
		for _, k := range order {
			if room > 0 && depth < len(tracks[k].rows) {
				lines = append(lines, line{k, depth, tracks[k].rows[depth]})
				room--
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Or(cmp.Compare(a.track, b.track), cmp.Compare(a.depth, b.depth)) })
	shown := map[int]bool{}
	for _, l := range lines {
		shown[l.track] = true
	}
	h := top + len(lines)*rowH + 4*len(shown) + 28
	alt := fmt.Sprintf("%s over %s.", plural(int64(len(t.Slices)), "event"), formatTime(float64(span)))
	if len(tracks) > len(shown) {
		alt += fmt.Sprintf(" The %d busiest of %d tracks.", len(shown), len(tracks))
	} else {
		alt += " " + plural(int64(len(tracks)), "track") + "."
	}
	return &chart{w: w, h: h, title: "Timeline", alt: alt, draw: func(p pen) {
		pictureLegend(p, t, left)
		y, last := float64(top), -1
		column := float64(w-left-right) / pictureColumns
		for _, l := range lines {
			if l.track != last {
				y += 4
				p.rect(left, y-2, w-left-right, 0.5, inkLine, 1)
				p.text(left-8, y+rowH/2, clipText(trackName(t, tracks[l.track].id), 22), anchorEnd, inkText)
				last = l.track
			}
			drawRow(p, t, l.row, base, span, left, y, rowH-1.5, column)
			y += rowH
		}
		xs, step := axisTicks(0, float64(span), 7, false)
		for _, v := range xs {
			x, a := left+v/float64(span)*(w-left-right), anchorMiddle
			p.line(x, y+2, x, y+6, inkDim, false)
			if x > w-46 {
				a, x = anchorEnd, w-right
			}
			p.text(x, y+15, formatTick(UnitTime, v, step), a, inkDim)
		}
	}}
}

// drawRow reduces a row to one class and one of three densities per column and draws runs of equal ones.
func drawRow(p pen, t *trace.Trace, row []rowEvent, base, span int64, left, y, h, column float64) {
	var cover [pictureColumns]int64
	var longest [pictureColumns]int64
	var class [pictureColumns]trace.Class
	cell := func(v int64) int {
		return min(pictureColumns-1, max(0, int(float64(v-base)/float64(span)*pictureColumns)))
	}
	width := max(1, span/pictureColumns)
	for _, e := range row {
		c := trace.ClassOther
		if e.slice >= 0 {
			c = t.Class(&t.Slices[e.slice])
		}
		for k := cell(e.start); k <= cell(max(e.start, e.end-1)); k++ {
			from := base + int64(float64(k)/pictureColumns*float64(span))
			part := max(1, min(e.end, from+width)-max(e.start, from))
			cover[k] += part
			if part > longest[k] {
				longest[k], class[k] = part, c
			}
		}
	}
	type style struct {
		class trace.Class
		level int
	}
	runs := map[style][]cells{}
	for k := 0; k < pictureColumns; {
		if cover[k] == 0 {
			k++
			continue
		}
		s := style{class[k], density(cover[k], width)}
		j := k
		for j < pictureColumns && cover[j] > 0 && class[j] == s.class && density(cover[j], width) == s.level {
			j++
		}
		runs[s] = append(runs[s], cells{k, j})
		k = j
	}
	keys := make([]style, 0, len(runs))
	for s := range runs {
		keys = append(keys, s)
	}
	slices.SortFunc(keys, func(a, b style) int { return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.level, b.level)) })
	for _, s := range keys {
		list := make([]run, 0, len(runs[s]))
		for _, r := range runs[s] {
			list = append(list, run{left + float64(r.from)*column, float64(r.to-r.from) * column})
		}
		p.spans(y, h, list, classInk(int(s.class)), [...]float64{0.35, 0.65, 1}[s.level])
	}
}

type cells struct{ from, to int }

func density(cover, width int64) int {
	switch f := float64(cover) / float64(width); {
	case f < 0.33:
		return 0
	case f < 0.75:
		return 1
	}
	return 2
}

// pictureLegend names the classes that occur.
func pictureLegend(p pen, t *trace.Trace, left float64) {
	var seen [trace.NumClasses]bool
	for i := range t.Slices {
		seen[t.Class(&t.Slices[i])] = true
	}
	p.text(8, 15, "Timeline", anchorStart, inkText)
	x := left
	said := map[string]bool{}
	for c, ok := range seen {
		name := classNames[c]
		if !ok || trace.Class(c) == trace.ClassTool || said[name] || x > 820 {
			continue
		}
		said[name] = true
		p.rect(x, 10, 10, 10, classInk(c), 1)
		p.text(x+14, 15, name, anchorStart, inkDim)
		x += 14 + 6.4*float64(len(name)) + 14
	}
}

// Timeline draws the events of one trace on their tracks.
func Timeline(t *trace.Trace, o Options) (Bundle, error) {
	c := newContainer(o)
	budget := o.Budget
	if budget == 0 {
		budget = notebookBudget
	}
	part, rows, blob, err := buildTimeline(t, budget, nil, nil)
	if err != nil {
		return Bundle{}, err
	}
	part.Blob = c.addBlob(blob)
	c.view(ViewTimeline, "Timeline", part)
	pic := timelinePicture(t, rows)
	c.picture(pic)
	png, err := pic.png()
	if err != nil {
		return Bundle{}, err
	}
	h, err := c.html(o)
	return Bundle{HTML: h, Text: strings.TrimSpace(part.Label+" "+part.Note) + "\n", PNG: png}, err
}
