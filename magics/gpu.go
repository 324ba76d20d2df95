package magics

import (
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/gander-go/gander/cuda/nvml"
	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/render"
)

func init() {
	register(magic{
		name: "gpu", use: "%gpu [--live] [--for TIME] [--every TIME]", help: "shows the GPUs: utilisation, memory, power, clocks and who uses them; --live draws them as they go",
		line: gpuLine, flags: func() *pflag.FlagSet { return new(gpuOptions).flags() },
		check: func(m *call) error { _, err := parseGPU(m.args); return err },
	})
}

// gpuOptions are the flags of %gpu.
type gpuOptions struct {
	live  bool
	span  time.Duration
	every time.Duration
}

func (o *gpuOptions) flags() *pflag.FlagSet {
	fs := newFlags("gpu")
	fs.BoolVarP(&o.live, "live", "l", false, "draw utilisation, memory and power as they go, until interrupted or for as long as --for says")
	fs.DurationVar(&o.span, "for", 30*time.Second, "how long --live lasts")
	fs.DurationVar(&o.every, "every", 500*time.Millisecond, "how often --live reads")
	return fs
}

func parseGPU(args string) (gpuOptions, error) {
	var o gpuOptions
	fs := o.flags()
	if err := parseFlags(fs, args); err != nil {
		return o, err
	}
	switch {
	case fs.NArg() > 0:
		return o, usagef("%%gpu: %q is no flag", fs.Arg(0))
	case o.span <= 0 || o.every < 50*time.Millisecond:
		return o, usagef("%%gpu: --for must be more than nothing and --every at least 50ms")
	}
	o.live = o.live || fs.Changed("for") || fs.Changed("every")
	return o, nil
}

// gpuLine runs %gpu. A machine without a GPU is no mistake of the cell: it is told in one line.
func gpuLine(m *call) *cell.Result {
	o, err := parseGPU(m.args)
	if err != nil {
		return m.failure(err)
	}
	lib, err := nvml.Open()
	if err == nil && len(lib.Devices()) == 0 {
		err = fmt.Errorf("the driver %s finds no GPU", lib.System().Driver)
	}
	if err != nil {
		m.out.Stream(cell.Stdout, "There is no GPU to show: "+err.Error()+"\n")
		return &cell.Result{}
	}
	if o.live {
		return m.gpuLive(lib, o)
	}
	b, err := gpuTable(lib)
	if err != nil {
		return m.failure(err)
	}
	m.out.Display(b)
	return &cell.Result{}
}

// known is v, or an empty cell when the device does not tell.
func known[T int64 | float64](v T) any {
	if f := float64(v); math.IsNaN(f) || f < 0 {
		return nil
	}
	return v
}

func gpuTable(lib *nvml.Library) (cell.Bundle, error) {
	sys := lib.System()
	grid := render.Grid{Title: "GPUs", Note: fmt.Sprintf("Driver %s, CUDA %d.%d", sys.Driver, sys.CUDAMajor, sys.CUDAMinor), Sort: -1, Cols: []render.Column{
		{Name: "GPU"}, {Name: "Name"},
		{Name: "Busy", Unit: render.UnitPercent, Heat: true, Help: "share of the last period (up to a second) in which a kernel ran"},
		{Name: "Memory used", Unit: render.UnitBytes, Heat: true}, {Name: "Memory", Unit: render.UnitBytes},
		{Name: "Power (W)", Unit: render.UnitNumber}, {Name: "Limit (W)", Unit: render.UnitNumber}, {Name: "°C", Unit: render.UnitNumber},
		{Name: "SM clock (MHz)", Unit: render.UnitNumber}, {Name: "Slowed by", Help: "why the clocks are below their maximum"},
		{Name: "Compute capability"}, {Name: "Processes"},
	}}
	for i, d := range lib.Devices() {
		r := lib.Read(i)
		var who []string
		for _, p := range lib.Processes(i) {
			s := fmt.Sprintf("%d", p.PID)
			if p.Name != "" {
				s += " " + p.Name
			}
			if p.Used >= 0 {
				s += " " + humanize.IBytes(uint64(p.Used))
			}
			who = append(who, s)
		}
		cc := ""
		if d.Major >= 0 {
			cc = fmt.Sprintf("%d.%d", d.Major, d.Minor)
		}
		grid.Rows = append(grid.Rows, []any{fmt.Sprint(d.Index), d.Name, known(r.GPU), known(r.Used), known(d.Memory), known(r.Power), known(d.PowerLimit),
			known(r.Temperature), known(r.SMClock), r.Throttle.String(), cc, strings.Join(who, "; ")})
	}
	b, err := render.Table(grid, render.Options{Limit: -1})
	if err != nil {
		return cell.Bundle{}, err
	}
	return cell.Bundle{Data: b.MIME()}, nil
}

// gpuLive draws until the time is over or the cell is interrupted; what has been drawn stays.
func (m *call) gpuLive(lib *nvml.Library, o gpuOptions) *cell.Result {
	devices := lib.Devices()
	which := nvml.Visible(devices, os.Getenv("CUDA_VISIBLE_DEVICES"))
	g := render.Graph{Title: "GPU", Unit: render.UnitPercent}
	type line struct {
		name  string
		value func(d nvml.Device, r nvml.Reading) float64
	}
	lines := []line{
		{"busy", func(_ nvml.Device, r nvml.Reading) float64 { return r.GPU }},
		{"memory", func(d nvml.Device, r nvml.Reading) float64 { return share(float64(r.Used), float64(d.Memory)) }},
		{"power", func(d nvml.Device, r nvml.Reading) float64 { return share(r.Power, d.PowerLimit) }},
	}
	for _, i := range which {
		for _, l := range lines {
			g.Series = append(g.Series, render.Series{Name: fmt.Sprintf("GPU %d %s", devices[i].Index, l.name)})
		}
	}
	id := fmt.Sprintf("gpu-%d-%d-%p", m.cell.N, m.line, m)
	start := time.Now()
	tick := time.NewTicker(o.every)
	defer tick.Stop()
	for n := 0; ; n++ {
		now := int64(time.Since(start))
		for k, i := range which {
			r := lib.Read(i)
			for j, l := range lines {
				if v := l.value(devices[i], r); !math.IsNaN(v) {
					s := &g.Series[k*len(lines)+j]
					s.Times, s.Values = append(s.Times, now), append(s.Values, v)
				}
			}
		}
		b, err := render.Curve(g, render.Options{})
		if err != nil {
			return m.failure(err)
		}
		shown := cell.Bundle{Data: b.MIME(), DisplayID: id}
		if n == 0 {
			m.out.Display(shown)
		} else {
			m.out.Update(shown)
		}
		if time.Since(start) >= o.span {
			return &cell.Result{}
		}
		select {
		case <-m.ctx.Done():
			return &cell.Result{}
		case <-tick.C:
		}
	}
}

// share is part of whole in percent, NaN when one is not known.
func share(part, whole float64) float64 {
	if !(whole > 0) || !(part >= 0) {
		return math.NaN()
	}
	return 100 * part / whole
}
