package kernelspec

import (
	"bytes"
	"encoding/json"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// alone makes Jupyter's places temporary ones and returns them: the user's and the environment's.
func alone(t *testing.T) (user, env string) {
	t.Helper()
	user, env = t.TempDir(), t.TempDir()
	t.Setenv("JUPYTER_DATA_DIR", user)
	t.Setenv("VIRTUAL_ENV", env)
	t.Setenv("JUPYTER_PATH", "")
	return user, env
}

func install(t *testing.T, o Options) Spec {
	t.Helper()
	if o.Binary == "" {
		o.Binary = "/opt/gander/bin/gander"
	}
	s, err := Install(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestInstall(t *testing.T) {
	user, env := alone(t)
	prefix := t.TempDir()
	for _, tt := range []struct {
		o   Options
		dir string
	}{
		{Options{}, filepath.Join(user, "kernels", "gander")},
		{Options{User: true, Name: "Gander-2"}, filepath.Join(user, "kernels", "gander-2")},
		{Options{SysPrefix: true}, filepath.Join(env, "share/jupyter/kernels/gander")},
		{Options{Prefix: prefix}, filepath.Join(prefix, "share/jupyter/kernels/gander")},
	} {
		for range 2 { // the second time over the first
			s := install(t, tt.o)
			if s.Dir != tt.dir || s.Name != filepath.Base(tt.dir) {
				t.Errorf("%+v: got %+v", tt.o, s)
			}
		}
		left, _ := os.ReadDir(filepath.Dir(tt.dir))
		for _, e := range left {
			if strings.HasPrefix(e.Name(), ".") {
				t.Errorf("%s was left behind", e.Name())
			}
		}
	}
	specs, err := List()
	if err != nil || len(specs) != 3 { // the one under prefix is nowhere Jupyter looks
		t.Errorf("list: %+v, %v", specs, err)
	}
}

func TestKernelJSON(t *testing.T) {
	alone(t)
	s := install(t, Options{Env: map[string]string{"A": "b"}})
	b, err := os.ReadFile(filepath.Join(s.Dir, "kernel.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	argv := got["argv"].([]any)
	want := []any{"/opt/gander/bin/gander", "kernel", "-f", "{connection_file}"}
	if !slices.Equal(argv, want) {
		t.Errorf("argv: %v", argv)
	}
	for k, want := range map[string]any{"display_name": "Go (gander)", "language": "go", "interrupt_mode": "message"} {
		if got[k] != want {
			t.Errorf("%s: %v", k, got[k])
		}
	}
	known := []string{"argv", "display_name", "language", "interrupt_mode", "env", "metadata"}
	for k := range got {
		if !slices.Contains(known, k) {
			t.Errorf("Jupyter does not know the key %q", k)
		}
	}
}

func TestLogos(t *testing.T) {
	alone(t)
	dir := install(t, Options{}).Dir
	for name, side := range map[string]int{"logo-32x32.png": 32, "logo-64x64.png": 64} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil || img.Bounds().Dx() != side || img.Bounds().Dy() != side {
			t.Errorf("%s: %v", name, err)
		}
	}
	svg, err := os.ReadFile(filepath.Join(dir, "logo-svg.svg"))
	if err != nil || !bytes.HasPrefix(svg, []byte("<svg ")) || bytes.Contains(svg, []byte("<script")) {
		t.Errorf("svg: %.40q, %v", svg, err)
	}
}

// TestLogosAreDrawn checks that the files are what drawlogo makes.
func TestLogosAreDrawn(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", "./drawlogo", dir).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: the logos could not be drawn again: %v\n%s", err, out)
	}
	for _, name := range []string{"logo-32x32.png", "logo-64x64.png", "logo-svg.svg"} {
		want, _ := os.ReadFile(filepath.Join(dir, name))
		got, _ := logos.ReadFile("logos/" + name)
		if len(want) == 0 || !bytes.Equal(got, want) {
			t.Errorf("%s is not what drawlogo draws; run go generate", name)
		}
	}
}

func TestOthersAreLeftAlone(t *testing.T) {
	user, _ := alone(t)
	other := filepath.Join(user, "kernels", "gander")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(other, "kernel.json")
	if err := os.WriteFile(file, []byte(`{"argv":["python"],"display_name":"x","language":"python","metadata":{}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Install(Options{Binary: "/x"}); err == nil {
		t.Error("replaced another kernel")
	}
	removed, err := Uninstall(Options{})
	if err != nil || len(removed) != 0 {
		t.Errorf("removed %v, %v", removed, err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

func TestUninstall(t *testing.T) {
	_, _ = alone(t)
	user, env := install(t, Options{}), install(t, Options{SysPrefix: true})
	named := install(t, Options{Name: "other"})
	check := func(o Options, want ...string) {
		t.Helper()
		got, err := Uninstall(o)
		slices.Sort(got)
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v: removed %v, want %v, %v", o, got, want, err)
		}
		for _, d := range got {
			if _, err := os.Stat(d); !os.IsNotExist(err) {
				t.Errorf("%s is still there: %v", d, err)
			}
		}
	}
	check(Options{Name: "none"})
	check(Options{SysPrefix: true}, env.Dir)
	check(Options{Name: "gander"}, user.Dir)
	check(Options{}, named.Dir)
	check(Options{})
}

func TestWrongOptions(t *testing.T) {
	alone(t)
	for _, o := range []Options{
		{User: true, SysPrefix: true}, {User: true, Prefix: "x"}, {SysPrefix: true, Prefix: "x"},
		{Name: "a b"}, {Name: ".."}, {Name: "../x"}, {Name: "ö"},
	} {
		o.Binary = "/x"
		if s, err := Install(o); err == nil {
			t.Errorf("%+v: installed %+v", o, s)
		}
	}
	if _, err := Uninstall(Options{Name: "../x"}); err == nil {
		t.Error("uninstalled a path")
	}
	if !isTemporary("/tmp/go-build123/b001/exe/gander") || isTemporary("/home/x/go/bin/gander") {
		t.Error("executables of go run are not told from others")
	}
}

func TestUserDir(t *testing.T) {
	t.Setenv("HOME", "/home/x")
	t.Setenv("JUPYTER_DATA_DIR", "")
	t.Setenv("XDG_DATA_HOME", "/xdg")
	if d, err := userDir(); err != nil || d != "/xdg/jupyter/kernels" {
		t.Errorf("got %q, %v", d, err)
	}
	t.Setenv("XDG_DATA_HOME", "")
	if d, err := userDir(); err != nil || d != "/home/x/.local/share/jupyter/kernels" {
		t.Errorf("got %q, %v", d, err)
	}
	t.Setenv("JUPYTER_PATH", "/p1:/p2")
	if all := searched(); !slices.Contains(all, "/p2/kernels") || !slices.Contains(all, "/usr/share/jupyter/kernels") {
		t.Errorf("searched: %v", all)
	}
}
