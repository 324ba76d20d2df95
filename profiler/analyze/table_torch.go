package analyze

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	torchCell = 12 // width of an ordinary column
	torchGap  = "  "
)

// torchTable prints rows as torch's EventList.table does, byte by byte, but for one thing: where torch puts the
// floating-point operations under "Source Location" and the sources under the next header, these are under their own.
func torchTable(a *Averages, rows []Average, o TableOptions) string {
	l := newTorchLayout(a, rows, o)
	var b strings.Builder
	length := -len(torchGap)
	for _, c := range l.columns {
		length += c.width + len(torchGap)
	}
	if o.Header != "" {
		b.WriteString(strings.Repeat("=", length) + "\n" + clean(o.Header) + "\n")
	}
	if o.TopLevelOnly {
		b.WriteString(strings.Repeat("=", length) + "\nThis report only display top-level ops statistics\n")
	}
	separator, titles := make([]string, len(l.columns)), make([]string, len(l.columns))
	for i, c := range l.columns {
		separator[i], titles[i] = strings.Repeat("-", c.width), c.title
	}
	l.line(&b, separator)
	l.line(&b, titles)
	l.line(&b, separator)
	printed := 0
	for i := range rows {
		if printed == o.RowLimit {
			break
		}
		if o.TopLevelOnly && !rows[i].TopLevel {
			continue
		}
		printed++
		l.row(&b, &rows[i])
	}
	l.line(&b, separator)
	fmt.Fprintf(&b, "Self CPU time total: %s\n", formatTime(float64(a.SelfCPUTotal), o.TimeUnit))
	if l.device {
		fmt.Fprintf(&b, "Self %s time total: %s\n", l.deviceName, formatTime(float64(a.SelfDeviceTotal), o.TimeUnit))
	}
	return b.String()
}

type torchColumn struct {
	title string
	width int
	left  bool
}

type torchLayout struct {
	a          *Averages
	o          TableOptions
	columns    []torchColumn
	deviceName string

	overload, device, deviceMemory, shapes, stack, flops bool
	shapesWidth, sourceWidth                             int
	flopsScale                                           float64
}

func newTorchLayout(a *Averages, rows []Average, o TableOptions) *torchLayout {
	l := &torchLayout{a: a, o: o, deviceName: a.DeviceName}
	if l.deviceName == "" {
		l.deviceName = "CUDA"
	}
	longestName, longestShapes, longestFrame := 0, 2, 0
	leastFLOPs := int64(0)
	for i := range rows {
		r := &rows[i]
		longestName = max(longestName, utf8.RuneCountInString(r.Key))
		longestShapes = max(longestShapes, utf8.RuneCountInString(r.Shapes))
		l.overload = l.overload || r.Overload != ""
		l.device = l.device || r.SelfDevice > 0
		l.deviceMemory = l.deviceMemory || r.SelfDeviceMemory > 0
		l.shapes = l.shapes || r.Shapes != "" && r.Shapes != "[]"
		l.stack = l.stack || len(r.Stack) > 0
		for _, f := range r.Stack {
			longestFrame = max(longestFrame, utf8.RuneCountInString(f))
		}
		if r.FLOPs > 0 && (leastFLOPs == 0 || r.FLOPs < leastFLOPs) {
			leastFLOPs = r.FLOPs
		}
	}
	width := func(longest, limit int) int {
		if limit < 0 {
			return longest + 4
		}
		return min(longest+4, limit)
	}
	nameWidth := width(longestName, o.MaxNameWidth)
	l.shapesWidth, l.sourceWidth = width(longestShapes, o.MaxShapesWidth), width(longestFrame, o.MaxSourceWidth)
	add := func(width int, titles ...string) {
		for _, t := range titles {
			l.columns = append(l.columns, torchColumn{title: t, width: width})
		}
	}
	add(nameWidth, "Name")
	if l.overload {
		add(nameWidth, "Overload Name")
	}
	add(torchCell, "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg")
	dev := l.deviceName
	if l.device {
		add(torchCell, "Self "+dev, "Self "+dev+" %", dev+" total", dev+" time avg")
	}
	if a.HasMemory {
		add(torchCell, "CPU Mem", "Self CPU Mem")
		if l.deviceMemory {
			add(torchCell, dev+" Mem", "Self "+dev+" Mem")
		}
	}
	add(torchCell, "# of Calls")
	if l.shapes {
		add(l.shapesWidth, "Input Shapes")
	}
	if l.stack {
		add(l.sourceWidth, "Source Location")
		l.columns[len(l.columns)-1].left = true
	}
	if leastFLOPs > 0 {
		l.flops = true
		thousands := min(int(math.Log10(float64(leastFLOPs))/3), 5)
		l.flopsScale = math.Pow(10, -3*float64(thousands))
		add(torchCell, "Total "+[...]string{"", "K", "M", "G", "T", "P"}[thousands]+"FLOPs")
	}
	return l
}

func (l *torchLayout) line(b *strings.Builder, cells []string) {
	for i, c := range l.columns {
		b.WriteString(pad(cells[i], c.width, c.left))
		b.WriteString(torchGap)
	}
	b.WriteByte('\n')
}

func (l *torchLayout) row(b *strings.Builder, r *Average) {
	unit := l.o.TimeUnit
	name := func(s string) string {
		s = clean(s)
		if w := l.o.MaxNameWidth; w >= 0 && utf8.RuneCountInString(s) >= w-3 {
			return string([]rune(s)[:max(w-3, 0)]) + "..."
		}
		return s
	}
	cells := []string{name(r.Key)}
	if l.overload {
		cells = append(cells, name(r.Overload))
	}
	total := "0"
	if !r.Async {
		total = formatShare(r.CPUTotal, l.a.SelfCPUTotal)
	}
	cells = append(cells, formatShare(r.SelfCPU, l.a.SelfCPUTotal), formatTime(float64(r.SelfCPU), unit), total,
		formatTime(float64(r.CPUTotal), unit), formatTime(r.CPUAvg(), unit))
	if l.device {
		cells = append(cells, formatTime(float64(r.SelfDevice), unit), formatShare(r.SelfDevice, l.a.SelfDeviceTotal),
			formatTime(float64(r.DeviceTotal), unit), formatTime(r.DeviceAvg(), unit))
	}
	if l.a.HasMemory {
		cells = append(cells, formatMemory(r.CPUMemory), formatMemory(r.SelfCPUMemory))
		if l.deviceMemory {
			cells = append(cells, formatMemory(r.DeviceMemory), formatMemory(r.SelfDeviceMemory))
		}
	}
	cells = append(cells, strconv.FormatInt(r.Count, 10))
	if l.shapes {
		shapes := []rune(clean(r.Shapes))
		if len(shapes) == 0 {
			shapes = []rune("[]")
		}
		cells = append(cells, string(shapes[:min(len(shapes), l.shapesWidth)]))
	}
	source := len(cells)
	if l.stack {
		frame := ""
		if len(r.Stack) > 0 {
			frame = trimPath(clean(r.Stack[0]), l.sourceWidth)
		}
		cells = append(cells, frame)
	}
	if l.flops {
		work := "--"
		if r.FLOPs > 0 {
			work = fmt.Sprintf("%8.3f", float64(r.FLOPs)*l.flopsScale)
		}
		cells = append(cells, work)
	}
	l.line(b, cells)
	if !l.stack {
		return
	}
	for i := 1; i <= len(r.Stack) || i == 1; i++ {
		empty := make([]string, len(l.columns))
		if i < len(r.Stack) {
			empty[source] = trimPath(clean(r.Stack[i]), l.sourceWidth)
		}
		l.line(b, empty)
	}
}

// trimPath cuts a source location on its left, where the less telling part is.
func trimPath(path string, width int) string {
	r := []rune(path)
	if len(r) <= width {
		return path
	}
	r = r[len(r)-width:]
	if len(r) > 3 {
		return "..." + string(r[3:])
	}
	return string(r)
}
