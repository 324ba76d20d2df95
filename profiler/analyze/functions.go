package analyze

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/gander-go/gander/profiler/trace"
)

// Function is what samples say of one function, in the unit of their kind (ns or bytes).
type Function struct {
	Name  string `json:"name"`
	File  string `json:"file"`
	Self  int64  `json:"self"`    // samples taken in it
	Total int64  `json:"total"`   // samples taken in it or in what it called; recursion counts once
	Count int64  `json:"samples"` // samples, objects or events behind Self
}

// FunctionReport is the functions of one kind of sample, by Self.
type FunctionReport struct {
	Kind string     `json:"kind"` // "cpu", "alloc", "inuse", "block", "mutex"
	Unit string     `json:"unit"` // "ns" or "bytes"
	Sum  int64      `json:"sum"`  // over all samples
	Rows []Function `json:"functions"`
}

var functionKinds = [...]struct{ name, unit, title string }{
	trace.SampleCPU:   {"cpu", "ns", "CPU time"},
	trace.SampleAlloc: {"alloc", "bytes", "Allocated"},
	trace.SampleInUse: {"inuse", "bytes", "In use"},
	trace.SampleBlock: {"block", "ns", "Blocked"},
	trace.SampleMutex: {"mutex", "ns", "Waiting for mutexes"},
}

// Functions returns the functions of every kind of sample that the trace has.
func (a *Analysis) Functions() []FunctionReport {
	t := a.Trace
	var out []FunctionReport
	for kind, k := range functionKinds {
		rows := map[trace.StringID]*Function{}
		last := map[trace.StringID]int{} // sample that counted last in Total, so that recursion counts once
		r := FunctionReport{Kind: k.name, Unit: k.unit}
		at := func(f *trace.Frame) *Function {
			row := rows[f.Func]
			if row == nil {
				row = &Function{Name: t.Strings.Get(f.Func), File: t.Strings.Get(f.File)}
				rows[f.Func] = row
			}
			return row
		}
		n := 0
		for i := range t.Samples {
			s := &t.Samples[i]
			if int(s.Kind) != kind {
				continue
			}
			n++
			r.Sum += s.Weight
			if s.Stack == 0 {
				continue
			}
			leaf := at(&t.Frames[t.Stacks[s.Stack].Frame])
			leaf.Self += s.Weight
			leaf.Count += s.Count
			for id := s.Stack; id != 0; id = t.Stacks[id].Parent {
				f := &t.Frames[t.Stacks[id].Frame]
				if row := at(f); last[f.Func] != n {
					last[f.Func] = n
					row.Total += s.Weight
				}
			}
		}
		if n == 0 {
			continue
		}
		for _, row := range rows {
			r.Rows = append(r.Rows, *row)
		}
		slices.SortFunc(r.Rows, func(p, q Function) int {
			return cmp.Or(cmp.Compare(q.Self, p.Self), cmp.Compare(q.Total, p.Total), cmp.Compare(p.Name, q.Name))
		})
		out = append(out, r)
	}
	return out
}

// Title is what the samples measure, in words.
func (r *FunctionReport) Title() string { return functionTitle(r.Kind) }

func functionTitle(kind string) string {
	for _, k := range functionKinds {
		if k.name == kind {
			return k.title
		}
	}
	return kind
}

func functionValue(unit string, v int64) string {
	if unit == "bytes" {
		return formatMemory(v)
	}
	return formatTime(float64(v), "")
}

// Text returns the first limit functions as a table; a limit below one is all.
func (r *FunctionReport) Text(limit int) string {
	title := r.Title()
	value := func(v int64) string { return functionValue(r.Unit, v) }
	rows := r.Rows
	if limit > 0 && limit < len(rows) {
		rows = rows[:limit]
	}
	t := textTable{header: []string{title + " by function", "Self", "Self %", "Total", "Total %", "Samples"}}
	for _, f := range rows {
		t.add(f.Name, value(f.Self), formatShare(f.Self, r.Sum), value(f.Total), formatShare(f.Total, r.Sum), strconv.FormatInt(f.Count, 10))
	}
	out := t.String()
	if more := len(r.Rows) - len(rows); more > 0 {
		out += "... and " + strconv.Itoa(more) + " more\n"
	}
	return title + ": " + value(r.Sum) + "\n" + out
}

// WriteFunctionsCSV writes one line per function and kind of sample, with a header; times in ns, sizes in bytes.
func WriteFunctionsCSV(w io.Writer, reports []FunctionReport) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"kind", "unit", "function", "file", "self", "total", "samples"}}
	for i := range reports {
		r := &reports[i]
		for k := range r.Rows {
			f := &r.Rows[k]
			rows = append(rows, []string{r.Kind, r.Unit, plainCell(f.Name), plainCell(f.File), strconv.FormatInt(f.Self, 10), strconv.FormatInt(f.Total, 10), strconv.FormatInt(f.Count, 10)})
		}
	}
	if err := c.WriteAll(rows); err != nil {
		return fmt.Errorf("writing functions as CSV: %w", err)
	}
	return nil
}
