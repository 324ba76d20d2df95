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
	"time"
)

// listed is what the go command says about a package.
type listed struct {
	ImportPath string
	Name       string
	Dir        string
	Export     string // file with its export data
	Standard   bool
	Incomplete bool
	Module     *struct {
		Path    string
		Main    bool
		Version string
		Replace *struct{ Version string }
	}
	Error *struct{ Err string }
	// DepsErrors are those of packages that it imports, its own included.
	DepsErrors []struct{ Err string }
	GoFiles    []string
	CgoFiles   []string

	at time.Time // when it was listed
}

// retry is how long a package that could not be imported is not asked for again.
const retry = 3 * time.Second

// settled reports whether p need not be listed.
func (p *listed) settled() bool { return p != nil && (p.Export != "" || time.Since(p.at) < retry) }

const listFields = "-json=ImportPath,Name,Dir,Export,Standard,Incomplete,Module,Error,DepsErrors,GoFiles,CgoFiles"

// isLocal reports whether the package's files may change under us: it is neither standard nor in the module cache.
func (p *listed) isLocal() bool {
	if p.Standard || p.Module == nil || p.Dir == "" {
		return false
	}
	return p.Module.Main || p.Module.Replace != nil && p.Module.Replace.Version == ""
}

// local is the state of a local package's folder when it was listed.
type local struct {
	dir   string
	stamp string
}

// stamp sums up the Go files of a folder by name, size and time.
func stamp(dir string) string {
	files, err := os.ReadDir(dir)
	if err != nil {
		return "gone"
	}
	var b strings.Builder
	for _, f := range files {
		if st, err := f.Info(); err == nil && !f.IsDir() && !strings.HasSuffix(f.Name(), "_test.go") {
			fmt.Fprintln(&b, f.Name(), st.Size(), st.ModTime().UnixNano())
		}
	}
	return b.String()
}

// Prepare lists those of paths that are not known yet, in one go.
func (m *Modules) Prepare(ctx context.Context, paths []string) { m.list(ctx, paths) }

// Warm lists the standard packages that cells use most, so that the first cell does not wait for it, and finds out what the
// notebook's modules hold, for completion.
func (m *Modules) Warm(ctx context.Context) {
	m.list(ctx, common)
	if m.cfg.Go == "" || len(m.roots) == 0 {
		return
	}
	args := slices.Concat([]string{"list", "-e", "-f", "{{if ne .Name \"main\"}}{{.ImportPath}}{{end}}"}, m.listFlags(), []string{"--"})
	for _, r := range m.roots {
		args = append(args, r+"/...")
	}
	out, err := m.command(ctx, args...).Output()
	if err != nil {
		return
	}
	m.mu.Lock()
	m.own = strings.Fields(string(out))
	m.mu.Unlock()
}

// listFlags are the flags of go list: it never changes the module.
func (m *Modules) listFlags() []string {
	return slices.DeleteFunc(slices.Clone(m.cfg.Flags), func(f string) bool { return strings.HasPrefix(f, "-mod=") })
}

var common = []string{"bufio", "bytes", "context", "encoding/json", "errors", "fmt", "io", "maps", "math", "math/rand",
	"os", "path/filepath", "reflect", "regexp", "runtime", "slices", "sort", "strconv", "strings", "sync", "sync/atomic",
	"time", "unicode/utf8"}

// list runs the go command for the paths that are not known. What is known can be read meanwhile.
func (m *Modules) list(ctx context.Context, paths []string) {
	m.listing.Lock()
	defer m.listing.Unlock()
	need := m.unknown(paths)
	if len(need) == 0 || m.cfg.Go == "" {
		return
	}
	args := slices.Concat([]string{"list", "-e", "-export", "-deps", listFields}, m.listFlags(), []string{"--"}, need)
	cmd := m.command(ctx, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	dec := json.NewDecoder(&stdout)
	for dec.More() {
		p := &listed{at: time.Now()}
		if dec.Decode(p) != nil {
			break
		}
		if old := m.pkgs[p.ImportPath]; old != nil && old.Export != "" {
			continue // what was handed out stays, until Adopt
		}
		m.pkgs[p.ImportPath] = p
		if p.isLocal() {
			m.locals[p.ImportPath] = local{p.Dir, stamp(p.Dir)}
		}
	}
	said := compilerWords(stderr.String())
	for _, p := range need {
		l := m.pkgs[p]
		if l == nil {
			l = &listed{ImportPath: p, at: time.Now()}
			m.pkgs[p] = l
		}
		if l.Export == "" && l.Error == nil && len(l.DepsErrors) == 0 {
			if said == "" && err != nil {
				said = err.Error()
			}
			l.Error = &struct{ Err string }{said}
		}
	}
}

// Known reports whether importing path needs no go command.
func (m *Modules) Known(path string) bool {
	return m.cfg.Go == "" || len(m.unknown([]string{path})) == 0
}

// unknown are the valid ones of paths that have not been listed.
func (m *Modules) unknown(paths []string) (need []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range paths {
		if !m.pkgs[p].settled() && valid(p) && !slices.Contains(need, p) {
			need = append(need, p)
		}
	}
	return need
}

// compilerWords drops the package headers ("# path") from what the go command said.
func compilerWords(s string) string {
	var keep []string
	for line := range strings.Lines(s) {
		if line = strings.TrimRight(line, "\n"); line != "" && !strings.HasPrefix(line, "#") {
			keep = append(keep, line)
		}
	}
	return strings.Join(keep, "\n")
}

// valid reports whether path may be given to the go command as a package.
func valid(path string) bool {
	return path != "" && path != "C" && path != "unsafe" && !strings.HasPrefix(path, "-") && !strings.Contains(path, "...") &&
		!strings.ContainsAny(path, " \t\r\n\\\"'`*?[]{}()!@#$%^&=+;:,<>|") && !filepath.IsAbs(path) &&
		path != "all" && path != "std" && path != "cmd" && path != "tool" && path != "work"
}

// Changed returns the local packages whose files have changed on disk since they were listed, each change once. Nothing
// else happens: imports yield what was listed until Adopt.
func (m *Modules) Changed() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var changed []string
	for path, l := range m.locals {
		if now := stamp(l.dir); now != l.stamp {
			l.stamp = now
			m.locals[path] = l
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	return changed
}

// Adopt takes all packages as they are on disk now.
func (m *Modules) Adopt() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget()
	clear(m.locals)
}

// Local returns the local packages that were listed: what cells have imported, and what that imports.
func (m *Modules) Local() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for path := range m.locals {
		out = append(out, path)
	}
	slices.Sort(out)
	return out
}

// failure explains why path cannot be imported, in the go command's words, and says what to do. m.mu is held.
func (m *Modules) failure(path string) error {
	if m.cfg.Go == "" {
		return errNoGo
	}
	p := m.pkgs[path]
	if p == nil {
		return fmt.Errorf("%q is no import path", path)
	}
	msg := ""
	if p.Error != nil {
		msg = p.Error.Err
	}
	for _, d := range p.DepsErrors {
		if msg == "" {
			msg = d.Err
		}
	}
	msg = strings.TrimSpace(msg)
	if head, _, ok := strings.Cut(msg, "; to add it:"); ok {
		return fmt.Errorf("%s; to add it:\n\t%%get %s", head, path)
	}
	if strings.Contains(msg, "is not in std") && strings.Contains(strings.SplitN(path, "/", 2)[0], ".") {
		return fmt.Errorf("%s; to add it:\n\t%%get %s", msg, path)
	}
	if strings.Contains(msg, "missing go.sum entry") || strings.Contains(msg, "updates to go.mod needed") {
		return fmt.Errorf("%s; to repair it:\n\t%%get %s", strings.Split(msg, "\n")[0], path)
	}
	if msg == "" {
		msg = fmt.Sprintf("package %s cannot be compiled", path)
	}
	return fmt.Errorf("%s", msg)
}

// IsLocal reports whether a source file is in a folder of a local package, or of the notebook's modules. Packages of Base
// are nobody's own.
func (m *Modules) IsLocal(file string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir := filepath.Dir(file)
	if m.cfg.Base != "" && strings.HasPrefix(dir, m.cfg.Base+string(filepath.Separator)) {
		return false
	}
	for _, l := range m.locals {
		if l.dir == dir {
			return true
		}
	}
	return false
}
