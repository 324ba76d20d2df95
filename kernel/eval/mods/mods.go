// Package mods knows the packages that cells can import: the standard library of the installed Go, the notebook's own
// module or workspace, and what %get adds. It keeps a module directory per session, asks the go command where compiled
// packages are, and reads their export data for the checker.
//
// It compiles and links no cells; engines ask it for the module directory to do that in. Its one invariant: all packages
// that one Importer hands out come from one listing, so that the types of two packages always fit.
package mods

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gander-go/gander/kernel/eval/reflected"
)

// Config says which packages there are.
type Config struct {
	Go     string   // the go command; empty when there is none: then nothing can be imported
	GOROOT string   // of that command; asked for when empty
	Env    []string // complete environment of go commands
	// Flags are given to every go list and go get, e.g. -buildmode=plugin to share compiled packages with cells.
	Flags []string

	// Dir is where the session's module is kept; it is created. A folder with somebody's module in it is used as it is. Base is a module directory that the session's module
	// starts from: its requirements are taken over, and replacements with their paths made absolute. It may be empty.
	Dir, Base string
	// Notebook is the folder of the notebook. The module or workspace around it is part of the session's.
	Notebook string

	// Without a go command, Carried are the packages that can be imported all the same, Symbols has their symbols, and Generic
	// declares what is generic in them.
	Carried []string
	Symbols reflected.Table
	Generic reflected.Generic
}

// Modules is a session's module and what is known of its packages. It is safe for concurrent use.
type Modules struct {
	cfg     Config
	roots   []string // module paths around the notebook
	foreign bool     // Dir is somebody's module: packages are found in it, but nothing is added

	// listing is held while the go command lists packages or changes the module, so that this is done once at a time. It is taken
	// before mu.
	listing sync.Mutex

	// mu guards what follows.
	mu         sync.Mutex
	pkgs       map[string]*listed
	generation int // of the listing; it goes up when a package that was handed out has changed
	locals     map[string]local
	own        []string // packages of roots

	std struct {
		once   sync.Once
		byName map[string][]string
	}
}

// New lays out the session's module directory.
func New(ctx context.Context, cfg Config) (*Modules, error) {
	m := &Modules{cfg: cfg, pkgs: map[string]*listed{}, locals: map[string]local{}}
	if cfg.Go == "" {
		return m, nil
	}
	if cfg.GOROOT == "" {
		out, err := m.command(ctx, "env", "GOROOT").Output()
		if err != nil {
			return nil, fmt.Errorf("asking the go command for GOROOT: %w", err)
		}
		m.cfg.GOROOT = strings.TrimSpace(string(out))
	}
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("laying out the session's module: %w", err)
	}
	if err := m.writeModule(); err != nil {
		return nil, fmt.Errorf("laying out the session's module: %w", err)
	}
	return m, nil
}

// Dir is the session's module directory.
func (m *Modules) Dir() string { return m.cfg.Dir }

// GOROOT is the root of the Go installation; empty when there is none.
func (m *Modules) GOROOT() string { return m.cfg.GOROOT }

// command is a go command in the module directory.
func (m *Modules) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, m.cfg.Go, args...)
	cmd.Env = m.cfg.Env
	if st, err := os.Stat(m.cfg.Dir); err == nil && st.IsDir() {
		cmd.Dir = m.cfg.Dir
	}
	return cmd
}

var errNoGo = errors.New("there is no Go toolchain here to find packages with (install Go from https://go.dev/dl)")

// Get adds a package or module, "path" or "path@version", to the session's module, as go get does, and compiles it. progress
// gets the go command's lines as they come, then each package that is compiled; it may be nil. The error is in the go command's own words.
func (m *Modules) Get(ctx context.Context, what string, progress func(line string)) error {
	if m.cfg.Go == "" {
		return errNoGo
	}
	if what == "" || strings.HasPrefix(what, "-") || strings.ContainsAny(what, " \t\n") {
		return fmt.Errorf("getting %q: it is no package path; write path or path@version", what)
	}
	if m.foreign {
		return fmt.Errorf("getting %q: the module in %s is not the session's own", what, m.cfg.Dir)
	}
	m.listing.Lock()
	defer m.listing.Unlock()
	keep, err := m.saveModule()
	if err != nil {
		return fmt.Errorf("getting %q: %w", what, err)
	}
	before := m.pinned(ctx)
	cmd := m.command(ctx, append([]string{"get"}, append(m.getFlags(), what)...)...)
	var said lines
	said.each = progress
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	said.flush()
	if err == nil {
		if moved := m.moved(before, m.pinned(ctx)); moved != "" {
			err = fmt.Errorf("it needs another version of %s, which the session process is built with", moved)
			said.all = nil
		}
	}
	if err != nil {
		keep()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(said.all) > 0 {
			return fmt.Errorf("getting %q: %s", what, strings.Join(said.all, "\n"))
		}
		return fmt.Errorf("getting %q: %w", what, err)
	}
	m.compile(ctx, what, progress)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget()
	return nil
}

// getFlags are the flags of go get: it knows no build modes.
func (m *Modules) getFlags() []string {
	return slices.DeleteFunc(slices.Clone(m.cfg.Flags), func(f string) bool {
		return strings.HasPrefix(f, "-buildmode") || strings.HasPrefix(f, "-mod")
	})
}

// forget drops what was listed; packages that were handed out are read anew. m.mu is held.
func (m *Modules) forget() {
	clear(m.pkgs)
	m.generation++
}

// saveModule reads the files of the module and returns a func that puts them back.
func (m *Modules) saveModule() (restore func(), err error) {
	old := map[string][]byte{}
	for _, name := range []string{"go.mod", "go.sum"} {
		b, err := os.ReadFile(filepath.Join(m.cfg.Dir, name))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		old[name] = b
	}
	return func() {
		for name, b := range old {
			os.WriteFile(filepath.Join(m.cfg.Dir, name), b, 0o644) //nolint:errcheck // the next command reports it
		}
	}, nil
}

// lines hands on text line by line and keeps it.
type lines struct {
	part string
	all  []string
	each func(string)
}

func (l *lines) Write(b []byte) (int, error) {
	l.part += string(b)
	for {
		line, rest, ok := strings.Cut(l.part, "\n")
		if !ok {
			return len(b), nil
		}
		l.part = rest
		l.add(line)
	}
}

func (l *lines) add(line string) {
	if line = strings.TrimRight(line, "\r"); line == "" {
		return
	}
	l.all = append(l.all, line)
	if l.each != nil {
		l.each(line)
	}
}

func (l *lines) flush() { l.add(l.part); l.part = "" }
