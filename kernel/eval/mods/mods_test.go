package mods

import (
	"archive/zip"
	"bytes"
	"context"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// write makes files below dir.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// proxy makes a module proxy of files with one version of one module.
func proxy(t *testing.T, module, version string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.Create(module + "@" + version + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(text))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	at := module + "/@v/"
	write(t, dir, map[string]string{at + "list": version + "\n", at + version + ".mod": files["go.mod"],
		at + version + ".info": `{"Version":"` + version + `","Time":"2026-01-01T00:00:00Z"}`, at + version + ".zip": b.String()})
	return dir
}

func newModules(t *testing.T, cfg Config, env ...string) *Modules {
	t.Helper()
	goCmd, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Go, cfg.Dir = goCmd, filepath.Join(t.TempDir(), "session")
	cfg.Env = append(os.Environ(), append([]string{"GOFLAGS=-modcacherw", "GOWORK=off", "GOSUMDB=off", "GOPROXY=off"}, env...)...)
	m, err := New(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestImportStandard(t *testing.T) {
	m := newModules(t, Config{})
	imp := m.Importer(token.NewFileSet())
	m.Prepare(context.Background(), []string{"fmt", "maps", "no/such"})
	p, err := imp.Import("maps")
	if err != nil || p.Scope().Lookup("Keys") == nil {
		t.Fatalf("importing maps: %v, %v", p, err)
	}
	if _, err := imp.Import("no/such"); err == nil || !strings.Contains(err.Error(), "package no/such is not in std") {
		t.Errorf("importing no/such: %v", err)
	}
	for _, bad := range []string{"", "-x", "a b", "all", "./x...", "/abs", "C"} {
		if _, err := imp.Import(bad); err == nil {
			t.Errorf("%q was imported", bad)
		}
	}
}

func TestMissingModuleNamesTheRemedy(t *testing.T) {
	m := newModules(t, Config{})
	_, err := m.Importer(token.NewFileSet()).Import("example.com/nowhere/pkg")
	if want := "no required module provides package example.com/nowhere/pkg; to add it:\n\t%get example.com/nowhere/pkg"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestGet(t *testing.T) {
	p := proxy(t, "example.com/hello", "v1.2.3", map[string]string{"go.mod": "module example.com/hello\n\ngo 1.21\n",
		"hello.go": "package hello\n\nfunc Greet() string { return \"hi\" }\n"})
	m := newModules(t, Config{}, "GOPROXY=file://"+p, "GOMODCACHE="+t.TempDir(), "GOCACHE="+t.TempDir())
	imp := m.Importer(token.NewFileSet())
	if _, err := imp.Import("example.com/hello"); err == nil {
		t.Fatal("the module is there before it was added")
	}
	var said []string
	if err := m.Get(context.Background(), "example.com/hello@v1.2.3", func(s string) { said = append(said, s) }); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "added example.com/hello v1.2.3") }) {
		t.Errorf("progress was %q", said)
	}
	if last := said[len(said)-1]; last != "compiling example.com/hello" {
		t.Errorf("the last progress was %q", last)
	}
	pkg, err := imp.Import("example.com/hello")
	if err != nil || pkg.Scope().Lookup("Greet") == nil {
		t.Fatalf("importing: %v, %v", pkg, err)
	}
	before, _ := os.ReadFile(filepath.Join(m.Dir(), "go.mod"))
	if err := m.Get(context.Background(), "example.com/absent", nil); err == nil || !strings.Contains(err.Error(), "example.com/absent") {
		t.Errorf("getting an absent module: %v", err)
	}
	if after, _ := os.ReadFile(filepath.Join(m.Dir(), "go.mod")); !bytes.Equal(before, after) {
		t.Errorf("a failed get left go.mod changed:\n%s", after)
	}
	for _, bad := range []string{"", "-u", "a b"} {
		if err := m.Get(context.Background(), bad, nil); err == nil {
			t.Errorf("%q was got", bad)
		}
	}
}

// TestNotebookModule imports packages of the module around the notebook, and notices when they change.
func TestNotebookModule(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"go.mod":         "module example.com/mine\n\ngo 1.24\n\nrequire example.com/other v0.0.0\n\nreplace example.com/other => ./other dir\n",
		"shape/shape.go": "package shape\n\nfunc Area() int { return 1 }\n",
		"nb/x.txt":       "",
	})
	write(t, filepath.Join(dir, "other dir"), map[string]string{"go.mod": "module example.com/other\n\ngo 1.21\n", "o.go": "package other\n\nconst O = 1\n"})
	os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/mine\n\ngo 1.24\n\nrequire example.com/other v0.0.0\n\nreplace example.com/other => \"./other dir\"\n"), 0o644)
	m := newModules(t, Config{Notebook: filepath.Join(dir, "nb")})
	imp := m.Importer(token.NewFileSet())
	p, err := imp.Import("example.com/mine/shape")
	if err != nil || p.Scope().Lookup("Area") == nil {
		t.Fatalf("importing the notebook's package: %v, %v", p, err)
	}
	if _, err := imp.Import("example.com/other"); err != nil {
		t.Fatalf("importing a replaced module: %v", err)
	}
	if !m.IsLocal(filepath.Join(dir, "shape", "shape.go")) || m.IsLocal("/usr/lib/x.go") {
		t.Error("the wrong files count as the user's")
	}
	m.Warm(context.Background())
	if !slices.Contains(m.Paths(), "example.com/mine/shape") {
		t.Error("the notebook's packages are not offered")
	}
	if c := m.Changed(); len(c) != 0 {
		t.Errorf("changed: %v, want none", c)
	}
	file := filepath.Join(dir, "shape", "shape.go")
	write(t, dir, map[string]string{"shape/shape.go": "package shape\n\nfunc Area() int { return 1 }\n\nfunc Perimeter() int { return 4 }\n"})
	os.Chtimes(file, time.Now(), time.Now().Add(time.Second))
	if c := m.Changed(); !slices.Equal(c, []string{"example.com/mine/shape"}) {
		t.Errorf("changed: %v", c)
	}
	if c := m.Changed(); len(c) != 0 {
		t.Errorf("the same change is told twice: %v", c)
	}
	if p, err = imp.Import("example.com/mine/shape"); err != nil || p.Scope().Lookup("Perimeter") != nil {
		t.Errorf("the new version was read before it was adopted: %v, %v", p, err)
	}
	if l := m.Local(); !slices.Equal(l, []string{"example.com/mine/shape", "example.com/other"}) {
		t.Errorf("local packages: %q", l)
	}
	m.Adopt()
	if p, err = imp.Import("example.com/mine/shape"); err != nil || p.Scope().Lookup("Perimeter") == nil {
		t.Errorf("the new version was not read: %v, %v", p, err)
	}
	if _, err := imp.Import("example.com/mine/late"); err == nil {
		t.Fatal("a package was imported that is not there")
	}
	write(t, dir, map[string]string{"late/late.go": "package late\n"})
	m.mu.Lock()
	m.pkgs["example.com/mine/late"].at = time.Now().Add(-time.Minute)
	m.mu.Unlock()
	if _, err := imp.Import("example.com/mine/late"); err != nil {
		t.Errorf("a package that was made later: %v", err)
	}
	write(t, dir, map[string]string{"shape/shape.go": "package shape\n\nfunc Area() int { return \"x\" }\n"})
	os.Chtimes(file, time.Now(), time.Now().Add(2*time.Second))
	m.Adopt()
	if _, err = imp.Import("example.com/mine/shape"); err == nil || !strings.Contains(err.Error(), "shape.go:3") {
		t.Errorf("a package that does not compile: %v", err)
	}
}

func TestWorkspace(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"go.work": "go 1.24\n\nuse (\n\t./a\n\t./b\n)\n", "a/go.mod": "module example.com/a\n\ngo 1.24\n", "a/a.go": "package a\n\nconst A = 1\n",
		"b/go.mod": "module example.com/b\n\ngo 1.24\n", "b/b.go": "package b\n\nimport \"example.com/a\"\n\nconst B = a.A\n",
	})
	m := newModules(t, Config{Notebook: filepath.Join(dir, "b")})
	if _, err := m.Importer(token.NewFileSet()).Import("example.com/b"); err != nil {
		t.Errorf("importing from a workspace: %v", err)
	}
}

// TestBase takes over the requirements of another module, and refuses to move them.
func TestBase(t *testing.T) {
	base := t.TempDir()
	write(t, base, map[string]string{"go.mod": "module base\n\ngo 1.24\n\nrequire example.com/dep v0.0.0\n\nreplace example.com/dep => ./dep\n",
		"dep/go.mod": "module example.com/dep\n\ngo 1.21\n", "dep/d.go": "package dep\n"})
	m := newModules(t, Config{Base: base})
	if _, err := m.Importer(token.NewFileSet()).Import("example.com/dep"); err != nil {
		t.Errorf("importing from the base: %v", err)
	}
}

func TestForeignModuleIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	text := "module example.com/theirs\n\ngo 1.24\n"
	write(t, dir, map[string]string{"go.mod": text, "p/p.go": "package p\n"})
	goCmd, _ := exec.LookPath("go")
	m, err := New(context.Background(), Config{Go: goCmd, Dir: dir, Env: append(os.Environ(), "GOFLAGS=", "GOWORK=off")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Importer(token.NewFileSet()).Import("example.com/theirs/p"); err != nil {
		t.Error(err)
	}
	if err := m.Get(context.Background(), "example.com/x", nil); err == nil {
		t.Error("something was added to a module that is not the session's")
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "go.mod")); string(b) != text {
		t.Errorf("go.mod was changed:\n%s", b)
	}
}

// TestInterruptedListing stops a listing before it has begun: nothing is remembered of it.
func TestInterruptedListing(t *testing.T) {
	m := newModules(t, Config{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m.Prepare(ctx, []string{"fmt"})
	if len(m.pkgs) != 0 {
		t.Errorf("%d packages are known", len(m.pkgs))
	}
	if _, err := m.Importer(token.NewFileSet()).Import("fmt"); err != nil {
		t.Error(err)
	}
}

func TestNoToolchain(t *testing.T) {
	m, err := New(context.Background(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Importer(token.NewFileSet()).Import("fmt"); err == nil || !strings.Contains(err.Error(), "no Go toolchain") {
		t.Errorf("importing without a toolchain: %v", err)
	}
	if err := m.Get(context.Background(), "x.y/z", nil); err == nil {
		t.Error("got a module without a toolchain")
	}
	if p, err := m.Importer(token.NewFileSet()).Import("unsafe"); err != nil || p.Path() != "unsafe" {
		t.Errorf("unsafe: %v, %v", p, err)
	}
}

func TestStandard(t *testing.T) {
	m := newModules(t, Config{})
	for name, want := range map[string]string{"rand": "math/rand", "template": "text/template", "scanner": "text/scanner",
		"pprof": "runtime/pprof", "fmt": "fmt", "json": "encoding/json", "heap": "container/heap", "nothing": ""} {
		got := ""
		if l := m.Standard(name); len(l) > 0 {
			got = l[0]
		}
		if got != want {
			t.Errorf("%s means %q, want %q", name, got, want)
		}
	}
	if l := m.Standard("rand"); !slices.Equal(l, []string{"math/rand", "crypto/rand", "math/rand/v2"}) {
		t.Errorf("rand may mean %q", l)
	}
	if p := m.Paths(); !slices.Contains(p, "net/http/httptest") || slices.ContainsFunc(p, func(s string) bool { return strings.Contains(s, "internal") }) {
		t.Error("the paths are not those of the standard library")
	}
}

func TestNewer(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{{"v1.2.0", "v1.1.9", true}, {"v1.10.0", "v1.9.0", true}, {"v1.0.0", "v1.0.0", false}, {"v1.0.0", "v1.0.0-rc1", true},
		{"v1.0.0-rc1", "v1.0.0", false}, {"1.26", "1.24.0", true}, {"v0.0.0-2026", "v0.0.0-2025", true}, {"", "1.21", false}} {
		if got := newer(tt.a, tt.b); got != tt.want {
			t.Errorf("newer(%q, %q) = %v", tt.a, tt.b, got)
		}
	}
}
