package mods

import (
	"go/build"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// preferred are the packages that a name means when several standard packages have it, as goimports chooses.
var preferred = map[string]string{
	"pprof":    "runtime/pprof",
	"rand":     "math/rand",
	"scanner":  "text/scanner",
	"template": "text/template",
}

// Standard returns the import paths of the standard packages of that name, the preferred one first.
func (m *Modules) Standard(name string) []string {
	return m.standard()[name]
}

// StandardNames returns the names of all standard packages.
func (m *Modules) StandardNames() []string {
	var out []string
	for name := range m.standard() {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// standard finds the packages of the installed Go by the folders that have Go files.
func (m *Modules) standard() map[string][]string {
	m.std.once.Do(func() {
		m.std.byName = map[string][]string{}
		if m.cfg.GOROOT == "" {
			for _, p := range m.cfg.Carried {
				m.std.byName[packageName(p)] = append(m.std.byName[packageName(p)], p)
			}
			m.sortStandard()
			return
		}
		root := filepath.Join(m.cfg.GOROOT, "src")
		fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error { //nolint:errcheck // what cannot be read is no package
			if err != nil || !d.IsDir() {
				return nil
			}
			switch d.Name() {
			case "internal", "vendor", "testdata", "cmd", "builtin":
				return fs.SkipDir
			}
			if p != "." && hasGo(filepath.Join(root, filepath.FromSlash(p))) {
				name := packageName(p)
				m.std.byName[name] = append(m.std.byName[name], p)
			}
			return nil
		})
		m.sortStandard()
	})
	return m.std.byName
}

func (m *Modules) sortStandard() {
	for name, l := range m.std.byName {
		slices.SortFunc(l, func(a, b string) int {
			return slices.Compare(rank(name, a), rank(name, b))
		})
	}
}

// rank orders packages of one name: the preferred one, then by depth, newer major versions last.
func rank(name, p string) []int {
	r := []int{1, 0, strings.Count(p, "/"), 0}
	if preferred[name] == p {
		r[0] = 0
	}
	if isVersion(path.Base(p)) {
		r[1] = 1
	}
	for _, c := range p { // the same depth: in order of the alphabet
		r = append(r, int(c))
	}
	return r
}

// packageName is what a standard package of that path is called.
func packageName(p string) string {
	if b := path.Base(p); isVersion(b) {
		return path.Base(path.Dir(p))
	}
	return path.Base(p)
}

func isVersion(s string) bool {
	return len(s) > 1 && s[0] == 'v' && strings.Trim(s[1:], "0123456789") == ""
}

func hasGo(dir string) bool {
	files, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".go") && !strings.HasSuffix(f.Name(), "_test.go") {
			if ok, err := build.Default.MatchFile(dir, f.Name()); ok && err == nil { // not an experiment
				return true
			}
		}
	}
	return false
}

// Paths returns the import paths of the standard packages and of what is known of the session's module, sorted.
func (m *Modules) Paths() []string {
	var out []string
	for _, l := range m.standard() {
		out = append(out, l...)
	}
	m.mu.Lock()
	for _, p := range m.own {
		if !strings.Contains("/"+p+"/", "/internal/") {
			out = append(out, p)
		}
	}
	for p, l := range m.pkgs {
		if !l.Standard && l.Name != "main" && l.Name != "" && !strings.Contains("/"+p+"/", "/internal/") {
			out = append(out, p)
		}
	}
	m.mu.Unlock()
	slices.Sort(out)
	return slices.Compact(out)
}
