//go:build linux && cgo && (amd64 || arm64)

package nvml

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gander-go/gander/cuda/standin"
)

// TestMain opens the stand-in; a child process prints what it finds instead, because a process opens NVML once.
func TestMain(m *testing.M) {
	if os.Getenv("GANDER_NVML_CHILD") != "" {
		child()
		return
	}
	dir, err := os.MkdirTemp("", "standin-")
	if err == nil {
		var file string
		if file, err = standin.Build(dir, standin.NVML); err == nil {
			os.Setenv("GANDER_LIBNVML", file)
			os.Setenv("STANDIN_DEVICES", "2")
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func child() {
	l, err := Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	r := l.Read(0)
	fmt.Println(len(l.Devices()), r.Used, r.Throttle)
}

func runChild(t *testing.T, env ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "GANDER_NVML_CHILD=1"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the process ended: %v\n%s", err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// TestMachines opens NVML on machines that lack one thing or another. The process must start with immediate binding too.
func TestMachines(t *testing.T) {
	for _, c := range []struct{ name, env, want string }{
		{"missing", "GANDER_LIBNVML=/nonexistent/libnvidia-ml.so.1", "no NVML: /nonexistent/libnvidia-ml.so.1: cannot open shared object file"},
		{"no NVML", "GANDER_LIBNVML=libc.so.6", "no NVML: it has no functions of NVML"},
		{"no kernel module", "STANDIN_NVML_INIT=9", "no NVML: the kernel module of the driver is not loaded (in a container"},
		{"mismatch", "STANDIN_NVML_INIT=18", "of different versions (restart"},
		{"unknown", "STANDIN_NVML_INIT=999", "no NVML: it does not start: Unknown Error (999)"},
		{"old driver", "STANDIN_NVML_OLD=1", "2 314572800 none"},
		{"three devices", "STANDIN_DEVICES=3", "3 268435456 idle"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := runChild(t, c.env, "LD_BIND_NOW=1")
			if !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
				t.Errorf("%q, without %q", got, c.want)
			}
		})
	}
}

func TestFigures(t *testing.T) {
	l, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	if s := l.System(); s.Driver != "550.54.15" || s.CUDAMajor != 12 || s.CUDAMinor != 4 || s.NVML != "12.550.54.15" {
		t.Errorf("%+v", s)
	}
	d := l.Devices()
	if len(d) != 2 {
		t.Fatalf("%+v", d)
	}
	want := Device{Index: 1, Name: "Stand-in GPU 1", UUID: "GPU-00000001-0203-0405-0607-08090a0b0c0d", PCI: "00000000:65:01.0", Major: 9, Minor: 0, Memory: 1 << 30, PowerLimit: 700, MaxSMClock: 1980, MaxMemClock: 3201}
	if d[1] != want {
		t.Errorf("%+v", d[1])
	}
	before := monotonic()
	r := l.Read(1)
	if r.Time < before || r.Time > monotonic() {
		t.Errorf("time %d", r.Time)
	}
	r.Time = 0
	if r != (Reading{GPU: 38, MemoryBus: 12, Used: 256 << 20, Free: 724 << 20, Power: 123.456, Temperature: 51, SMClock: 1755, MemClock: 3201, Throttle: 1}) {
		t.Errorf("%+v", r)
	}
	p := l.Processes(0)
	if len(p) != 2 || p[0].PID != os.Getpid() || p[0].Used != 256<<20 || p[0].Name != fmt.Sprintf("process-%d", os.Getpid()) || p[1] != (Process{4242, "", -1}) {
		t.Errorf("%+v", p)
	}
	if again, err := Open(); again != l || err != nil {
		t.Error("opened twice")
	}
}

func TestThrottle(t *testing.T) {
	for _, c := range []struct {
		t      Throttle
		text   string
		slowed bool
	}{{0, "none", false}, {1, "idle", false}, {0x44, "power cap, thermal (hardware)", true}, {1 << 20, "0x100000", false}} {
		if c.t.String() != c.text || c.t.Slowed() != c.slowed {
			t.Errorf("%#x: %s %v", uint64(c.t), c.t, c.t.Slowed())
		}
	}
}

func TestUnknownIsNoZero(t *testing.T) {
	r := unknownReading()
	if !math.IsNaN(r.GPU) || !math.IsNaN(r.Power) || r.Used >= 0 {
		t.Errorf("%+v", r)
	}
}

// TestSymbols compares the functions that we define with those that go-nvml calls.
func TestSymbols(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/NVIDIA/go-nvml").Output()
	if err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "pkg", "nvml", "nvml.go"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, m := range regexp.MustCompile(`\bC\.(nvml\w+)\(`).FindAllStringSubmatch(string(src), -1) {
		want = append(want, m[1])
	}
	slices.Sort(want)
	want = slices.Compact(want)
	ours, err := os.ReadFile("symbols.h")
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, m := range regexp.MustCompile(`(?m)^X\((\w+)\)$`).FindAllStringSubmatch(string(ours), -1) {
		have = append(have, m[1])
	}
	slices.Sort(have)
	if !slices.Equal(have, want) {
		t.Errorf("symbols.h has %d functions, go-nvml calls %d", len(have), len(want))
	}
}

// TestTrampolinesAreTheDrivers compares the machine code here with that of cuda/driver. Each package has its own, because Go
// does not notice when a header of another folder changes.
func TestTrampolinesAreTheDrivers(t *testing.T) {
	block := func(file string) string {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, code, found := strings.Cut(string(b), "#if defined(__x86_64__)")
		code, _, end := strings.Cut(code, "static const struct")
		if !found || !end || !strings.Contains(code, "TRAMPOLINE(#name)") {
			t.Fatalf("%s has no trampolines", file)
		}
		return code
	}
	if block("nvml.c") != block("../driver/libcuda.c") {
		t.Error("the trampolines of nvml.c are not those of ../driver/libcuda.c")
	}
}
