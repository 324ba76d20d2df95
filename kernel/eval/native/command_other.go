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

// isGone reports that it does not know.
func isGone(int) bool { return false }
