package native

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
)

// build makes sure that the unit's packages are built and returns the plugin's file. Where the disk is full it goes on on another. The
// caller holds e.mu.
func (e *Engine) build(ctx context.Context, p *packages) (plugin string, err error) {
	if plugin, err = e.buildHere(ctx, p); err != nil && isFull(err) && e.moveWork() {
		return e.buildHere(ctx, p)
	}
	return plugin, err
}

func (e *Engine) buildHere(ctx context.Context, p *packages) (plugin string, err error) {
	name := path.Base(p.cellPath)
	so := e.path(name + e.again[name+".so"] + ".so")
	if p.declPath != "" {
		if p.mod.archive, err = e.compileDecls(ctx, p); err != nil {
			return "", err
		}
	}
	if _, err := os.Stat(so); err == nil {
		return so, nil
	}
	if e.cache.fetch(name+".so", so) {
		return so, nil
	}
	dir, err := os.MkdirTemp(e.path(""), "build-")
	if err != nil {
		return "", fmt.Errorf("building cell: %w", err)
	}
	defer os.RemoveAll(dir)
	cfg := dir + "/importcfg"
	if err := e.tools.importcfg(cfg, e.archives(p)); err != nil {
		return "", fmt.Errorf("building cell: %w", err)
	}
	if err := os.WriteFile(dir+"/cell.go", []byte(p.cellText), 0o644); err != nil {
		return "", fmt.Errorf("building cell: %w", err)
	}
	if err := e.tools.compile(ctx, p.cellPath, dir+"/cell.go", cfg, dir+"/cell.a"); err != nil {
		return "", err
	}
	if err := e.tools.link(ctx, p.cellPath, dir+"/cell.a", cfg+".link", dir+"/cell.so"); err != nil {
		return "", err
	}
	if err := os.Rename(dir+"/cell.so", so); err != nil {
		return "", fmt.Errorf("building cell: %w", err)
	}
	e.cache.store(name+".so", so)
	return so, nil
}

// compileDecls builds the unit's module of declarations and returns its archive.
func (e *Engine) compileDecls(ctx context.Context, p *packages) (string, error) {
	name := path.Base(p.declPath)
	out := e.path(name + ".a")
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	if e.cache.fetch(name+".a", out) {
		return out, nil
	}
	dir, err := os.MkdirTemp(e.path(""), "build-")
	if err != nil {
		return "", fmt.Errorf("building cell: %w", err)
	}
	defer os.RemoveAll(dir)
	cfg := dir + "/importcfg"
	if err := e.tools.importcfg(cfg, e.archives(p)); err != nil {
		return "", fmt.Errorf("building cell: %w", err)
	}
	if err := os.WriteFile(dir+"/decl.go", []byte(p.declText), 0o644); err != nil {
		return "", fmt.Errorf("building cell: %w", err)
	}
	if err := e.tools.compile(ctx, p.declPath, dir+"/decl.go", cfg, dir+"/decl.a"); err != nil {
		return "", err
	}
	if err := hideExports(dir + "/decl.a"); err != nil {
		return "", fmt.Errorf("building cell: %w", err)
	}
	if err := os.Rename(dir+"/decl.a", out); err != nil {
		return "", fmt.Errorf("building cell: %w", err)
	}
	e.cache.store(name+".a", out)
	return out, nil
}

// hideExports renames the table of a plugin's symbols in an archive: every package whose clause says main gets one, and the linker
// would take any of them for the plugin's.
func hideExports(archive string) error {
	b, err := os.ReadFile(archive)
	if err != nil {
		return err
	}
	b = bytes.ReplaceAll(b, []byte("go:plugin.tabs"), []byte("go:plugin.tabz"))
	b = bytes.ReplaceAll(b, []byte("go:plugin.exports"), []byte("go:plugin.exportz"))
	return os.WriteFile(archive, b, 0o644)
}

// archives are the modules that the unit may need, directly or through others.
func (e *Engine) archives(p *packages) map[string]string {
	m := map[string]string{}
	var add func(mod *module)
	add = func(mod *module) {
		if mod.archive == "" || m[mod.path] != "" {
			return
		}
		m[mod.path] = mod.archive
		for _, d := range mod.deps {
			add(d)
		}
	}
	for _, mod := range p.modules {
		add(mod)
	}
	if p.declPath != "" {
		add(p.mod)
	}
	return m
}
