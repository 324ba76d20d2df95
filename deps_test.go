package gander

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/gander-go/gander/"

// listed is a package as `go list -json` prints it.
type listed struct {
	ImportPath string
	Standard   bool
	Deps       []string
	Imports    []string
}

// TestDependencies keeps the layers of ARCHITECTURE.md: it fails on any package that links what it must not.
func TestDependencies(t *testing.T) {
	pkgs := map[string]*listed{}
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Deps,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		p := &listed{}
		if err := dec.Decode(p); err != nil {
			t.Fatal(err)
		}
		pkgs[p.ImportPath] = p
	}
	short := func(path string) string { return strings.TrimPrefix(path, module) }
	under := func(path, dir string) bool { return path == module+dir || strings.HasPrefix(path, module+dir+"/") }

	// links lists what a package may link beside the standard library: our own folders, and other modules.
	links := func(pkg string, allowed ...string) {
		t.Helper()
		p := pkgs[module+pkg]
		if p == nil {
			t.Errorf("there is no package %s", pkg)
			return
		}
	deps:
		for _, d := range p.Deps {
			if q := pkgs[d]; q == nil || q.Standard || d == module+pkg {
				continue
			}
			for _, a := range allowed {
				if under(d, a) || strings.HasPrefix(d, a) && strings.Contains(a, ".") {
					continue deps
				}
			}
			t.Errorf("%s links %s; it may link only %v", pkg, short(d), allowed)
		}
	}
	// never forbids packages to link others.
	never := func(dir string, forbidden ...string) {
		t.Helper()
		for path, p := range pkgs {
			if !under(path, dir) {
				continue
			}
			for _, d := range p.Deps {
				for _, f := range forbidden {
					if under(d, f) {
						t.Errorf("%s links %s", short(path), short(d))
					}
				}
			}
		}
	}

	const goid = "github.com/petermattis/goid"
	links("profiler/trace")
	links("kernel/cell")
	links("kernel/session/link")
	links("kernel/session/rt", goid)
	links("display")
	links("profiler/record", "profiler/trace", goid)
	links("profiler/goruntime", "profiler/trace", "profiler/record", goid)
	links("profiler/analyze", "profiler/trace")
	links("profiler/kineto", "profiler/trace")
	links("profiler", "profiler", goid)
	links("profiler/timing")
	links("kernel/session/worker", "kernel/session", "display", goid)
	links("cuda", "cuda", "profiler", goid)
	links("cuda/driver")
	links("cuda/bind")
	links("cuda/nvrtc", "cuda/internal")
	links("cuda/nvml", "profiler/trace", "github.com/NVIDIA/go-nvml", "golang.org/x/sys")
	links("kernel/session/worker/parts", "kernel/session", "display", "profiler", "cuda", goid, "github.com/traefik/yaegi")

	never("kernel/session/worker/parts", "cuda/driver", "cuda/nvml", "cuda/nvrtc", "cuda/bind", "cuda/standin")
	never("profiler", "kernel/eval", "kernel/wire", "magics", "cmd", "internal/nbhtml")
	never("render", "kernel", "magics", "cmd")
	never("magics", "kernel/session", "kernel/eval", "cmd")
	never("kernel/wire", "profiler", "render", "magics", "kernel/eval", "kernel/session")
	never("cmd", "cuda/standin")
	never("kernel/eval", "magics", "render", "kernel/wire", "cmd")
	for path, p := range pkgs {
		if path == module+"kernel" {
			for _, d := range p.Deps {
				for _, f := range []string{"magics", "profiler", "render", "kernel/eval", "kernel/session"} {
					if under(d, f) {
						t.Errorf("kernel links %s", short(d))
					}
				}
			}
		}
	}
}
