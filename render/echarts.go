package render

import (
	"encoding/json"
	"fmt"
	"strings"
)

// EChart is what a chart of go-echarts offers. Only its options are used, never its HTML: that is loaded from a network,
// breaks under the page loaders of notebooks, and runs text of the data as code.
type EChart interface {
	Validate()
	JSON() map[string]any
}

// echartOption turns a chart into plain data. Anything that go-echarts would run as code is an error; the script knows
// a few functions by name, "@fn:time", "@fn:tick", "@fn:bytes", "@fn:count" and "@fn:percent".
func echartOption(c EChart) (map[string]any, error) {
	c.Validate()
	b, err := json.Marshal(c.JSON())
	if err != nil {
		return nil, fmt.Errorf("writing chart options: %w", err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("writing chart options: %w", err)
	}
	if at, ok := findFunction(m, "options"); ok {
		return nil, fmt.Errorf("writing chart options: %s holds JavaScript, which outputs do not run; use a template string or one of @fn:time, @fn:bytes, @fn:count, @fn:percent", at)
	}
	return m, nil
}

// findFunction looks for go-echarts' mark of a function. It only counts where the whole text is one: inside a name it is
// just text.
func findFunction(v any, at string) (string, bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if k == "name" {
				continue
			}
			if at, ok := findFunction(e, at+"."+k); ok {
				return at, true
			}
		}
	case []any:
		for i, e := range v {
			if at, ok := findFunction(e, fmt.Sprintf("%s[%d]", at, i)); ok {
				return at, true
			}
		}
	case string:
		return at, strings.HasPrefix(v, "__f__") && strings.HasSuffix(v, "__f__")
	}
	return "", false
}

func newEChart(title string, c EChart, label string, half bool) (*echartPart, error) {
	opt, err := echartOption(c)
	if err != nil {
		return nil, err
	}
	return &echartPart{partHead: partHead{K: "echart", Title: title, Half: half}, Label: label, Lib: chartLibrary, Option: opt}, nil
}

// Chart draws a chart of go-echarts. Functions in its options are refused: only data passes.
func Chart(ch EChart, o Options) (Bundle, error) {
	title := o.Title
	if title == "" {
		title = "Chart"
	}
	p, err := newEChart("", ch, title, false)
	if err != nil {
		return Bundle{}, err
	}
	p.Height = 400
	c := newContainer(o)
	c.packed.charts = true
	c.view("chart", "Chart", p)
	g := chartData(p.Option)
	c.still.WriteString(g.html(50, ""))
	h, err := c.html(o)
	return Bundle{HTML: h, Text: g.text(50, "")}, err
}

// chartData lists the values of a chart's series: its static form and its text.
func chartData(opt map[string]any) *Grid {
	g := &Grid{Sort: -1, Cols: []Column{{Name: "Series"}, {Name: "Name"}, {Name: "Value"}}}
	labels := axisLabels(opt)
	series, _ := opt["series"].([]any)
	var add func(series, prefix string, data []any)
	add = func(series, prefix string, data []any) {
		for i, d := range data {
			if len(g.Rows) >= 5000 {
				return
			}
			name, value := "", d
			if i < len(labels) {
				name = labels[i]
			}
			var kids []any
			if m, ok := d.(map[string]any); ok {
				value = m["value"]
				if s, ok := m["name"].(string); ok && s != "" {
					name = s
				}
				kids, _ = m["children"].([]any)
			}
			g.Rows = append(g.Rows, []any{series, prefix + name, jsonText(value)})
			add(series, prefix+name+" › ", kids)
		}
	}
	for _, s := range series {
		if m, ok := s.(map[string]any); ok {
			data, _ := m["data"].([]any)
			name, _ := m["name"].(string)
			if name == "" {
				name, _ = m["type"].(string)
			}
			add(name, "", data)
		}
	}
	return g
}

func axisLabels(opt map[string]any) []string {
	for _, k := range []string{"xAxis", "yAxis"} {
		axes, _ := opt[k].([]any)
		for _, a := range axes {
			m, _ := a.(map[string]any)
			data, _ := m["data"].([]any)
			var out []string
			for _, d := range data {
				out = append(out, jsonText(d))
			}
			if len(out) > 0 {
				return out
			}
		}
	}
	return nil
}

func jsonText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
