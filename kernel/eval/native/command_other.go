//go:build !unix

package native

import (
	"context"
	"os/exec"
	"time"
)

func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	return cmd
}
