package mods

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

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
