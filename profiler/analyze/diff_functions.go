package analyze

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// FunctionDiff compares one function by samples, in the unit of their kind.
type FunctionDiff struct {
	Name      string `json:"name"`
	File      string `json:"file"`
	BaseSelf  int64  `json:"base_self"`
	NewSelf   int64  `json:"new_self"`
	BaseTotal int64  `json:"base_total"`
	NewTotal  int64  `json:"new_total"`
}

// FunctionsDiff compares the functions of one kind of sample, largest change of self first.
type FunctionsDiff struct {
	Kind    string         `json:"kind"`
	Unit    string         `json:"unit"` // "ns" or "bytes"
	BaseSum int64          `json:"base_sum"`
	NewSum  int64          `json:"new_sum"`
	Rows    []FunctionDiff `json:"functions"`
}

// Title is what the samples measure, in words.
func (d *FunctionsDiff) Title() string { return functionTitle(d.Kind) }

func diffFunctions(base, next []FunctionReport) []FunctionsDiff {
	out := []FunctionsDiff{}
	for _, k := range functionKinds {
		d := FunctionsDiff{Kind: k.name, Unit: k.unit}
		at := map[string]int{}
		row := func(f *Function) *FunctionDiff {
			i, ok := at[f.Name]
			if !ok {
				i = len(d.Rows)
				at[f.Name] = i
				d.Rows = append(d.Rows, FunctionDiff{Name: f.Name, File: f.File})
			}
			return &d.Rows[i]
		}
		found := false
		for _, r := range base {
			if r.Kind == k.name {
				found, d.BaseSum = true, r.Sum
				for i := range r.Rows {
					w := row(&r.Rows[i])
					w.BaseSelf, w.BaseTotal = r.Rows[i].Self, r.Rows[i].Total
				}
			}
		}
		for _, r := range next {
			if r.Kind == k.name {
				found, d.NewSum = true, r.Sum
				for i := range r.Rows {
					w := row(&r.Rows[i])
					w.NewSelf, w.NewTotal = r.Rows[i].Self, r.Rows[i].Total
				}
			}
		}
		if !found {
			continue
		}
		slices.SortFunc(d.Rows, func(p, q FunctionDiff) int {
			size := func(v int64) int64 { return max(v, -v) }
			return cmp.Or(cmp.Compare(size(q.NewSelf-q.BaseSelf), size(p.NewSelf-p.BaseSelf)), cmp.Compare(size(q.NewTotal-q.BaseTotal), size(p.NewTotal-p.BaseTotal)), cmp.Compare(p.Name, q.Name))
		})
		out = append(out, d)
	}
	return out
}

// Text returns the first limit functions as a table; a limit below one is all.
func (d *FunctionsDiff) Text(limit int) string {
	value := func(v int64) string { return functionValue(d.Unit, v) }
	t := textTable{header: []string{d.Title() + " by function", "Self", "new", "change", "Total", "new", "change"}}
	n, more := limited(len(d.Rows), limit)
	for i := range d.Rows[:n] {
		r := &d.Rows[i]
		t.add(r.Name, value(r.BaseSelf), value(r.NewSelf), changeIn(value, r.BaseSelf, r.NewSelf), value(r.BaseTotal), value(r.NewTotal), changeIn(value, r.BaseTotal, r.NewTotal))
	}
	return d.Title() + ": " + value(d.BaseSum) + ", new " + value(d.NewSum) + ", change " + changeIn(value, d.BaseSum, d.NewSum) + "\n" + t.String() + more
}

func writeFunctionsDiffCSV(w io.Writer, list []FunctionsDiff) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"kind", "unit", "function", "file", "base_self", "new_self", "base_total", "new_total"}}
	for i := range list {
		d := &list[i]
		for k := range d.Rows {
			f := &d.Rows[k]
			row := []string{d.Kind, d.Unit, plainCell(f.Name), plainCell(f.File)}
			for _, v := range []int64{f.BaseSelf, f.NewSelf, f.BaseTotal, f.NewTotal} {
				row = append(row, strconv.FormatInt(v, 10))
			}
			rows = append(rows, row)
		}
	}
	if err := c.WriteAll(rows); err != nil {
		return fmt.Errorf("writing comparison as CSV: %w", err)
	}
	return nil
}
