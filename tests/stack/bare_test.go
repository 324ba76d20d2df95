package stack

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gander-go/gander/kernel/eval"
)

// TestNoToolchain runs a small notebook on a machine without Go: it is interpreted, and what cannot be is refused with the way out.
func TestNoToolchain(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	b := open(t, "")
	for _, c := range []struct{ code, value string }{
		{"prices := map[string]float64{\"tea\": 2.5, \"milk\": 1.25}", ""},
		{"total := 0.0\nfor _, p := range prices {\n\ttotal += p\n}", ""},
		{"total", "3.75"},
		{"import \"strings\"\nwords := strings.Fields(\"a b a c\")\ncount := map[string]int{}\nfor _, w := range words {\n\tcount[w]++\n}", ""},
		{"count[\"a\"]", "2"},
		{"fmt.Sprintf(\"%d words, %v\", len(words), count)", `4 words, map[a:2 b:1 c:1]`},
		{"import \"sort\"\nsort.Strings(words)\nwords[0] + words[3]", "ac"},
		{"import \"slices\"\nimport \"maps\"\nslices.Sorted(maps.Keys(count))", "[a b c]"},
		{"n := []int{3, 1, 2}\nslices.Sort(n)\nslices.Reverse(n)\nfmt.Sprint(n, slices.Contains(n, 2), slices.Index(n, 1), slices.Max(n))", "[3 2 1] true 2 3"},
		{"import \"net/url\"\nu, err := url.Parse(\"http://example.com/a?q=1\")\nu.Query().Get(\"q\")", "1"},
		{"import \"encoding/csv\"\nrows, err := csv.NewReader(strings.NewReader(\"a,b\\nc,d\\n\")).ReadAll()\nrows[1][0]", "c"},
		{"import \"syscall\"\nsyscall.Getpid() == os.Getpid()", "true"},
	} {
		if v := b.ok(c.code); strings.Trim(v, `"`) != c.value {
			t.Errorf("%s\ngives %s, want %s", c.code, v, c.value)
		}
	}
	b.fails("type T struct{ a int }", "NotSupported", "declares the type T", "needs the go command", "gander doctor")
	b.fails("slices.Sort([]uint16{1})", "NotSupported", "not carried")
	b.fails("import \"example.com/nothing\"", "CompileError", "not at hand")
	b.fails("total + undefined", "CompileError", "undefined: undefined", "^^^^^^^^^")
	if v := b.ok("total"); v != "3.75" {
		t.Errorf("after a refusal the total is %s", v)
	}
	b.failed(b.run(context.Background(), eval.Native, "1"), "1", "NotSupported", "gander doctor")
}

// TestNoCompiler does without the C compiler, which building the session process and cells takes.
func TestNoCompiler(t *testing.T) {
	goCmd, err := exec.LookPath("go")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	dir := t.TempDir()
	if err := os.Symlink(goCmd, filepath.Join(dir, "go")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Setenv("CC", "")
	//lint:ignore SA1019 the tests run where they were built, with the toolchain that built them
	t.Setenv("GOROOT", runtime.GOROOT())
	b := open(t, "")
	if v := b.ok("x := 20\nx + 22"); v != "42" {
		t.Errorf("x + 22 is %s", v)
	}
	b.fails("func f() {}", "NotSupported", "C compiler", "gander doctor")
}

// TestUnwritableCache works with a cache of built cells that nothing can be put into.
func TestUnwritableCache(t *testing.T) {
	base, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	work := filepath.Join(base, "gander", "work")
	if _, err := os.Stat(work); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	open(t, "").ok("1") // the session process is built
	cache := t.TempDir()
	if err := os.MkdirAll(filepath.Join(cache, "gander"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(work, filepath.Join(cache, "gander", "work")); err != nil {
		t.Fatal(err)
	}
	write(t, cache, map[string]string{"gander/cells": "a file where the folder should be"})
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(out)))
	t.Setenv("XDG_CACHE_HOME", cache)
	b := open(t, "")
	b.okIn(eval.Native, "func f() int { return 42 }")
	if v := b.okIn(eval.Native, "f()"); v != "42" {
		t.Errorf("f() is %s", v)
	}
}
