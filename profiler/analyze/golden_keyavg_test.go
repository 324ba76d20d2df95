package analyze

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gander-go/gander/internal/shared"
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

func TestKeyAveragesAgreeWithTorch(t *testing.T) {
	for stem, file := range traceFiles(t) {
		t.Run(stem, func(t *testing.T) {
			t.Parallel()
			var want goldenAverages
			readJSON(t, shared.Path(t, "data", "golden", stem+".keyavg.json"), &want)
			tr := readTrace(t, file)
			got := KeyAverages(tr, KeyOptions{Convention: Torch})
			type key struct{ name, device string }
			rows := map[key]Average{}
			for _, r := range got.Rows {
				k := key{r.Key, "CPU"}
				if r.Side == SideDevice {
					k.device = "CUDA"
				}
				if _, twice := rows[k]; twice {
					t.Logf("twice %v", k)
				}
				rows[k] = r
			}
			near := func(what string, got int64, want float64) {
				if math.Abs(float64(got)/1000-want) > 0.001+1e-9*math.Abs(want) {
					t.Errorf("%s: got %.3f us, want %.3f", what, float64(got)/1000, want)
				}
			}
			near("self CPU", got.SelfCPUTotal, want.SelfCPU)
			near("device", got.SelfDeviceTotal, want.Device)
			for _, w := range want.Rows {
				g, ok := rows[key{w.Key, w.Device}]
				if !ok {
					t.Errorf("no row %s %s", w.Key, w.Device)
					continue
				}
				delete(rows, key{w.Key, w.Device})
				id := w.Device + " " + w.Key
				if g.Count != w.Count {
					t.Errorf("%s: count %d want %d", id, g.Count, w.Count)
				}
				near(id+" cpu", g.CPUTotal, w.CPU)
				near(id+" self cpu", g.SelfCPU, w.SelfCPU)
				near(id+" dev", g.DeviceTotal, w.DeviceT)
				near(id+" self dev", g.SelfDevice, w.SelfDevice)
				if g.CPUMemory != w.CPUMem || g.SelfCPUMemory != w.SelfCPUMem || g.DeviceMemory != w.DevMem || g.SelfDeviceMemory != w.SelfDevMem {
					t.Errorf("%s: mem %d %d %d %d want %d %d %d %d", id, g.CPUMemory, g.SelfCPUMemory, g.DeviceMemory, g.SelfDeviceMemory, w.CPUMem, w.SelfCPUMem, w.DevMem, w.SelfDevMem)
				}
			}
			for k, r := range rows {
				t.Errorf("extra row %v count %d", k, r.Count)
			}
		})
	}
}
