package render

import (
	"fmt"
	"math"
	"strings"

	"github.com/gander-go/gander/profiler/analyze"
	"github.com/gander-go/gander/profiler/trace"
)

// averages returns the key averages in the order that was asked for; without a wish by device time where there is any, else
// by host time, and as they come with torch's columns.
func (r *report) averages() (*analyze.Averages, error) {
	if r.avg != nil {
		return r.avg, nil
	}
	avg := r.a.KeyAverages(analyze.KeyOptions{Convention: r.o.Columns, ByShape: r.o.GroupByShape, ByStack: r.o.GroupByStack, ByTrack: r.o.GroupByTrack, ByStep: r.o.GroupByStep})
	if r.o.TopLevel {
		avg = avg.Filter(func(a *analyze.Average) bool { return a.TopLevel })
	}
	key := r.o.Sort
	switch {
	case key != "":
	case r.o.Columns == analyze.Torch: // as torch: in the order of their first events
	case avg.SelfDeviceTotal > 0:
		key = "self_device_time_total"
	default:
		key = "self_cpu_time_total"
	}
	if key != "" {
		if err := avg.Sort(key); err != nil {
			return nil, err
		}
	}
	r.avg = avg
	return avg, nil
}

// table is the key-average table, torch's columns first, then what torch does not have.
func (r *report) table() error {
	avg, err := r.averages()
	if err != nil {
		return err
	}
	if !r.wants(ViewTable) {
		return r.tableText(avg)
	}
	if err := r.tableText(avg); err != nil {
		return err
	}
	if len(avg.Rows) == 0 {
		return nil
	}
	g := averagesGrid(avg)
	p := g.part()
	p.Label, p.File, p.Find, p.Height = "Key averages", "key-averages", 0, 520
	p.Note = averagesNote(avg)
	r.view(ViewTable, "Table", p)
	r.heading("Key averages")
	still := *g
	still.Cols = staticColumns(avg, g.Cols)
	r.still.WriteString(still.html(r.o.limit(), r.o.TimeUnit))
	r.paragraph(averagesNote(avg))
	r.paper = append(r.paper, barsPicture(avg))
	return nil
}

// tableText writes the text form, which every output has.
func (r *report) tableText(avg *analyze.Averages) error {
	text, err := avg.Table(analyze.TableOptions{RowLimit: r.textLimit(), TopLevelOnly: r.o.TopLevel, TimeUnit: r.o.TimeUnit, Columns: r.o.Columns})
	if err != nil {
		return err
	}
	r.text.WriteString(text)
	return nil
}

func (r *report) textLimit() int {
	if r.o.Limit == 0 {
		return defaultLimit
	}
	return r.o.Limit
}

func averagesNote(avg *analyze.Averages) string {
	s := "Self CPU time total: " + formatTime(float64(avg.SelfCPUTotal))
	if avg.SelfDeviceTotal > 0 {
		s += fmt.Sprintf(". Self %s time total: %s (busy for %s, where parallel streams count once)", deviceWord(avg), formatTime(float64(avg.SelfDeviceTotal)), formatTime(float64(avg.DeviceBusy)))
	}
	return s + "."
}

func deviceWord(avg *analyze.Averages) string {
	if avg.DeviceName == "" {
		return "device"
	}
	return avg.DeviceName
}

func share(part, whole int64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return 100 * float64(part) / float64(whole)
}

// averagesGrid lists every row. Rows keep the order of avg, those of ranges on the device behind all others: their times
// are those of other rows once more.
func averagesGrid(avg *analyze.Averages) *Grid {
	dev, d := deviceWord(avg), avg.SelfDeviceTotal > 0
	g := &Grid{Sort: -1}
	type column struct {
		Column
		value func(a *analyze.Average) any
	}
	var cols []column
	add := func(c Column, value func(a *analyze.Average) any) { cols = append(cols, column{c, value}) }
	add(Column{Name: "Name"}, func(a *analyze.Average) any { return a.Key })
	add(Column{Name: "On", Help: "Where the time of the row was spent", Hide: !d}, func(a *analyze.Average) any {
		if onlyRange(avg, a) {
			return a.Device + " range"
		}
		return a.Device
	})
	add(Column{Name: "Self CPU %", Unit: UnitPercent, Help: "Of the self CPU time of all rows"}, func(a *analyze.Average) any { return onHost(a, share(a.SelfCPU, avg.SelfCPUTotal)) })
	add(Column{Name: "Self CPU", Unit: UnitTime, Heat: true, Help: "Host time without what it called"}, func(a *analyze.Average) any { return onHost(a, a.SelfCPU) })
	add(Column{Name: "CPU total %", Unit: UnitPercent, Hide: true, Help: "Recursive calls count more than once"}, func(a *analyze.Average) any { return onHost(a, share(a.CPUTotal, avg.SelfCPUTotal)) })
	add(Column{Name: "CPU total", Unit: UnitTime, Heat: true, Help: "Host time with what it called; recursive calls count more than once"}, func(a *analyze.Average) any { return onHost(a, a.CPUTotal) })
	add(Column{Name: "CPU time avg", Unit: UnitTime}, func(a *analyze.Average) any { return onHost(a, a.CPUAvg()) })
	if d {
		add(Column{Name: "Self " + dev, Unit: UnitTime, Heat: true, Help: "Device time of what it launched itself; parallel streams add up"}, func(a *analyze.Average) any {
			if onlyRange(avg, a) {
				return nil
			}
			return a.SelfDevice
		})
		add(Column{Name: "Self " + dev + " %", Unit: UnitPercent, Help: "Of the time of all device rows. Host and device rows each sum to 100 %"}, func(a *analyze.Average) any {
			if a.Side == analyze.SideDevice && !avg.Counts(a) {
				return nil
			}
			return share(a.SelfDevice, avg.SelfDeviceTotal)
		})
		add(Column{Name: dev + " total", Unit: UnitTime, Heat: true, Help: "Device time of all that was launched below it; parallel streams add up"}, func(a *analyze.Average) any { return a.DeviceTotal })
		add(Column{Name: dev + " time avg", Unit: UnitTime}, func(a *analyze.Average) any { return a.DeviceAvg() })
		add(Column{Name: dev + " busy", Unit: UnitTime, Hide: true, Help: "As the total, but parallel streams count once"}, func(a *analyze.Average) any { return a.DeviceUnion })
	}
	if avg.HasMemory {
		add(Column{Name: "CPU Mem", Unit: UnitBytes, Heat: true, Help: "Allocated minus released"}, func(a *analyze.Average) any { return a.CPUMemory })
		add(Column{Name: "Self CPU Mem", Unit: UnitBytes, Hide: true}, func(a *analyze.Average) any { return a.SelfCPUMemory })
		if d {
			add(Column{Name: dev + " Mem", Unit: UnitBytes, Heat: true, Help: "Allocated minus released"}, func(a *analyze.Average) any { return a.DeviceMemory })
			add(Column{Name: "Self " + dev + " Mem", Unit: UnitBytes, Hide: true}, func(a *analyze.Average) any { return a.SelfDeviceMemory })
		}
	}
	if avg.SpansHaveOS() {
		os := func(name string, u Unit, help string, v func(c *analyze.OSCounts) int64) {
			add(Column{Name: name, Unit: u, Help: help + ", as the operating system counts it for the thread of each span of 20 us or more; for steps of the whole process"}, func(a *analyze.Average) any {
				if a.OS == nil {
					return nil
				}
				return v(a.OS)
			})
		}
		os("CPU time", UnitTime, "Time on a processor", func(c *analyze.OSCounts) int64 { return c.CPU })
		add(Column{Name: "on CPU", Unit: UnitPercent, Help: "CPU time as a share of the time that those spans took: the rest is waiting"}, func(a *analyze.Average) any {
			if a.OS == nil {
				return nil
			}
			return share(a.OS.CPU, a.OS.Wall)
		})
		os("Page faults", UnitCount, "Pages that had to be brought in", func(c *analyze.OSCounts) int64 { return c.Faults })
		os("IO blocks", UnitCount, "Blocks of 512 bytes from and to storage", func(c *analyze.OSCounts) int64 { return c.BlocksIn + c.BlocksOut })
		os("Switches", UnitCount, "Context switches", func(c *analyze.OSCounts) int64 { return c.Switches + c.Preemptions })
	}
	add(Column{Name: "# of Calls", Unit: UnitCount}, func(a *analyze.Average) any { return a.Count })
	if avg.HasFLOPs {
		add(Column{Name: "FLOPs", Unit: UnitFlops, Heat: true, Help: "From the shapes of the inputs; of routines that iterate (eigenvalues, singular values) an estimate"}, func(a *analyze.Average) any { return orEmpty(a.FLOPs) })
	}
	if avg.Options.Convention == analyze.Exact {
		for _, q := range []struct {
			name  string
			hide  bool
			value func(a *analyze.Average) int64
		}{
			{"Min", true, func(a *analyze.Average) int64 { return a.Min }}, {"Median", false, func(a *analyze.Average) int64 { return a.P50 }},
			{"p90", true, func(a *analyze.Average) int64 { return a.P90 }}, {"p99", false, func(a *analyze.Average) int64 { return a.P99 }},
			{"Max", false, func(a *analyze.Average) int64 { return a.Max }},
		} {
			add(Column{Name: q.name, Unit: UnitTime, Hide: q.hide, Help: "Of the duration of one call"}, func(a *analyze.Average) any { return q.value(a) })
		}
	}
	if avg.Options.ByShape {
		add(Column{Name: "Input Shapes"}, func(a *analyze.Average) any { return a.Shapes })
	}
	if avg.Options.ByTrack {
		add(Column{Name: "Thread"}, func(a *analyze.Average) any { return a.Thread })
	}
	if avg.Options.ByStep {
		add(Column{Name: "Step"}, func(a *analyze.Average) any { return a.Step })
	}
	if avg.Options.ByStack > 0 {
		add(Column{Name: "Source Location"}, func(a *analyze.Average) any { return strings.Join(a.Stack, " ← ") })
	}
	for _, c := range cols {
		g.Cols = append(g.Cols, c.Column)
	}
	for _, ranges := range []bool{false, true} {
		for i := range avg.Rows {
			if onlyRange(avg, &avg.Rows[i]) != ranges {
				continue
			}
			row := make([]any, len(cols))
			for k, c := range cols {
				row[k] = c.value(&avg.Rows[i])
			}
			g.Rows = append(g.Rows, row)
		}
	}
	return g
}

// onlyRange reports whether a row is of ranges on the device, from the first to the last work launched in a span. torch.profiler
// lists them like work.
func onlyRange(avg *analyze.Averages, a *analyze.Average) bool {
	return avg.Options.Convention != analyze.Torch && a.Class == trace.ClassDeviceAnnotation
}

// onHost is v for rows of the host and nothing for rows of a device, which have no host time.
func onHost(a *analyze.Average, v any) any {
	if a.Side == analyze.SideDevice {
		return nil
	}
	return v
}

// orEmpty makes an unknown figure an empty cell.
func orEmpty(v int64) any {
	if v == 0 {
		return nil
	}
	return v
}

// staticColumns hides what would make the static table too wide to read.
func staticColumns(avg *analyze.Averages, cols []Column) []Column {
	out := append([]Column(nil), cols...)
	for i, c := range out {
		switch c.Name {
		case "Median", "p99", "Max":
			out[i].Hide = avg.SelfDeviceTotal > 0 || avg.HasMemory
		}
	}
	return out
}

// barsPicture shows the rows with the largest self time of the side that matters.
func barsPicture(avg *analyze.Averages) *chart {
	const w, row, top, left, limit = 900, 19, 30, 330, 14
	value, title := func(a *analyze.Average) int64 { return a.SelfCPU }, "Self CPU time"
	if avg.SelfDeviceTotal > 0 {
		value, title = func(a *analyze.Average) int64 { return a.SelfDevice }, "Self "+deviceWord(avg)+" time"
	}
	rows := avg.Rows[:min(limit, len(avg.Rows))]
	var most int64 = 1
	for i := range rows {
		most = max(most, value(&rows[i]))
	}
	return &chart{w: w, h: top + len(rows)*row + 8, title: title, alt: plural(int64(len(avg.Rows)), "row") + ".", draw: func(p pen) {
		p.text(8, 15, title, anchorStart, inkText)
		for i := range rows {
			y := float64(top + i*row)
			v := value(&rows[i])
			width := float64(v) / float64(most) * (w - left - 110)
			p.text(left-8, y+row/2, clipText(shorten(rows[i].Key), 50), anchorEnd, inkText)
			if v > 0 {
				p.rect(left, y+3, max(1, width), row-6, seriesInk(int(b2i(rows[i].Side == analyze.SideDevice))), 1)
			}
			p.text(left+width+6, y+row/2, formatTime(float64(v)), anchorStart, inkDim)
		}
	}}
}
