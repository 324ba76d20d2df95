package stack

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gander-go/gander/kernel/eval"
)

// TestNoCacheFolder works where the user's cache folder cannot be made: everything is built in a temporary folder, and the user is told so once.
func TestNoCacheFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the session process")
	}
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(out)))
	dir, temp := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"file": ""})
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "file"))
	t.Setenv("TMPDIR", temp)
	b := open(t, "")
	if v := b.okIn(eval.Native, "func f() int { return 42 }\nf()"); v != "42" {
		t.Errorf("f() is %s", v)
	}
	if s := b.out.Take(); !strings.Contains(s, "Note: the cache folder cannot be used") || !strings.Contains(s, temp) {
		t.Errorf("the user is told %q", s)
	}
	b.okIn(eval.Native, "func g() int { return f() }")
	if s := b.out.Take(); s != "" {
		t.Errorf("the user is told again: %q", s)
	}
	if l, _ := filepath.Glob(filepath.Join(temp, "gander-cache-*", "cells", "*.so")); len(l) == 0 {
		t.Error("built cells are not kept")
	}
}
