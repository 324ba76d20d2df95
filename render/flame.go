package render

import (
	"fmt"
	"slices"
	"strings"
)

// total returns the weight of every node with all below it.
func (f *Flames) total() []int64 {
	t := slices.Clone(f.Self)
	for i := len(t) - 1; i > 0; i-- {
		if p := f.Parent[i]; p >= 0 && int(p) < i {
			t[p] += t[i]
		}
	}
	return t
}

// check reports a tree that the drawing could not walk.
func (f *Flames) check() error {
	n := len(f.Parent)
	if len(f.Name) != n || len(f.Self) != n || len(f.Count) != n {
		return fmt.Errorf("drawing flame graph %q: columns of %d, %d, %d and %d nodes", f.Title, n, len(f.Name), len(f.Self), len(f.Count))
	}
	for i, p := range f.Parent {
		if int(p) >= i || p < 0 && i > 0 || f.Name[i] < 0 || int(f.Name[i]) >= len(f.Names) {
			return fmt.Errorf("drawing flame graph %q: node %d is out of order or has no name", f.Title, i)
		}
	}
	return nil
}

func (f *Flames) set(samples bool) flameSet {
	names := make([]string, len(f.Names))
	for i, n := range f.Names {
		names[i] = strings.ToValidUTF8(n, "\uFFFD")
	}
	return flameSet{f.Title, f.Unit, samples, names, f.Name, f.Parent, f.Self, f.Count}
}

// picture is the static form of f: as many levels as fit, widest first.
func (f *Flames) picture() *chart {
	const w, row, top, levels = 900, 18, 30, 16
	if len(f.Parent) == 0 {
		return nil
	}
	total := f.total()
	kids := make([][]int32, len(f.Parent))
	depth := make([]int, len(f.Parent))
	deepest := 0
	for i := 1; i < len(f.Parent); i++ {
		p := f.Parent[i]
		kids[p] = append(kids[p], int32(i))
		depth[i] = depth[p] + 1
		if float64(total[i]) > float64(total[0])/w {
			deepest = max(deepest, depth[i])
		}
	}
	for _, k := range kids {
		slices.SortStableFunc(k, func(a, b int32) int { return int(min(1, max(-1, total[b]-total[a]))) })
	}
	deepest = min(deepest, levels-1)
	h := top + (deepest+1)*row + 6
	alt := "Nothing was recorded."
	if total[0] > 0 && len(kids[0]) > 0 {
		var parts []string
		for _, k := range kids[0][:min(3, len(kids[0]))] {
			parts = append(parts, fmt.Sprintf("%s %.1f %%", clipText(shorten(f.Names[f.Name[k]]), 60), 100*float64(total[k])/float64(total[0])))
		}
		alt = fmt.Sprintf("%s in all; widest at the top: %s.", formatValue(f.Unit, float64(total[0]), ""), strings.Join(parts, ", "))
	}
	return &chart{w: w, h: h, title: f.Title, alt: alt, draw: func(p pen) {
		p.text(8, 15, f.Title+", "+formatValue(f.Unit, float64(total[0]), ""), anchorStart, inkText)
		scale := float64(w-16) / float64(max(1, total[0]))
		var walk func(i int32, x float64)
		walk = func(i int32, x float64) {
			width := float64(total[i]) * scale
			if width < 1 || depth[i] > deepest {
				return
			}
			y := float64(top + depth[i]*row)
			c, alpha := seriesInk(int(fnv(f.Names[f.Name[i]])%8)), 0.42
			if i == 0 {
				c, alpha = inkLine, 0.8
			}
			p.rect(x, y, max(0.6, width-0.6), row-1, c, alpha)
			if n := int((width - 8) / 6.3); n > 3 {
				p.text(x+4, y+row/2-0.5, clipText(shorten(f.Names[f.Name[i]]), n), anchorStart, inkText)
			}
			for _, k := range kids[i] {
				walk(k, x)
				x += float64(total[k]) * scale
			}
		}
		walk(0, 8)
	}}
}

// fnv spreads names over colours.
func fnv(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h ^ h>>13
}

// text lists the heaviest call paths.
func (f *Flames) text(limit int) string {
	total := f.total()
	g := Grid{Title: f.Title, Sort: -1, Cols: []Column{{Name: "Call path"}, {Name: "Total", Unit: f.Unit}, {Name: "Self", Unit: f.Unit}, {Name: "Count", Unit: UnitCount}}}
	order := make([]int, 0, len(total))
	for i := 1; i < len(total); i++ {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(1, max(-1, f.Self[b]-f.Self[a]))) })
	g.Total = len(order)
	for _, i := range order[:min(limit, len(order))] {
		var path []string
		for k := int32(i); k > 0 && len(path) < 3; k = f.Parent[k] {
			path = append(path, clipText(shorten(f.Names[f.Name[k]]), 30))
		}
		slices.Reverse(path)
		g.Rows = append(g.Rows, []any{strings.Join(path, " › "), total[i], f.Self[i], f.Count[i]})
	}
	return g.text(limit, "")
}

// Flame draws one flame graph.
func Flame(f Flames, o Options) (Bundle, error) {
	if err := f.check(); err != nil {
		return Bundle{}, err
	}
	c := newContainer(o)
	c.view(ViewFlame, "Flame graph", &flamePart{partHead: partHead{K: "flame", Title: f.Title, Note: f.Note}, Label: f.Title, Sets: []flameSet{f.set(f.Unit != UnitTime)}})
	b := Bundle{Text: f.text(o.limit())}
	if pic := f.picture(); pic != nil {
		c.picture(pic)
		var err error
		if b.PNG, err = pic.png(); err != nil {
			return Bundle{}, err
		}
	}
	var err error
	b.HTML, err = c.html(o)
	return b, err
}
