package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A process cannot load two versions of an import path. So a package that changes after the session process has loaded it gets another
// path, gander/m<hash>/<path>, and an import map makes the text of later cells mean that one. What was compiled before keeps the old
// version, with its types and its variables.

// Reload is told that packages have changed, in the session's module or on disk (no paths: any may have). The error says why
// units that are built from now on use them as they were loaded, and not as they are now. See eval.Reloader.
func (e *Engine) Reload(paths []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tables.forget()
	t := e.tools
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(paths) == 0 {
		for p, q := range t.pkgs {
			if !t.fixed(p, q) && !e.used[p] {
				delete(t.pkgs, p)
			}
		}
		if len(e.used) > 0 {
			return errors.New("a package that is loaded stays as it is")
		}
		return nil
	}
	affected := slices.Clone(paths)
	inUse := false
	for p, q := range t.pkgs {
		if slices.ContainsFunc(q.Deps, func(d string) bool { return slices.Contains(paths, d) }) && !strings.HasPrefix(p, modulePrefix) {
			affected = append(affected, p)
		}
	}
	for _, p := range affected {
		inUse = inUse || e.used[p]
	}
	if !inUse {
		for _, p := range affected {
			delete(t.pkgs, p)
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := e.moveAll(ctx, affected); err != nil {
		var te *toolError
		if errors.As(err, &te) && te.tool == "compile" {
			return errors.New("it does not compile\n" + te.output)
		}
		return err
	}
	return nil
}

// source is a package as go list -json describes it.
type source struct {
	ImportPath, Dir                                        string
	GoFiles, CgoFiles, SFiles, EmbedFiles, Imports, CFiles []string
	Module                                                 *struct{ GoVersion string }
	Error                                                  *struct{ Err string }
}

// moveAll compiles packages under new paths, those that others import first.
func (e *Engine) moveAll(ctx context.Context, paths []string) error {
	t := e.tools
	ws := t.opt.Workspace
	args := append([]string{"list"}, ws.Flags...)
	args = append(args, "-json=ImportPath,Dir,GoFiles,CgoFiles,SFiles,EmbedFiles,CFiles,Imports,Module,Error", "--")
	cmd := command(ctx, ws.Go, append(args, paths...)...)
	cmd.Dir, cmd.Env = t.opt.Dir, ws.Env
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("listing changed packages: %w", err)
	}
	left := map[string]*source{}
	var others []string
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		s := new(source)
		if err := d.Decode(s); err != nil {
			return fmt.Errorf("listing changed packages: %w", err)
		}
		if len(s.CgoFiles)+len(s.SFiles)+len(s.EmbedFiles)+len(s.CFiles) > 0 || s.Error != nil {
			return fmt.Errorf("reloading %s: only packages of plain Go can be loaded twice", s.ImportPath)
		}
		left[s.ImportPath] = s
	}
	for _, s := range left {
		for _, i := range s.Imports {
			if left[i] == nil && i != "unsafe" && t.pkgs[i] == nil {
				others = append(others, i)
			}
		}
	}
	if err := t.list(ctx, t.opt.Dir, others); err != nil {
		return err
	}
	remap, moved := maps.Clone(t.remap), map[string]*pkg{}
	for len(left) > 0 {
		n := len(left)
		for _, p := range slices.Sorted(maps.Keys(left)) {
			s := left[p]
			if slices.ContainsFunc(s.Imports, func(i string) bool { return left[i] != nil }) {
				continue
			}
			path, q, err := e.move(ctx, s, remap, moved)
			if err != nil {
				return err
			}
			remap[p], moved[path] = path, q
			delete(left, p)
		}
		if len(left) == n {
			return fmt.Errorf("reloading packages: %v import each other", slices.Sorted(maps.Keys(left)))
		}
	}
	maps.Copy(t.pkgs, moved)
	t.remap = remap
	return nil
}

// move compiles one package under a new path.
func (e *Engine) move(ctx context.Context, s *source, remap map[string]string, moved map[string]*pkg) (string, *pkg, error) {
	t := e.tools
	key := []string{s.ImportPath}
	var files []string
	for _, f := range s.GoFiles {
		b, err := os.ReadFile(filepath.Join(s.Dir, f))
		if err != nil {
			return "", nil, fmt.Errorf("reloading %s: %w", s.ImportPath, err)
		}
		files = append(files, filepath.Join(s.Dir, f))
		key = append(key, f, string(b))
	}
	q := &pkg{}
	for _, i := range s.Imports {
		to := i
		if m := remap[i]; m != "" {
			to = m
		}
		d := moved[to]
		if d == nil {
			d = t.pkgs[to]
		}
		if d == nil {
			continue
		}
		key = append(key, to+"="+d.Export)
		for _, x := range append([]string{to}, d.Deps...) {
			if !slices.Contains(q.Deps, x) {
				q.Deps = append(q.Deps, x)
			}
		}
	}
	name := "m" + t.hash("package", strings.Join(key, "\x00"), "")
	path := modulePrefix + name + "/" + s.ImportPath
	q.Export = e.path(name + ".a")
	if _, err := os.Stat(q.Export); err == nil || e.cache.fetch(name+".a", q.Export) {
		return path, q, nil
	}
	dir, err := os.MkdirTemp(e.path(""), "build-")
	if err != nil {
		return "", nil, fmt.Errorf("reloading %s: %w", s.ImportPath, err)
	}
	defer os.RemoveAll(dir)
	archives := map[string]string{}
	for p, m := range moved {
		archives[p] = m.Export
	}
	cfg := dir + "/importcfg"
	if err := t.writeImportcfg(cfg, archives, remap); err != nil {
		return "", nil, fmt.Errorf("reloading %s: %w", s.ImportPath, err)
	}
	lang := t.lang
	if s.Module != nil && s.Module.GoVersion != "" {
		lang = "go" + strings.Join(strings.SplitN(s.Module.GoVersion, ".", 3)[:min(2, strings.Count(s.Module.GoVersion, ".")+1)], ".")
	}
	if err := t.compileFiles(ctx, path, lang, cfg, dir+"/package.a", files...); err != nil {
		return "", nil, err
	}
	if err := os.Rename(dir+"/package.a", q.Export); err != nil {
		return "", nil, fmt.Errorf("reloading %s: %w", s.ImportPath, err)
	}
	e.cache.store(name+".a", q.Export)
	return path, q, nil
}
