package mods

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// modFile is what `go mod edit -json` and `go work edit -json` print.
type modFile struct {
	Module  struct{ Path string }
	Go      string
	Require []struct {
		Path, Version string
		Indirect      bool
	}
	Replace []replacement
	Use     []struct{ DiskPath string }
}

// madeHere is the first line of every go.mod that writeModule writes.
const madeHere = "// Made by gander for one session of a notebook.\n"

type replacement struct {
	Old, New struct{ Path, Version string }
}

// writeModule makes go.mod and go.sum out of the base's and those around the notebook. The notebook's module is
// required and replaced by its folder, so that its packages have the paths they have at home.
//
// A go.mod in the folder that is not of this making is somebody's module: it is used as it is, and never written to.
func (m *Modules) writeModule() error {
	if old, err := os.ReadFile(filepath.Join(m.cfg.Dir, "go.mod")); err == nil && !bytes.HasPrefix(old, []byte(madeHere)) {
		m.foreign = true
		return nil
	}
	w := modWriter{m: m, requires: map[string]string{}, replaces: map[string]string{}, goVersion: "1.21"}
	if m.cfg.Base != "" {
		if err := w.take(filepath.Join(m.cfg.Base, "go.mod"), false); err != nil {
			return err
		}
	}
	for _, dir := range m.notebookModules() {
		if err := w.take(filepath.Join(dir, "go.mod"), true); err != nil {
			return err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%smodule gander.session\n\ngo %s\n", madeHere, w.goVersion)
	for _, p := range sorted(w.requires) {
		fmt.Fprintf(&b, "\nrequire %s %s\n", p, w.requires[p])
	}
	for _, p := range sorted(w.replaces) {
		fmt.Fprintf(&b, "\nreplace %s => %s\n", p, w.replaces[p])
	}
	if err := os.WriteFile(filepath.Join(m.cfg.Dir, "go.mod"), []byte(b.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(m.cfg.Dir, "go.sum"), w.sums.Bytes(), 0o644)
}

type modWriter struct {
	m         *Modules
	requires  map[string]string
	replaces  map[string]string
	goVersion string
	sums      bytes.Buffer
}

// take adds what the go.mod file at path asks for, and the module itself when it is the user's.
func (w *modWriter) take(path string, own bool) error {
	f, err := w.m.readModFile("mod", path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if own && f.Module.Path != "" {
		w.m.roots = append(w.m.roots, f.Module.Path)
		w.requires[f.Module.Path] = "v0.0.0-00010101000000-000000000000"
		w.replaces[f.Module.Path] = quote(dir)
	}
	if newer(f.Go, w.goVersion) {
		w.goVersion = f.Go
	}
	for _, r := range f.Require {
		if old := w.requires[r.Path]; old == "" || w.replaces[r.Path] == "" && newer(r.Version, old) {
			w.requires[r.Path] = r.Version
		}
	}
	for _, r := range f.Replace {
		to := r.New.Path
		if r.New.Version != "" {
			to += " " + r.New.Version
		} else if !filepath.IsAbs(to) {
			to = quote(filepath.Join(dir, to))
		} else {
			to = quote(to)
		}
		from := strings.TrimSpace(r.Old.Path + " " + r.Old.Version)
		if w.replaces[from] == "" {
			w.replaces[from] = to
		}
	}
	if sum, err := os.ReadFile(filepath.Join(dir, "go.sum")); err == nil {
		w.sums.Write(bytes.TrimRight(sum, "\n"))
		w.sums.WriteByte('\n')
	}
	return nil
}

func quote(s string) string {
	if strings.ContainsAny(s, " \t\"'`(),") {
		return fmt.Sprintf("%q", s)
	}
	return s
}

func (m *Modules) readModFile(kind, path string) (*modFile, error) {
	cmd := m.command(context.Background(), kind, "edit", "-json", path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %s", path, strings.TrimSpace(stderr.String()))
	}
	var f modFile
	if err := json.Unmarshal(out, &f); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return &f, nil
}

// notebookModules are the folders of the modules that the notebook's folder belongs to: those of the workspace around
// it, or the one around it.
func (m *Modules) notebookModules() []string {
	if m.cfg.Notebook == "" {
		return nil
	}
	if work := upwards(m.cfg.Notebook, "go.work"); work != "" {
		if f, err := m.readModFile("work", work); err == nil {
			var dirs []string
			for _, u := range f.Use {
				dir := u.DiskPath
				if !filepath.IsAbs(dir) {
					dir = filepath.Join(filepath.Dir(work), dir)
				}
				if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
					dirs = append(dirs, dir)
				}
			}
			return dirs
		}
	}
	if mod := upwards(m.cfg.Notebook, "go.mod"); mod != "" {
		return []string{filepath.Dir(mod)}
	}
	return nil
}

// upwards finds the nearest file of that name in dir and the folders above it.
func upwards(dir, name string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for {
		p := filepath.Join(dir, name)
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() {
			return p
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// pinned are the versions of the modules that the base requires.
func (m *Modules) pinned(ctx context.Context) map[string]string {
	if m.cfg.Base == "" {
		return nil
	}
	base, err := m.readModFile("mod", filepath.Join(m.cfg.Base, "go.mod"))
	if err != nil {
		return nil
	}
	now, err := m.readModFile("mod", filepath.Join(m.cfg.Dir, "go.mod"))
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for _, r := range now.Require {
		for _, b := range base.Require {
			if b.Path == r.Path {
				out[r.Path] = r.Version
			}
		}
	}
	return out
}

// moved names a module whose version differs.
func (m *Modules) moved(before, after map[string]string) string {
	for _, p := range sorted(before) {
		if after[p] != before[p] {
			return p
		}
	}
	return ""
}

func sorted(m map[string]string) []string {
	l := make([]string, 0, len(m))
	for k := range m {
		l = append(l, k)
	}
	slices.Sort(l)
	return l
}

// newer compares versions number by number; what is no number counts as 0. Pre-releases of equal numbers compare as
// text, which puts pseudo-versions in order of time.
func newer(a, b string) bool {
	num := func(s string) (out []int, rest string) {
		s = strings.TrimPrefix(s, "v")
		main, rest, _ := strings.Cut(s, "-")
		for _, f := range strings.Split(main, ".") {
			n := 0
			fmt.Sscanf(f, "%d", &n) //nolint:errcheck // see above
			out = append(out, n)
		}
		return out, rest
	}
	x, xr := num(a)
	y, yr := num(b)
	if c := slices.Compare(x, y); c != 0 {
		return c > 0
	}
	if xr == "" || yr == "" {
		return xr == "" && yr != ""
	}
	return xr > yr
}
