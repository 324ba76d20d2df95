package analyze

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// Defaults of TableOptions, torch's.
const (
	DefaultRowLimit       = 100
	DefaultMaxNameWidth   = 55
	DefaultMaxShapesWidth = 80
	DefaultMaxSourceWidth = 75
)

// Table returns the rows as text: torch's table, or Gander's own with hosts and devices apart. Wrong options are errors.
func (a *Averages) Table(o TableOptions) (string, error) {
	switch o.TimeUnit {
	case "", "s", "ms", "us":
	default:
		return "", fmt.Errorf("printing key averages: no time unit %q; it is one of \"us\", \"ms\", \"s\"", o.TimeUnit)
	}
	o.RowLimit = orDefault(o.RowLimit, DefaultRowLimit)
	o.MaxNameWidth = orDefault(o.MaxNameWidth, DefaultMaxNameWidth)
	o.MaxShapesWidth = orDefault(o.MaxShapesWidth, DefaultMaxShapesWidth)
	o.MaxSourceWidth = orDefault(o.MaxSourceWidth, DefaultMaxSourceWidth)
	convention := a.Options.Convention
	if o.Columns == Torch {
		convention = Torch
	}
	rows, err := sorted(a.Rows, o.Sort, convention)
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return "", nil
	}
	if o.Columns == Torch {
		return torchTable(a, rows, o), nil
	}
	return exactTable(a, rows, o), nil
}

func orDefault(v, def int) int {
	if v == 0 {
		return def
	}
	return v
}

// exactTable prints host rows and device rows apart, with the spread of a call's duration and true device time.
func exactTable(a *Averages, rows []Average, o TableOptions) string {
	var host, device, ranges []Average
	for _, r := range rows {
		switch {
		case o.TopLevelOnly && !r.TopLevel:
		case r.Side == SideCPU:
			host = append(host, r)
		case r.User:
			ranges = append(ranges, r)
		default:
			device = append(device, r)
		}
	}
	var b strings.Builder
	if o.Header != "" {
		b.WriteString(clean(o.Header) + "\n")
	}
	dev := a.DeviceName
	if dev == "" {
		dev = "Device"
	}
	section := func(title string, rows []Average, print func([]Average) string) {
		if len(rows) == 0 {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(title + "\n")
		n, more := limited(len(rows), o.RowLimit)
		b.WriteString(print(rows[:n]))
		b.WriteString(more)
	}
	section("Host", host, func(rows []Average) string { return a.hostTable(rows, dev, o) })
	section(dev, device, func(rows []Average) string { return a.deviceTable(rows, o) })
	section(dev+" ranges (from the first to the last work launched in a range; they overlap the work above)", ranges,
		func(rows []Average) string { return a.deviceTable(rows, o) })

	fmt.Fprintf(&b, "\nSelf CPU time total: %s\n", formatTime(float64(a.SelfCPUTotal), o.TimeUnit))
	if a.DeviceName != "" {
		fmt.Fprintf(&b, "Self %s time total: %s (busy %s of %s, %s)\n", dev, formatTime(float64(a.SelfDeviceTotal), o.TimeUnit),
			formatTime(float64(a.DeviceBusy), o.TimeUnit), formatTime(float64(a.Span), o.TimeUnit), formatShare(a.DeviceBusy, a.Span))
	}
	if a.FromShapes {
		b.WriteString("FLOP: counted from shapes by torch's formulas, which know matrix products, 2-d convolution, add and mul only\n")
	}
	for i := range rows {
		if rows[i].About > 0 {
			b.WriteString("GFLOP with ~: the work depends on the data, the number is an estimate from the dimensions\n")
			break
		}
	}
	b.WriteString(a.osText(o.TimeUnit))
	b.WriteString(lossText(a.Losses))
	return b.String()
}

func (a *Averages) hostTable(rows []Average, dev string, o TableOptions) string {
	unit := o.TimeUnit
	t := textTable{header: []string{"Name", "Self CPU %", "Self CPU", "CPU total", "avg", "min", "p50", "p99", "max"}}
	hasDevice, hasDevMem, hasBytes := false, false, false
	for i := range a.Rows {
		hasDevice = hasDevice || a.Rows[i].Side == SideCPU && a.Rows[i].DeviceTotal > 0
		hasDevMem = hasDevMem || a.Rows[i].DeviceMemory != 0 || a.Rows[i].SelfDeviceMemory != 0
		hasBytes = hasBytes || a.Rows[i].Bytes > 0
	}
	exact := a.Options.Convention != Torch
	if hasDevice {
		t.header = append(t.header, dev+" total", "Self "+dev)
		if exact {
			t.header = append(t.header, dev+" busy")
		}
	}
	if a.HasMemory {
		t.header = append(t.header, "CPU mem", "Self CPU mem")
		if hasDevMem {
			t.header = append(t.header, dev+" mem", "Self "+dev+" mem")
		}
	}
	if a.HasFLOPs {
		t.header = append(t.header, "GFLOP", "GFLOP/s")
	}
	if hasBytes {
		t.header = append(t.header, "Bytes")
	}
	hasOS := a.SpansHaveOS()
	if hasOS {
		t.header = append(t.header, osHeader...)
	}
	t.header = append(t.header, "Calls")
	t.header = append(t.header, a.groupHeader()...)
	for i := range rows {
		r := &rows[i]
		share := "-"
		if a.Counts(r) {
			share = formatShare(r.SelfCPU, a.SelfCPUTotal)
		}
		cells := []string{shortName(r.Key, o.MaxNameWidth), share, formatTime(float64(r.SelfCPU), unit),
			formatTime(float64(r.CPUTotal), unit), formatTime(r.CPUAvg(), unit)}
		cells = append(cells, r.spread(exact, unit)...)
		if hasDevice {
			cells = append(cells, formatTime(float64(r.DeviceTotal), unit), formatTime(float64(r.SelfDevice), unit))
			if exact {
				cells = append(cells, formatTime(float64(r.DeviceUnion), unit))
			}
		}
		if a.HasMemory {
			cells = append(cells, formatMemory(r.CPUMemory), formatMemory(r.SelfCPUMemory))
			if hasDevMem {
				cells = append(cells, formatMemory(r.DeviceMemory), formatMemory(r.SelfDeviceMemory))
			}
		}
		if a.HasFLOPs {
			cells = append(cells, r.flops()...)
		}
		if hasBytes {
			cells = append(cells, knownMemory(r.Bytes))
		}
		if hasOS {
			cells = append(cells, r.osCells(unit)...)
		}
		cells = append(cells, strconv.FormatInt(r.Count, 10))
		t.add(append(cells, a.groupCells(r, o)...)...)
	}
	return t.String()
}

func (a *Averages) deviceTable(rows []Average, o TableOptions) string {
	unit := o.TimeUnit
	exact := a.Options.Convention != Torch
	t := textTable{header: []string{"Name", "Self %", "Total", "avg", "min", "p50", "p99", "max"}}
	if exact {
		t.header = append(t.header, "busy")
	}
	t.header = append(t.header, "Calls")
	t.header = append(t.header, a.groupHeader()...)
	for i := range rows {
		r := &rows[i]
		share := "-"
		if a.Counts(r) {
			share = formatShare(r.SelfDevice, a.SelfDeviceTotal)
		}
		cells := []string{shortName(r.Key, o.MaxNameWidth), share, formatTime(float64(r.DeviceTotal), unit), formatTime(r.DeviceAvg(), unit)}
		cells = append(cells, r.spread(exact, unit)...)
		if exact {
			cells = append(cells, formatTime(float64(r.DeviceUnion), unit))
		}
		cells = append(cells, strconv.FormatInt(r.Count, 10))
		t.add(append(cells, a.groupCells(r, o)...)...)
	}
	return t.String()
}

func (r *Average) spread(exact bool, unit string) []string {
	if !exact {
		return []string{"-", "-", "-", "-"}
	}
	return []string{formatTime(float64(r.Min), unit), formatTime(float64(r.P50), unit), formatTime(float64(r.P99), unit), formatTime(float64(r.Max), unit)}
}

// flops prints the work of a row and its rate over device time, or over host time where no device worked.
func (r *Average) flops() []string {
	if r.FLOPs <= 0 {
		return []string{"-", "-"}
	}
	about := ""
	if r.About > 0 {
		about = "~"
	}
	over := r.DeviceTotal
	if over == 0 {
		over = r.CPUTotal
	}
	if over == 0 {
		return []string{fmt.Sprintf("%s%.3f", about, float64(r.FLOPs)/1e9), "-"}
	}
	return []string{fmt.Sprintf("%s%.3f", about, float64(r.FLOPs)/1e9), fmt.Sprintf("%s%.2f", about, float64(r.FLOPs)/float64(over))}
}

func (a *Averages) groupHeader() []string {
	var h []string
	if a.Options.ByOverload {
		h = append(h, "Overload")
	}
	if a.Options.ByShape {
		h = append(h, "Input shapes")
	}
	if a.Options.ByTrack {
		h = append(h, "Thread")
	}
	if a.Options.ByStep {
		h = append(h, "Step")
	}
	if a.Options.ByStack > 0 {
		h = append(h, "Stack")
	}
	return h
}

func (a *Averages) groupCells(r *Average, o TableOptions) []string {
	var c []string
	if a.Options.ByOverload {
		c = append(c, r.Overload)
	}
	if a.Options.ByShape {
		c = append(c, shortName(r.Shapes, o.MaxShapesWidth))
	}
	if a.Options.ByTrack {
		c = append(c, r.Thread)
	}
	if a.Options.ByStep {
		c = append(c, r.Step)
	}
	if a.Options.ByStack > 0 {
		c = append(c, shortName(shortStack(r.Stack), o.MaxSourceWidth))
	}
	return c
}

// shortStack joins frames, with file names instead of paths.
func shortStack(frames []string) string {
	list := make([]string, len(frames))
	for i, f := range frames {
		place, name, ok := strings.Cut(f, ": ")
		if !ok {
			list[i] = f
			continue
		}
		list[i] = place[strings.LastIndexByte(place, '/')+1:] + ": " + name[strings.LastIndexByte(name, '/')+1:]
	}
	return strings.Join(list, " < ")
}

// knownMemory is a size, or a dash where none is known.
func knownMemory(n int64) string {
	if n == 0 {
		return "-"
	}
	return formatMemory(n)
}

func shortName(s string, width int) string {
	if width < 0 {
		return s
	}
	return shorten(s, max(width, 4))
}

// lossText says what the trace lacks, one line each.
func lossText(losses []trace.Problem) string {
	var b strings.Builder
	for _, p := range losses {
		fmt.Fprintf(&b, "Note: %s (%d)", clean(strings.TrimSuffix(p.Text, ".")), p.Count)
		if p.Remedy != "" {
			b.WriteString("; " + clean(p.Remedy))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
