package analyze

import (
	"fmt"
	"slices"

	"github.com/gander-go/gander/profiler/trace"
)

// curveBuckets is the most buckets a utilisation curve has; their width is a power of ten microseconds.
const curveBuckets = 100

// gpus returns the metrics of every device that ran anything, within the window of the steps.
func (a *Analysis) gpus(steps *StepReport, c Convention) []GPU {
	x, t := a.index(), a.Trace
	if !x.device || len(steps.Steps) == 0 {
		return nil
	}
	window := span{steps.Steps[0].Start, steps.Steps[len(steps.Steps)-1].End}
	start, end := x.window()
	tree := a.opTree(c)
	old, now := x.kernelNames(tensorCoreMarks), x.kernelNames(tensorCoreMarksNow)
	byDevice := map[trace.DeviceID]*gpuWork{}
	var order []trace.DeviceID
	for i, class := range x.class {
		if !class.DeviceWork() {
			continue
		}
		d := x.deviceOf(int32(i))
		g := byDevice[d]
		if g == nil {
			g = &gpuWork{}
			byDevice[d] = g
			order = append(order, d)
		}
		s := &t.Slices[i]
		g.busy = append(g.busy, span{s.Start, s.End()})
		if class != trace.ClassKernel {
			continue
		}
		g.kernels = append(g.kernels, span{s.Start, s.End()})
		args := kernelArgs(t, s)
		if args.BlocksPerSM > 0 {
			g.blocks = append(g.blocks, level{s.Start, float64(args.BlocksPerSM)}, level{s.End(), -float64(args.BlocksPerSM)})
		}
		if clipped := min(s.End(), window.end) - max(s.Start, window.start); args.Occupancy >= 0 && clipped > 0 {
			g.occupancy += float64(args.Occupancy) * float64(clipped)
			g.occupied += clipped
		}
		if tree.owner[i] >= 0 {
			g.launched += s.Dur
			if old[s.Name] {
				g.tc += s.Dur
			}
			if now[s.Name] {
				g.tcNow += s.Dur
			}
		}
	}
	slices.Sort(order)
	out := make([]GPU, 0, len(order))
	for _, d := range order {
		g := byDevice[d].metrics(window, start, end)
		g.describe(t, d)
		out = append(out, g)
	}
	return out
}

// gpuWork is what one device did.
type gpuWork struct {
	busy, kernels []span
	blocks        []level
	occupancy     float64
	occupied      int64
	launched      int64 // kernel time launched by operators
	tc, tcNow     int64 // the part of it in tensor-core kernels
}

// level is a change of a running sum.
type level struct {
	at    int64
	delta float64
}

func (w *gpuWork) metrics(window span, start, end int64) GPU {
	g := GPU{Start: start, Utilization: -1, BusyRatio: -1, SMEfficiency: -1, Occupancy: -1, TensorCores: -1, TensorCoresNow: -1}
	kernels, busy := union(w.kernels), union(w.busy)
	g.KernelTime = total(kernels)
	length := window.end - window.start
	if length > 0 {
		g.Utilization = float64(total(within(kernels, window))) / float64(length)
		g.BusyRatio = float64(total(within(busy, window))) / float64(length)
	}
	g.smEfficiency(w.blocks, window)
	if w.occupied > 0 {
		g.Occupancy = w.occupancy / float64(w.occupied)
	}
	if w.launched > 0 {
		g.TensorCores, g.TensorCoresNow = ratio(w.tc, w.launched), ratio(w.tcNow, w.launched)
	}
	g.Bucket = 1000
	for end-start > g.Bucket*curveBuckets {
		g.Bucket *= 10
	}
	n := (end - start) / g.Bucket
	for i := range n {
		b := span{start + i*g.Bucket, start + (i+1)*g.Bucket}
		if i == n-1 {
			b.end = end // the last bucket takes the rest
		}
		g.UtilCurve = append(g.UtilCurve, float64(total(within(kernels, b)))/float64(b.end-b.start))
	}
	return g
}

// smEfficiency integrates min(blocks per SM of all running kernels, 1). The metric stays unknown when no kernel that says
// how many blocks it has ran within the window.
func (g *GPU) smEfficiency(changes []level, window span) {
	slices.SortFunc(changes, func(a, b level) int { return compareInt(a.at, b.at) })
	var sum, area float64
	running := 0
	touched := false
	for i := 0; i < len(changes); {
		at := changes[i].at
		for ; i < len(changes) && changes[i].at == at; i++ {
			sum += changes[i].delta
			if changes[i].delta > 0 {
				running++
			} else {
				running--
			}
		}
		if running == 0 {
			sum = 0 // no rounding error survives idle time
		}
		value := min(max(sum, 0), 1)
		g.SMEffTimes, g.SMEffValues = append(g.SMEffTimes, at), append(g.SMEffValues, value)
		if i < len(changes) && running > 0 {
			if part := min(changes[i].at, window.end) - max(at, window.start); part > 0 {
				area += value * float64(part)
				touched = true
			}
		}
	}
	if touched && window.end > window.start {
		g.SMEfficiency = area / float64(window.end-window.start)
	}
}

func (g *GPU) describe(t *trace.Trace, d trace.DeviceID) {
	g.Device = d
	if d < 0 || int(d) >= len(t.Devices) {
		g.ID = -1
		return
	}
	dev := &t.Devices[d]
	g.ID, g.Name, g.Memory = dev.ID, dev.Name, dev.TotalMemory
	if dev.Major > 0 {
		g.Capability = fmt.Sprintf("%d.%d", dev.Major, dev.Minor)
	}
}
