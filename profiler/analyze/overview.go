package analyze

import (
	"fmt"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// GPU holds the metrics of one device within the steps' window. A ratio is negative when it cannot be known.
type GPU struct {
	Device         trace.DeviceID `json:"-"`
	ID             int64          `json:"id"`
	Name           string         `json:"name"`
	Memory         int64          `json:"memory"`     // bytes
	Capability     string         `json:"capability"` // "8.0"
	Utilization    float64        `json:"utilization"`
	BusyRatio      float64        `json:"busy"`          // as Utilization, with copies and sets
	SMEfficiency   float64        `json:"sm_efficiency"` // estimate
	Occupancy      float64        `json:"occupancy"`     // estimate, percent of threads
	TensorCores    float64        `json:"tensor_cores"`  // share of the time of kernels launched by operators, plugin's name list
	TensorCoresNow float64        `json:"tensor_cores_current"`
	KernelTime     int64          `json:"kernel_time"` // ns, union

	// Curves over the whole trace: one value per Bucket ns from Start.
	Start       int64     `json:"start"`
	Bucket      int64     `json:"bucket"`
	UtilCurve   []float64 `json:"util_curve"`
	SMEffTimes  []int64   `json:"sm_times"` // step function: value i holds from time i
	SMEffValues []float64 `json:"sm_values"`
}

// OverviewReport is the plugin's front page.
type OverviewReport struct {
	Steps       *StepReport `json:"steps"`
	GPUs        []GPU       `json:"gpus"`
	DeviceType  string      `json:"device_type"` // "GPU" or "CPU"
	Workers     int         `json:"workers"`
	Span        int64       `json:"span"`        // ns
	HostBusy    int64       `json:"host_busy"`   // ns: union of operators, annotations and calls on any thread
	DeviceBusy  int64       `json:"device_busy"` // ns: union per device, summed
	SyncTime    int64       `json:"sync_time"`   // ns: host time in synchronising calls, union per thread, summed
	GC          int64       `json:"gc"`          // ns of GC cycles, union
	STW         int64       `json:"stw"`         // ns of stop-the-world pauses, union
	Events      int         `json:"events"`      // slices
	PeakHost    int64       `json:"peak_host"`   // bytes
	PeakDevice  int64       `json:"peak_device"` // bytes
	Distributed bool        `json:"distributed"` // part of a job of more than one rank
}

// Overview returns the front page's figures of t.
func Overview(t *trace.Trace) *OverviewReport { return Of(t).Overview() }

// Overview returns the front page's figures.
func (a *Analysis) Overview() *OverviewReport { return a.OverviewAs(Exact) }

// OverviewAs returns the front page's figures with the steps of convention c.
func (a *Analysis) OverviewAs(c Convention) *OverviewReport {
	x, t := a.index(), a.Trace
	r := &OverviewReport{Steps: a.StepsAs(c), DeviceType: "CPU", Workers: 1, Events: len(t.Slices), Distributed: t.Meta.World > 1}
	r.DeviceBusy, r.Span = x.busy()
	if x.device {
		r.DeviceType = "GPU"
	}
	var host []span
	waits := map[trace.TrackID][]span{}
	for i, class := range x.class {
		s := &t.Slices[i]
		switch {
		case isOperator(class):
			host = append(host, span{s.Start, s.End()})
		case isCall(class) && syncCall(t.Name(s)):
			waits[s.Track] = append(waits[s.Track], span{s.Start, s.End()})
		}
	}
	r.HostBusy = total(union(host))
	for _, w := range waits {
		r.SyncTime += total(union(w))
	}
	r.GC, r.STW = total(x.spans(trace.ClassGC)), total(x.spans(trace.ClassSTW))
	for _, m := range a.peaks() {
		if m.space == trace.MemDevice {
			r.PeakDevice = max(r.PeakDevice, m.peak)
		} else if m.space == trace.MemHost {
			r.PeakHost = max(r.PeakHost, m.peak)
		}
	}
	for _, curve := range a.heapCurves() {
		r.PeakHost = max(r.PeakHost, int64(curve.Peak))
	}
	r.GPUs = a.gpus(r.Steps, c)
	return r
}

// syncCall reports whether a runtime or driver call waits for the device.
func syncCall(name string) bool {
	return strings.Contains(name, "Synchronize") && !strings.Contains(name, "Register") || name == "cudaMemcpy" ||
		name == "hipMemcpy" || name == "hipMemcpyWithStream"
}

// Text returns the overview as lines and a table.
func (r *OverviewReport) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d events over %s\n", r.DeviceType, r.Events, formatTime(float64(r.Span), ""))
	if r.PeakHost > 0 {
		fmt.Fprintf(&b, "Peak host memory: %s\n", formatMemory(r.PeakHost))
	}
	if r.PeakDevice > 0 {
		fmt.Fprintf(&b, "Peak device memory: %s\n", formatMemory(r.PeakDevice))
	}
	if r.GC > 0 || r.STW > 0 {
		fmt.Fprintf(&b, "Garbage collection: %s, world stopped: %s\n", formatTime(float64(r.GC), ""), formatTime(float64(r.STW), ""))
	}
	if len(r.GPUs) > 0 {
		t := textTable{header: []string{"GPU", "Utilization", "busy", "Est. SM efficiency", "Est. occupancy", "Tensor cores"}}
		for _, g := range r.GPUs {
			occupancy := "-"
			if g.Occupancy >= 0 {
				occupancy = fmt.Sprintf("%.2f%%", g.Occupancy)
			}
			t.add(strings.TrimSpace(fmt.Sprintf("%d %s", g.ID, g.Name)), formatRatio(g.Utilization), formatRatio(g.BusyRatio),
				formatRatio(g.SMEfficiency), occupancy, formatRatio(g.TensorCoresNow))
		}
		b.WriteString("\n" + t.String())
	}
	if r.Steps.Real || r.Steps.Average[PartOther] < r.Steps.Mean { // else one made-up step of nothing known
		b.WriteString("\n" + r.Steps.Text())
	}
	return b.String()
}
