package doctor

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func byName(checks []Check) map[string]Check {
	m := map[string]Check{}
	for _, c := range checks {
		m[c.Name] = c
	}
	return m
}

func TestBareMachine(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("JUPYTER_DATA_DIR", t.TempDir())
	t.Setenv("CC", "")
	got := byName(Run(context.Background()))
	for name, want := range map[string]Status{"Go toolchain": Missing, "C compiler": Missing, "Jupyter": Optional, "cache": Found} {
		c := got[name]
		if c.Status != want {
			t.Errorf("%s is %s (%s), want %s", name, c.Status, c.Detail, want)
		}
		if want != Found && c.Fix == "" {
			t.Errorf("%s says nothing of how to get it", name)
		}
	}
	if Healthy(Run(context.Background())) {
		t.Error("a machine without Go counts as healthy")
	}
}

func TestOldGo(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\necho go1.20.1\n"), 0o755)
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	if c := goToolchain(context.Background()); c.Status != Wrong || !strings.Contains(c.Detail, "go1.20.1") {
		t.Errorf("%+v", c)
	}
}

func TestUnwritableCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o644)
	t.Setenv("XDG_CACHE_HOME", file)
	if c := cache(); c.Status != Wrong {
		t.Errorf("%+v", c)
	}
}

func TestPrint(t *testing.T) {
	var b bytes.Buffer
	Print(&b, []Check{{"A", Found, "here", "unused"}, {"B", Missing, "not here", "get it"}})
	if got := b.String(); !strings.Contains(got, "✓ A") || strings.Contains(got, "unused") || !strings.Contains(got, "→ get it") {
		t.Errorf("%q", got)
	}
}
