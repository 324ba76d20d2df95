package mods

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// compile has the go command compile a package that has just been got, and what it imports, so that the cell that
// imports it does not stand still for that: some packages of C take minutes. progress gets the package that is being compiled.
// What does not compile is told of when it is imported.
func (m *Modules) compile(ctx context.Context, what string, progress func(line string)) {
	path, _, _ := strings.Cut(what, "@")
	if !valid(path) || strings.HasPrefix(path, ".") {
		return
	}
	cmd := m.command(ctx, slices.Concat([]string{"list", "-e", "-export", "-v", "-f", ""}, m.listFlags(), []string{"--", path})...)
	var said lines
	if progress != nil {
		said.each = func(line string) {
			if valid(line) {
				progress("compiling " + line)
			}
		}
	}
	cmd.Stderr = &said
	cmd.Run() //nolint:errcheck // the import tells
}

// BuildStandard has the go command compile the whole standard library as cells use it, so that no first import of a package
// waits for that: half a minute of two processors, once for each toolchain.
func (m *Modules) BuildStandard(ctx context.Context) error {
	if m.cfg.Go == "" {
		return nil
	}
	cmd := m.command(ctx, slices.Concat([]string{"list", "-export", "-f", ""}, m.listFlags(), []string{"--", "std"})...)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building the standard library: %w: %s", err, compilerWords(said.String()))
	}
	return nil
}
