package analyze

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/gander-go/gander/internal/shared"
	"github.com/gander-go/gander/profiler/trace"
)

type goldenAverages struct {
	SelfCPU float64 `json:"self_cpu_time_total_us"`
	Device  float64 `json:"sum_cuda_device_us"`
	ByShape int     `json:"n_rows_by_shape"`
	Rows    []struct {
		Key        string  `json:"key"`
		Device     string  `json:"device"`
		Count      int64   `json:"count"`
		SelfCPU    float64 `json:"self_cpu_us"`
		CPU        float64 `json:"cpu_total_us"`
		SelfDevice float64 `json:"self_cuda_us"`
		DeviceT    float64 `json:"cuda_total_us"`
		CPUMem     int64   `json:"cpu_mem"`
		SelfCPUMem int64   `json:"self_cpu_mem"`
		DevMem     int64   `json:"cuda_mem"`
		SelfDevMem int64   `json:"self_cuda_mem"`
	} `json:"key_averages"`
}

func readJSON(t testing.TB, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// traceFiles maps the stem of a golden file to its trace.
func traceFiles(t testing.TB) map[string]string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(shared.Path(t, "data", "traces"), "*.json.gz"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	files := map[string]string{}
	for _, f := range list {
		stem, _, _ := strings.Cut(filepath.Base(f), ".")
		files[stem] = f
	}
	return files
}

// The reference numbers come from torch's aggregator on events that a script made from the same files. What that script
// did differently from torch itself is done here to the trace before the comparison, so that no difference is left:
//
//   - It read times as float64 microseconds since 1970, which rounds the starts to a quarter of a microsecond in traces with
//     absolute times. In ns_resolution_v100 this changes what nests (aten::result_type: 2393 calls for 2415).
//   - It knew no mtia_* category: the MTIA device and its runtime are missing from its rows of mtia_456k_events.
//   - The version of the aggregator, 1.13, adds the ranges on the device (gpu_user_annotation) to the sum of device time;
//     2.10, which the Torch convention follows, does not.
func asTheScriptSaw(tr *trace.Trace, absolute bool, unknown string) *trace.Trace {
	out := *tr
	out.Slices = nil
	asFloat := func(at int64) float64 {
		if !absolute {
			return float64(at-tr.Slices[0].Start) / 1000
		}
		return asMicroseconds(at)
	}
	first := math.Inf(1)
	for i := range tr.Slices {
		first = min(first, asFloat(tr.Slices[i].Start))
	}
	for _, s := range tr.Slices {
		if strings.HasPrefix(tr.Categories[s.Cat].Name, unknown) {
			continue
		}
		s.Start = int64(math.Round((asFloat(s.Start) - first) * 1000))
		out.Slices = append(out.Slices, s)
	}
	out.Memory = nil
	for _, m := range tr.Memory {
		m.Time = int64(math.Round((asFloat(m.Time) - first) * 1000))
		out.Memory = append(out.Memory, m)
	}
	sort.SliceStable(out.Slices, func(i, j int) bool {
		a, b := &out.Slices[i], &out.Slices[j]
		if a.Track != b.Track {
			return a.Track < b.Track
		}
		if a.Start != b.Start {
			return a.Start < b.Start
		}
		return a.Dur > b.Dur
	})
	return &out
}

// asMicroseconds is the float64 that reading ns as a decimal number of microseconds gives.
func asMicroseconds(ns int64) float64 { return float64(ns/1000) + float64(ns%1000)/1000 }

// listRows is how many rows by shape the script has more than torch: it took the shapes of lists of tensors from the file,
// where torch has none for them (TestTablesAreTorchs) and makes one row of what differs only there.
var listRows = map[string]int{"owlv2_h100_132k_events": 3, "qwen_mi300x": 1}

func TestKeyAveragesAgreeWithTorch(t *testing.T) {
	for stem, file := range traceFiles(t) {
		t.Run(stem, func(t *testing.T) {
			var want goldenAverages
			readJSON(t, shared.Path(t, "data", "golden", stem+".keyavg.json"), &want)
			tr := asTheScriptSaw(readTrace(t, file), stem == "ns_resolution_v100", "mtia_")
			got := KeyAverages(tr, KeyOptions{Convention: Torch})
			checkAverages(t, got, &want)
			if n := len(KeyAverages(tr, KeyOptions{Convention: Torch, ByShape: true}).Rows); n+listRows[stem] != want.ByShape {
				t.Errorf("by shape: %d rows, want %d", n, want.ByShape)
			}
		})
	}
}

func checkAverages(t *testing.T, got *Averages, want *goldenAverages) {
	t.Helper()
	// Sums of up to a million float64 microseconds, printed with three decimals.
	near := func(what string, got int64, want float64) {
		t.Helper()
		if math.Abs(float64(got)/1000-want) > 0.001+1e-9*math.Abs(want) {
			t.Errorf("%s: got %.3f us, want %.3f", what, float64(got)/1000, want)
		}
	}
	type key struct{ name, device string }
	rows := map[key]Average{}
	device, ranges := int64(0), int64(0)
	for _, r := range got.Rows {
		k := key{r.Key, "CPU"}
		if r.Side == SideDevice {
			k.device = "CUDA"
			device += r.SelfDevice
			if r.User {
				ranges += r.SelfDevice
			}
		}
		if _, twice := rows[k]; twice {
			t.Errorf("two rows %v", k)
		}
		rows[k] = r
	}
	near("self CPU", got.SelfCPUTotal, want.SelfCPU)
	near("device time with ranges", device, want.Device)
	if got.SelfDeviceTotal != device-ranges {
		t.Errorf("device time: %d, want %d", got.SelfDeviceTotal, device-ranges)
	}
	for _, w := range want.Rows {
		k := key{w.Key, w.Device}
		g, ok := rows[k]
		if !ok {
			t.Errorf("no row %v", k)
			continue
		}
		delete(rows, k)
		id := w.Device + " " + w.Key
		if g.Count != w.Count {
			t.Errorf("%s: count %d, want %d", id, g.Count, w.Count)
		}
		near(id+": CPU", g.CPUTotal, w.CPU)
		near(id+": self CPU", g.SelfCPU, w.SelfCPU)
		near(id+": device", g.DeviceTotal, w.DeviceT)
		near(id+": self device", g.SelfDevice, w.SelfDevice)
		have := [4]int64{g.CPUMemory, g.SelfCPUMemory, g.DeviceMemory, g.SelfDeviceMemory}
		if wanted := [4]int64{w.CPUMem, w.SelfCPUMem, w.DevMem, w.SelfDevMem}; have != wanted {
			t.Errorf("%s: memory %v, want %v", id, have, wanted)
		}
	}
	for k, r := range rows {
		t.Errorf("extra row %v of %d calls", k, r.Count)
	}
}
