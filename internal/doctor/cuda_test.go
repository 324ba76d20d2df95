//go:build linux && cgo && (amd64 || arm64)

package doctor

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gander-go/gander/cuda/standin"
)

// TestMain lets a child process make the checks: a process opens each library once.
func TestMain(m *testing.M) {
	if os.Getenv("GANDER_DOCTOR_CHILD") != "" {
		json.NewEncoder(os.Stdout).Encode(cudaChecks(context.Background())())
		return
	}
	os.Exit(m.Run())
}

func cudaIn(t *testing.T, env ...string) map[string]Check {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "GANDER_DOCTOR_CHILD=1"), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []Check
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range list {
		if strings.Contains(c.Detail, "\n") || c.Detail == "" || c.Status != Found && c.Fix == "" {
			t.Errorf("%+v", c)
		}
	}
	return byName(list)
}

func TestWithoutCUDA(t *testing.T) {
	none := "/nonexistent/"
	got := cudaIn(t, "GANDER_LIBCUDA="+none+"libcuda.so.1", "GANDER_LIBCUPTI="+none+"libcupti.so.12", "GANDER_LIBNVML="+none+"libnvidia-ml.so.1", "GANDER_LIBNVRTC="+none+"libnvrtc.so.12")
	for _, name := range []string{"CUDA driver", "CUPTI", "NVML", "NVRTC"} {
		if c := got[name]; c.Status != Optional || !strings.Contains(c.Detail, none) {
			t.Errorf("%+v", c)
		}
	}
}

func TestWithCUDA(t *testing.T) {
	libcuda, libnvml := "GANDER_LIBCUDA="+standin.For(t, standin.Driver), "GANDER_LIBNVML="+standin.For(t, standin.NVML)
	got := cudaIn(t, libcuda, libnvml, "STANDIN_DEVICES=2")
	if c := got["CUDA driver"]; c.Status != Found || !strings.HasPrefix(c.Detail, "CUDA 12.4, Stand-in GPU 0 (sm_90, 4 SMs, 1.0 GiB), Stand-in GPU 1") {
		t.Errorf("%+v", c)
	}
	if c := got["NVML"]; c.Status != Found || !strings.HasPrefix(c.Detail, "12.550.54.15, driver 550.54.15, 2 devices") {
		t.Errorf("%+v", c)
	}
	if c := cudaIn(t, libcuda, "STANDIN_DEVICES=0")["CUDA driver"]; c.Status != Optional || !strings.Contains(c.Detail, "finds no GPU") {
		t.Errorf("%+v", c)
	}
	got = cudaIn(t, libcuda, libnvml, "STANDIN_INIT=803", "STANDIN_NVML_INIT=18")
	if c := got["CUDA driver"]; c.Status != Wrong || !strings.Contains(c.Detail, "803") {
		t.Errorf("%+v", c)
	}
	if c := got["NVML"]; c.Status != Wrong || !strings.Contains(c.Detail, "different versions") {
		t.Errorf("%+v", c)
	}
}
