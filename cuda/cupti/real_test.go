//go:build linux && cgo && (amd64 || arm64)

package cupti

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// seen is what a process tells of the library that it opened.
type seen struct {
	API         uint32
	Version     int
	Sizes       map[Kind]int
	Launch      string // the name of driver call 307
	Skew        int64  // of CUPTI's clock to ours, ns
	Start, Stop string // errors of a capture
	Records     int
	Error       string
}

// look is the child process of TestRealLibraries.
func look() {
	var s seen
	l, err := open()
	if err != nil {
		s.Error = err.Error()
	} else {
		s.API, s.Version, s.Sizes, s.Launch = l.API, l.Version, l.Sizes, l.CallName(true, 307)
		ns, err := l.Timestamp()
		s.Skew = time.Now().UnixNano() - int64(ns)
		if err != nil {
			s.Error = err.Error()
		}
		if c, err := l.Start(Config{Kinds: DefaultKinds}); err != nil {
			s.Start = err.Error()
		} else if r, err := c.Stop(); err != nil {
			s.Stop = err.Error()
		} else {
			s.Records = r.Len()
		}
	}
	json.NewEncoder(os.Stdout).Encode(s)
}

// fetched are the versions that the test fetches from PyPI itself, unless -short: one of each layout that a library shows
// without a driver. tools/cupti.sh without arguments fetches all.
var fetched = []string{"11.8.87", "12.1.105", "12.4.127", "12.9.79", "13.0.85", "13.1.115"}

// TestRealLibraries opens NVIDIA's own libraries, each in a process of its own, and compares the record sizes that they report
// with the table. They are those that tools/cupti.sh fetched, and those of GANDER_CUPTI_DIR, a folder for each version.
func TestRealLibraries(t *testing.T) {
	if !testing.Short() {
		cmd := exec.Command(filepath.Join("..", "..", "tools", "cupti.sh"), fetched...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Logf("SKIPPED: CUPTI cannot be had here; record sizes of what is not in the cache were NOT compared: %v\n%s", err, out)
		}
	}
	dirs, _ := filepath.Glob(filepath.Join("..", "..", ".cache", "cupti", "*"))
	if d := os.Getenv("GANDER_CUPTI_DIR"); d != "" {
		more, _ := filepath.Glob(filepath.Join(d, "*"))
		dirs = append(dirs, more...)
	}
	if len(dirs) == 0 {
		t.Skip("SKIPPED: no library of NVIDIA's is here to compare with; tools/cupti.sh fetches some")
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var major, minor int
			if _, err := fmt.Sscanf(filepath.Base(dir), "%d.%d", &major, &minor); err != nil {
				t.Fatal(err)
			}
			files, _ := filepath.Glob(filepath.Join(dir, "libcupti.so.*"))
			if len(files) == 0 {
				t.Fatalf("no library in %s", dir)
			}
			if major*100+minor >= 1302 && !hasDriver() {
				t.Skip("SKIPPED: this library needs a driver to say anything")
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "GANDER_CUPTI_CHILD=1", "GANDER_LIBCUPTI="+files[0], "GANDER_LIBCUDA=")
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			var s seen
			if err := json.Unmarshal(out, &s); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			compare(t, &s, major*100+minor)
		})
	}
}

func compare(t *testing.T, s *seen, version int) {
	if s.Error != "" {
		t.Fatal(s.Error)
	}
	if want := version; s.Version != want && (s.Version != 1200 || want != 1201) {
		t.Errorf("it is taken for %d (API %d)", s.Version, s.API)
	}
	if s.Launch != "cuLaunchKernel" {
		t.Errorf("driver call 307 is %q", s.Launch)
	}
	if s.Skew < 0 || s.Skew > int64(time.Second) {
		t.Errorf("its clock is off by %d ns", s.Skew)
	}
	known := toolkits[len(toolkits)-1]
	for _, v := range toolkits {
		if int(v.version) == version {
			known = v
		}
	}
	same := 0
	for k, n := range known.sizes {
		got, ok := s.Sizes[k]
		switch {
		case ok && (got == int(n) || version > int(known.version) && got > int(n)):
			same++ // a version that is newer than the table may have more
		case !ok && kindOptional[k]:
		default:
			t.Errorf("records of kind %d have %d bytes, want %d", k, got, n)
		}
	}
	t.Logf("API %d: %d kinds of %d as in the table; kernels have %d bytes; without a GPU: %s", s.API, same, len(known.sizes), s.Sizes[KindKernel], s.Start)
	if s.Start == "" {
		t.Logf("it recorded %d records", s.Records)
	}
}

// kindOptional are kinds of the table that a library may do without; none of them is decoded. CUDA 13 gave up PREEMPTION.
var kindOptional = map[Kind]bool{14: true}

// hasDriver reports whether the machine has a driver of NVIDIA's.
func hasDriver() bool {
	_, err := os.Stat("/proc/driver/nvidia/version")
	return err == nil
}
