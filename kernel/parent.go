package kernel

import (
	"context"
	"errors"
	"os"
	"strconv"
	"syscall"
	"time"
)

// parentPoll is how often the parent process is looked for.
const parentPoll = time.Second

// watchParent returns a channel that is closed when the process pid is gone: 0 means the one that Jupyter names in
// JPY_PARENT_PID, if it does, and -1 none. Kernels run in a session of their own, so nothing else would end them.
func watchParent(ctx context.Context, pid int) <-chan struct{} {
	if pid == 0 {
		pid, _ = strconv.Atoi(os.Getenv("JPY_PARENT_PID"))
	}
	if pid <= 1 {
		return nil
	}
	gone := make(chan struct{})
	direct := os.Getppid() == pid
	go func() {
		t := time.NewTicker(parentPoll)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			if direct && os.Getppid() != pid || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
				close(gone)
				return
			}
		}
	}()
	return gone
}
