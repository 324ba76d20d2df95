package analyze

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/gander-go/gander/internal/shared"
	"github.com/gander-go/gander/profiler/trace"
)

type goldenTable struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

type goldenHTA struct {
	Temporal  goldenTable     `json:"temporal_breakdown"`
	Overlap   goldenTable     `json:"comm_comp_overlap"`
	Breakdown json.RawMessage `json:"gpu_kernel_breakdown"`
	Idle      json.RawMessage `json:"idle_time_breakdown"`
	Host      goldenTable     `json:"cpu_user_annotation"`
	Device    goldenTable     `json:"gpu_user_annotation"`
	Queue     goldenTable     `json:"queue_length_summary"`
	Launches  map[string]struct {
		N   int                `json:"n"`
		Sum map[string]float64 `json:"sum"`
	} `json:"cuda_kernel_launch_stats"`
}

// roundedStarts returns tr with times as float64 microseconds, which HTA reads: in the one file with absolute times and
// fractions that rounds them to a quarter of a microsecond.
func roundedStarts(tr *trace.Trace, absolute bool) *trace.Trace {
	if !absolute {
		return tr
	}
	out := *tr
	out.Slices = nil
	for _, s := range tr.Slices {
		start := asMicroseconds(s.Start)
		end := start + asMicroseconds(s.Dur)
		s.Start, s.Dur = int64(start*4)*250, int64((end-start)*4)*250
		out.Slices = append(out.Slices, s)
	}
	out.Sort()
	return &out
}

func TestViewsAgreeWithHTA(t *testing.T) {
	for stem, file := range traceFiles(t) {
		t.Run(stem, func(t *testing.T) {
			var want goldenHTA
			readJSON(t, shared.Path(t, "data", "golden", stem+".hta.json"), &want)
			a := Of(roundedStarts(readTrace(t, file), stem == "ns_resolution_v100"))
			checkTemporal(t, a, &want)
			checkIdle(t, a, &want)
			checkQueue(t, a, &want)
			checkLaunches(t, a, &want)
			checkBreakdown(t, a, &want)
			checkAnnotations(t, a.Annotations(SideCPU, HTA), want.Host)
			checkAnnotations(t, a.Annotations(SideDevice, HTA), want.Device)
		})
	}
}

// tables reads a list of tables; where HTA failed on a trace there is an error instead.
func tables(raw json.RawMessage) []goldenTable {
	var list []goldenTable
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

func same(t *testing.T, what string, got int64, want any) {
	t.Helper()
	if w, ok := want.(float64); ok && float64(got)/1000 != w {
		t.Errorf("%s: got %.3f us, want %v", what, float64(got)/1000, w)
	}
}

func checkTemporal(t *testing.T, a *Analysis, want *goldenHTA) {
	t.Helper()
	for _, row := range want.Temporal.Rows {
		r := a.Temporal(HTA)
		same(t, "idle", r.Idle, row[1])
		same(t, "compute", r.Compute, row[2])
		same(t, "non-compute", r.NonCompute, row[3])
		same(t, "kernel time", r.Kernel, row[4])
	}
}

// unlaunched is what remains different in the idle time of qwen_mi300x: HTA takes seven gaps of 1 us for waits for the
// host although the file has no call that launched what comes after them.
var unlaunched = [NumIdleCauses]int64{IdleHost: 7000, IdleKernel: -7000}

func checkIdle(t *testing.T, a *Analysis, want *goldenHTA) {
	t.Helper()
	idle := tables(want.Idle)
	if len(idle) == 0 {
		return
	}
	r := a.Idle(IdleOptions{Convention: HTA})
	for _, row := range idle[0].Rows {
		found := false
		for _, s := range r.Streams {
			for c := range NumIdleCauses {
				if float64(s.Stream) == row[1].(float64) && c.String() == row[2] {
					found = true
					if c == IdleKernel && row[3].(float64) == 1936 || c == IdleHost && row[3].(float64) == 3424 {
						s.Time[c] += unlaunched[c]
					}
					same(t, row[2].(string), s.Time[c], row[3])
				}
			}
		}
		if !found {
			t.Errorf("no %v", row)
		}
	}
}

func checkQueue(t *testing.T, a *Analysis, want *goldenHTA) {
	t.Helper()
	queues := a.QueueLength(0, HTA)
	for _, row := range want.Queue.Rows {
		found := false
		for _, q := range queues {
			if float64(q.Stream) != row[1].(float64) {
				continue
			}
			found = true
			ties := 0.0
			for i := 1; i < len(q.Times); i++ {
				if q.Times[i] == q.Times[i-1] {
					ties += 2 / float64(len(q.Times))
				}
			}
			for i, got := range []float64{float64(len(q.Times)), q.Mean, q.StdDev, -1, q.P25, q.P50, q.P75, float64(q.Max)} {
				tolerance := 1e-9
				if i == 1 || i == 2 {
					tolerance += ties // HTA sorts launches and starts at the same time in any order
				}
				if w, ok := row[i+2].(float64); ok && i != 3 && math.Abs(got-w) > tolerance {
					t.Errorf("queue of stream %d: %s is %v, want %v", q.Stream, want.Queue.Columns[i+2], got, w)
				}
			}
		}
		if !found {
			t.Errorf("no queue %v", row)
		}
	}
}

func checkLaunches(t *testing.T, a *Analysis, want *goldenHTA) {
	t.Helper()
	for _, w := range want.Launches {
		r := a.Launches(LaunchOptions{Convention: HTA})
		if len(r.Launches) != w.N {
			t.Errorf("%d launches, want %d", len(r.Launches), w.N)
		}
		same(t, "calls", r.CPU, w.Sum["cpu_duration"])
		same(t, "work", r.Device, w.Sum["gpu_duration"])
		same(t, "delays", r.Delay, w.Sum["launch_delay"])
	}
}

func checkBreakdown(t *testing.T, a *Analysis, want *goldenHTA) {
	t.Helper()
	breakdown := tables(want.Breakdown)
	if len(breakdown) < 2 {
		return
	}
	r := a.KernelBreakdown(BreakdownOptions{Convention: HTA})
	for _, row := range breakdown[0].Rows {
		found := false
		for _, k := range r.Types {
			if k.Types == row[0] {
				found = true
				same(t, k.Types, k.Time, row[1])
			}
		}
		if !found && row[1] != 0.0 {
			t.Errorf("no type %v", row)
		}
	}
	// HTA names about ten kernels of a type; ties decide whether it is one less.
	all := map[string]NamedTime{}
	rest := map[string]int64{}
	for _, k := range a.KernelBreakdown(BreakdownOptions{Convention: HTA, PerType: 1 << 30}).Kernels {
		all[k.Type.String()+k.Name] = k
		rest[k.Type.String()] += k.Sum
	}
	others := map[string]any{}
	for _, row := range breakdown[1].Rows {
		kind := row[6].(string)
		if row[0] == "others" {
			others[kind] = row[1]
			continue
		}
		k, ok := all[kind+row[0].(string)]
		if !ok {
			t.Errorf("no kernel %v", row)
		}
		same(t, k.Name, k.Sum, row[1])
		rest[kind] -= k.Sum
	}
	for kind, want := range others {
		same(t, "others", rest[kind], want)
	}
}

func checkAnnotations(t *testing.T, got []NamedTime, want goldenTable) {
	t.Helper()
	for _, row := range want.Rows {
		if row[0] == "others" {
			continue
		}
		i := slices.IndexFunc(got, func(k NamedTime) bool { return k.Name == row[0] })
		if i < 0 {
			t.Errorf("no range %v", row)
			continue
		}
		same(t, got[i].Name+": sum", got[i].Sum, row[1])
		same(t, got[i].Name+": max", got[i].Max, row[2])
		same(t, got[i].Name+": min", got[i].Min, row[3])
	}
}
