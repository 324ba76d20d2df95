//go:build linux && cgo && (amd64 || arm64)

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestHangingPart ends a part that hangs in the driver, and keeps what it had told.
func TestHangingPart(t *testing.T) {
	t.Setenv("GPUCHECK_CHILD", "1")
	dir := t.TempDir()
	o := options{expected: filepath.Join(dir, "expected.json"), json: filepath.Join(dir, "report.json"), tolerance: 5, overhead: 1000, python: "/nonexistent"}
	if err := os.WriteFile(o.expected, encode(expectation()), 0o644); err != nil {
		t.Fatal(err)
	}
	r := &Report{}
	start := time.Now()
	_, err := r.child("memory", o, append(standIns(t), "STANDIN_FAIL=cuMemAllocAsync:hang"), 10*time.Second)
	if err == nil || !strings.Contains(err.Error(), "ended after 10s") || time.Since(start) > time.Minute {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	if len(r.Checks) != 1 || r.Checks[0].Name != "kinds of memory" || r.Checks[0].Status != passed {
		t.Errorf("%+v", r.Checks)
	}
	if _, err := os.Stat(filepath.Join(dir, "part-memory.txt")); err != nil {
		t.Error(err)
	}
}

func TestChoose(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{"cupti-11.8/libcupti.so.11.8", "cupti-12.9/libcupti.so.12", "cupti-12.10/libcupti.so.12", "cupti-13.0/libcupti.so.13", "nvrtc/libnvrtc.so.12", "other/libcupti.so.12"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, f)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := options{libraries: dir, env: filepath.Join(dir, "env.sh")}
	env := o.choose(map[string]any{"cuda_major": 12.})
	want := []string{"GANDER_LIBCUPTI=" + filepath.Join(dir, "cupti-12.10/libcupti.so.12"), "GANDER_LIBNVRTC=" + filepath.Join(dir, "nvrtc/libnvrtc.so.12")}
	if !slices.Equal(env, want) {
		t.Errorf("chosen %q", env)
	}
	if b, err := os.ReadFile(o.env); err != nil || !strings.Contains(string(b), "export GANDER_LIBNVRTC='"+dir) {
		t.Errorf("%q %v", b, err)
	}
	if env := o.choose(map[string]any{"cuda_major": 13., "cupti_version": 1300., "nvrtc_version": 1300.}); env != nil {
		t.Errorf("the machine has all, and %q was chosen", env)
	}
}
