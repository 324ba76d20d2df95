package native

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gander-go/gander/kernel/eval/check"
	"github.com/gander-go/gander/kernel/session/link"
)

const small = "func f() int { return 42 }\nf()"

// TestDamagedCache finds files in the cache that are cut short, changed or empty: they are built again.
func TestDamagedCache(t *testing.T) {
	for what, damage := range map[string]func(b []byte) []byte{
		"cut short": func(b []byte) []byte { return b[:len(b)/3] },
		"changed":   func(b []byte) []byte { b[len(b)/2] ^= 0xff; return b },
		"empty":     func([]byte) []byte { return nil },
	} {
		t.Run(what, func(t *testing.T) {
			cache := t.TempDir()
			startCached(t, cache).must(small)
			n := 0
			for _, ext := range []string{"*.so", "*.a"} {
				files, _ := filepath.Glob(filepath.Join(cache, ext))
				for _, f := range files {
					b, err := os.ReadFile(f)
					if err != nil {
						t.Fatal(err)
					}
					os.Remove(f) // the first engine has a link to it
					if err := os.WriteFile(f, damage(b), 0o644); err != nil {
						t.Fatal(err)
					}
					n++
				}
			}
			if n != 2 {
				t.Fatalf("%d files in the cache, want a plugin and an archive", n)
			}
			if r := startCached(t, cache).must(small); r.Shown[0] != "42" {
				t.Errorf("shown %q", r.Shown)
			}
			q := startCached(t, cache) // and what was built anew is sound
			q.engine.tools.toolDir = "/nowhere"
			q.must(small)
		})
	}
}

// TestForeignPlugin finds a plugin in the cache that another toolchain has made: the session process refuses it, and it is built again.
func TestForeignPlugin(t *testing.T) {
	cache := t.TempDir()
	startCached(t, cache).must(small)
	files, _ := filepath.Glob(filepath.Join(cache, "*.so"))
	if len(files) != 1 {
		t.Fatalf("plugins %v", files)
	}
	src := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(src, []byte("package main\n\nimport \"fmt\"\n\nfunc Cell() { fmt.Println() }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	os.Remove(files[0])
	cmd := exec.Command("go", "build", "-buildmode=plugin", "-gcflags=all=-l", "-o", files[0], src) // other flags stand for another toolchain
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sum, err := checkSum(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0]+sumExt, []byte(sum), 0o644); err != nil {
		t.Fatal(err)
	}
	p := startCached(t, cache)
	_, _, err = p.run(small)
	if err == nil || !strings.Contains(err.Error(), "different version") {
		t.Fatalf("the foreign plugin is not refused: %v", err)
	}
	u := link.Unit{Plugins: []string{p.engine.path(filepath.Base(files[0]))}}
	if !p.engine.Discard(u) || p.engine.Discard(u) {
		t.Error("there is no hope the first time, or some the second")
	}
	if r := p.must(small); r.Shown[0] != "42" {
		t.Errorf("shown %q", r.Shown)
	}
	startCached(t, cache).must(small)
}

// tinyDisk is a file system of its own that holds no more than that many KiB.
func tinyDisk(t *testing.T, size string, flags uintptr) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", flags, "size="+size+"k"); err != nil {
		t.Skipf("SKIPPED: full disks are not tested: mounting needs the rights of root: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// TestFullCache builds with caches that take nothing, and says so once.
func TestFullCache(t *testing.T) {
	for what, dir := range map[string]string{"full": tinyDisk(t, "64", 0), "read-only": tinyDisk(t, "64", unix.MS_RDONLY)} {
		p := startCached(t, dir)
		if r := p.must(small); r.Shown[0] != "42" {
			t.Errorf("%s: shown %q", what, r.Shown)
		}
		notes := p.engine.Notes()
		if len(notes) != 1 || !strings.Contains(notes[0], "not kept") {
			t.Errorf("%s: notes %q", what, notes)
		}
		p.must("func g() int { return f() + 1 }\ng()")
		if n := p.engine.Notes(); len(n) != 0 {
			t.Errorf("%s: told again: %q", what, n)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*.so")); len(left) != 0 {
			t.Errorf("%s: half a file is left: %v", what, left)
		}
	}
}

// TestFullTemp builds beside the cache when the disk for temporary files is full.
func TestFullTemp(t *testing.T) {
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	cache, temp := t.TempDir(), tinyDisk(t, "256", 0)
	home := t.TempDir()
	t.Setenv("TMPDIR", temp)
	e, err := New(Options{Workspace: s.ws, CacheDir: cache})
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, engine: e, check: check.New(s.mods), stdout: filepath.Join(home, "stdout")}
	p.launch()
	t.Cleanup(func() { p.stop(); e.Close() })
	if err := os.WriteFile(filepath.Join(temp, "fill"), make([]byte, 1<<20), 0o644); err == nil {
		t.Fatal("the tiny disk is not tiny")
	}
	if r := p.must(small); r.Shown[0] != "42" {
		t.Errorf("shown %q", r.Shown)
	}
	if notes := e.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "is full") {
		t.Errorf("notes %q", notes)
	}
	p.must("func g() int { return f() + 1 }\ng()")
	e.Close()
	if left, _ := filepath.Glob(filepath.Join(cache, workPrefix+"*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
