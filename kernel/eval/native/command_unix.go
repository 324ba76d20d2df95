//go:build unix

package native

import (
	"context"
	"os/exec"
	"syscall"
	"time"
)

// command is exec.CommandContext for a tool that starts tools itself: all of them end with the context.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd
}

// isGone reports whether no process has the id pid.
func isGone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }
