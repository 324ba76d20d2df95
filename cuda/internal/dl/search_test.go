package dl

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func touch(t *testing.T, path ...string) string {
	t.Helper()
	f := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f, []byte(f), 0o644); err != nil {
		t.Fatal(err)
	}
	return f
}

var cupti = Search{
	Env: "GANDER_TEST_LIB", Names: []string{"libx.so.13", "libx.so.12", "libx.so.11.8", "libx.so"},
	Extra: []string{"extras/CUPTI/lib64"}, Wheel: []string{"cuda_cupti/lib", "cu13/lib"},
}

// alone hides the machine's own folders from a test.
func alone(t *testing.T) string {
	dir := t.TempDir()
	for _, v := range []string{"LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX", "VIRTUAL_ENV", "GANDER_TEST_LIB"} {
		t.Setenv(v, "")
	}
	t.Setenv("HOME", dir)
	t.Setenv("PATH", dir)
	return dir
}

// TestPythonOnPath looks where the python3 on PATH installs to, also where its environment is not an active one.
func TestPythonOnPath(t *testing.T) {
	dir := alone(t)
	wheel := touch(t, dir, "venv", "lib/python3.12/site-packages/nvidia/cu13/lib", "libx.so.13")
	if err := os.Chmod(touch(t, dir, "venv", "bin", "python3"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(dir, "venv", "bin"))
	if got := cupti.Files(); !slices.Equal(got, append([]string{wheel}, cupti.Names...)) {
		t.Errorf("got %q", got)
	}
}

func TestOrder(t *testing.T) {
	dir := alone(t)
	ld := touch(t, dir, "ld", "libx.so.12")
	extra := touch(t, dir, "cuda", "extras/CUPTI/lib64", "libx.so.13")
	conda := touch(t, dir, "conda", "lib", "libx.so.11.8")
	wheel13 := touch(t, dir, "venv", "lib/python3.12/site-packages/nvidia/cu13/lib", "libx.so.13")
	wheel12 := touch(t, dir, "venv", "lib/python3.9/site-packages/nvidia/cuda_cupti/lib", "libx.so.12")
	t.Setenv("LD_LIBRARY_PATH", filepath.Join(dir, "ld")+":relative:")
	t.Setenv("CUDA_HOME", filepath.Join(dir, "cuda"))
	t.Setenv("CONDA_PREFIX", filepath.Join(dir, "conda"))
	t.Setenv("VIRTUAL_ENV", filepath.Join(dir, "venv"))
	want := append([]string{ld, extra, conda, wheel13, wheel12}, cupti.Names...)
	if got := cupti.Files(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	s := cupti
	s.Major = 12
	want = []string{ld, conda, wheel12, "libx.so.12", "libx.so.11.8", "libx.so"}
	if got := s.Files(); !slices.Equal(got, want) {
		t.Errorf("with a driver of 12: got  %q\nwant %q", got, want)
	}
}

func TestOverride(t *testing.T) {
	dir := alone(t)
	f := touch(t, dir, "mine", "libx.so.12")
	t.Setenv("CUDA_HOME", dir)
	touch(t, dir, "lib64", "libx.so.12")
	for value, want := range map[string]string{f: f, filepath.Dir(f): f, "/nowhere/libx.so": "/nowhere/libx.so"} {
		t.Setenv("GANDER_TEST_LIB", value)
		if got := cupti.Files(); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: got %q", value, got)
		}
	}
}

func TestSameFileOnce(t *testing.T) {
	dir := alone(t)
	f := touch(t, dir, "lib64", "libx.so.12")
	if err := os.Symlink(f, filepath.Join(dir, "lib64", "libx.so")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CUDA_HOME", dir)
	if got := cupti.Files(); !slices.Equal(got, append([]string{f}, cupti.Names...)) {
		t.Errorf("got %q", got)
	}
}

func TestCompareVersions(t *testing.T) {
	list := []string{"cuda-12.10", "cuda-9.1", "cuda-12.9", "cuda-13", "cuda-12", "cuda-11.8"}
	slices.SortFunc(list, compareVersions)
	want := []string{"cuda-9.1", "cuda-11.8", "cuda-12", "cuda-12.9", "cuda-12.10", "cuda-13"}
	if !slices.Equal(list, want) {
		t.Errorf("got %q", list)
	}
}
