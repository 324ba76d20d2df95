package analyze

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Text returns the rows, and the functions of sampled profiles, as tables of at most limit rows; 0 or less is all.
func (r *DiffReport) Text(limit int) string {
	t := textTable{header: []string{"Name", "On", "Calls", "new", "Self", "new", "change"}}
	device, shapes := false, false
	for i := range r.Rows {
		d := &r.Rows[i]
		device = device || d.Side == SideCPU && (d.Base.Device != 0 || d.New.Device != 0)
		shapes = shapes || d.Shapes != ""
	}
	if shapes {
		t.header = append(t.header, "Input shapes")
	}
	if device {
		t.header = append(t.header, "Device total", "new", "change")
	}
	n, more := limited(len(r.Rows), limit)
	for i := range r.Rows[:n] {
		d := &r.Rows[i]
		base, next := d.Self()
		cells := []string{d.Name, d.Device, strconv.FormatInt(d.Base.Count, 10), strconv.FormatInt(d.New.Count, 10),
			formatTime(float64(base), ""), formatTime(float64(next), ""), changeText(base, next)}
		if shapes {
			cells = append(cells, d.Shapes)
		}
		if device {
			cells = append(cells, formatTime(float64(d.Base.Device), ""), formatTime(float64(d.New.Device), ""), changeText(d.Base.Device, d.New.Device))
		}
		t.add(cells...)
	}
	head := fmt.Sprintf("Whole: %s, new %s, change %s\n", formatTime(float64(r.BaseSpan), ""), formatTime(float64(r.NewSpan), ""), changeText(r.BaseSpan, r.NewSpan))
	if b, n := r.BaseSteps, r.NewSteps; b != nil && n != nil && b.Real && n.Real {
		head += fmt.Sprintf("Step, mean: %s of %d, new %s of %d, change %s\n", formatTime(b.Mean, ""), len(b.Steps), formatTime(n.Mean, ""), len(n.Steps), changeText(int64(b.Mean), int64(n.Mean)))
		if len(r.LeftOut) > 0 {
			head += "Left out of both, because one run's device work is incomplete: step " + strings.Join(r.LeftOut, ", ") + "\n"
		}
	}
	out := ""
	if len(r.Rows) > 0 || len(r.Functions) == 0 {
		out = head + t.String() + more
	}
	for i := range r.Functions {
		if out != "" {
			out += "\n"
		}
		out += r.Functions[i].Text(limit)
	}
	return out
}

func changeText(base, next int64) string {
	return changeIn(func(v int64) string { return formatTime(float64(v), "") }, base, next)
}

func changeIn(value func(int64) string, base, next int64) string {
	sign := ""
	if next > base {
		sign = "+"
	}
	d := sign + value(next-base)
	switch {
	case base == next:
		return "0"
	case base == 0:
		return d + " (new)"
	}
	return fmt.Sprintf("%s (%+.1f%%)", d, float64(next-base)/float64(base)*100)
}

// WriteCSV writes one line per row, with a header; times in ns. Of two sampled profiles it writes
// their functions instead. Names that a spreadsheet would run as a formula get a
// leading apostrophe.
func (r *DiffReport) WriteCSV(w io.Writer) error {
	if len(r.Rows) == 0 && len(r.Functions) > 0 {
		return writeFunctionsDiffCSV(w, r.Functions)
	}
	c := csv.NewWriter(w)
	head := []string{"name", "device", "input_shapes", "stack", "thread", "step", "status"}
	for _, side := range []string{"base", "new"} {
		for _, f := range []string{"count", "host_ns", "host_self_ns", "device_ns", "device_self_ns"} {
			head = append(head, side+"_"+f)
		}
	}
	if err := c.Write(head); err != nil {
		return fmt.Errorf("writing comparison as CSV: %w", err)
	}
	for i := range r.Rows {
		d := &r.Rows[i]
		cells := []string{plainCell(d.Name), d.Device, plainCell(d.Shapes), plainCell(strings.Join(d.Stack, ";")), plainCell(d.Thread), plainCell(d.Step), d.Status}
		for _, s := range []DiffSide{d.Base, d.New} {
			for _, v := range []int64{s.Count, s.Host, s.HostSelf, s.Device, s.DeviceSelf} {
				cells = append(cells, strconv.FormatInt(v, 10))
			}
		}
		if err := c.Write(cells); err != nil {
			return fmt.Errorf("writing comparison as CSV: %w", err)
		}
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("writing comparison as CSV: %w", err)
	}
	return nil
}
