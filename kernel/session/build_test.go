package session

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gander "github.com/gander-go/gander"
)

// TestSourcesAreComplete compares what is embedded with what the session process links.
func TestSourcesAreComplete(t *testing.T) {
	files, err := workspaceFiles()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"list", "-deps", "-json=ImportPath,Module,GoFiles,CgoFiles,SFiles,HFiles,CFiles,EmbedFiles",
		ownModule + "/kernel/session/worker/parts", ownModule + "/kernel/session/worker/plugins"}
	for _, p := range importable {
		args = append(args, ownModule+"/"+p)
	}
	cmd := exec.Command("go", args...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := map[string]bool{}
	for _, p := range gander.CellPackages {
		linked["gander/"+p] = true
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath                                            string
			Module                                                *struct{ Path string }
			GoFiles, CgoFiles, SFiles, HFiles, CFiles, EmbedFiles []string
		}
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Module == nil {
			continue
		}
		if p.Module.Path != ownModule {
			if known := map[string]bool{sessionModules[0]: true, sessionModules[1]: true}; !known[p.Module.Path] {
				t.Errorf("the session process links %s of module %s, which is not one of sessionModules", p.ImportPath, p.Module.Path)
			}
			continue
		}
		dir := "gander/" + strings.TrimPrefix(p.ImportPath, ownModule+"/")
		linked[dir] = true
		for _, list := range [][]string{p.GoFiles, p.CgoFiles, p.SFiles, p.HFiles, p.CFiles, p.EmbedFiles} {
			for _, f := range list {
				if files[dir+"/"+f] == nil {
					t.Errorf("embed.go lacks %s/%s", strings.TrimPrefix(dir, "gander/"), f)
				}
			}
		}
	}
	for f := range files {
		if dir := path.Dir(f); strings.HasPrefix(dir, "gander/") && !linked[dir] {
			t.Errorf("embed.go has %s, which neither the session process links nor cells can import", f)
		}
		if strings.HasSuffix(f, "_test.go") || strings.Contains(f, "testdata") {
			t.Errorf("the workspace has the test file %s", f)
		}
	}
}

// TestWorkspaceIsBuiltOnceAndOffline lets three kernels want a workspace that an earlier build has left half done.
func TestWorkspaceIsBuiltOnceAndOffline(t *testing.T) {
	b, err := built()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOPROXY", "off")
	cache := t.TempDir()
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Prepare(canceled, BuildConfig{CacheDir: cache}); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	half := filepath.Join(cache, "work", filepath.Base(b.w.Dir))
	if err := os.MkdirAll(half, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"main.go", "session.new"} {
		if err := os.WriteFile(filepath.Join(half, f), []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	builds, last, total := 0, 0, 0
	var wg sync.WaitGroup
	dirs := make([]string, 3)
	for i := range dirs {
		wg.Go(func() {
			w, err := Prepare(context.Background(), BuildConfig{CacheDir: cache, Progress: func(what string, done, of int) {
				mu.Lock()
				defer mu.Unlock()
				if what == "building the session process" && of == 0 {
					builds++
				}
				if of > 0 {
					last, total = done, of
				}
			}})
			if err != nil {
				t.Error(err)
				return
			}
			dirs[i] = w.Dir
			if out, err := w.Command(context.Background(), "list", ".").CombinedOutput(); err != nil || string(out) != Module+"\n" {
				t.Errorf("go list in the workspace: %v, %s", err, out)
			}
		})
	}
	wg.Wait()
	if dirs[0] != half {
		t.Errorf("built in %s, not in %s", dirs[0], half)
	}
	if builds != 1 || last == 0 || last > total || dirs[0] == "" || dirs[0] != dirs[1] || dirs[1] != dirs[2] {
		t.Errorf("%d builds, progress %d of %d, folders %q", builds, last, total, dirs)
	}
}

func TestNoToolchain(t *testing.T) {
	_, err := Prepare(context.Background(), BuildConfig{Go: filepath.Join(t.TempDir(), "go")})
	var missing *NoToolchain
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "go.dev") {
		t.Errorf("without go: %v", err)
	}
	t.Setenv("CC", "/nowhere/cc")
	_, err = Prepare(context.Background(), BuildConfig{CacheDir: t.TempDir()})
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "/nowhere/cc") {
		t.Errorf("without a C compiler: %v", err)
	}
}

func TestReadOnlyCacheIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Prepare(context.Background(), BuildConfig{CacheDir: file}); err == nil {
		t.Error("a cache that cannot be written is no error")
	}
}

func TestOldWorkspacesAreRemoved(t *testing.T) {
	root := t.TempDir()
	now := time.Now()
	ages := map[string]time.Duration{"current": 0, "young": time.Hour, "old": keepWorkspaces + time.Hour}
	for name, age := range ages {
		dir := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Join(dir, "gander"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "session"), nil, 0o755); err != nil {
			t.Fatal(err)
		}
		os.WriteFile(dir+".lock", nil, 0o644)
		os.Chtimes(dir, now.Add(-age), now.Add(-age))
	}
	prune(filepath.Join(root, "current"))
	for name := range ages {
		_, err := os.Stat(filepath.Join(root, name))
		if gone := err != nil; gone != (name == "old") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
