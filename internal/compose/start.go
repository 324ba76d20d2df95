package compose

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gander-go/gander/kernel/cell"
)

func (l *Language) setProgress(what string, done, total int) {
	if total > 0 {
		what = fmt.Sprintf("%s (%d of %d)", what, done, total)
	}
	l.mu.Lock()
	l.progress = what
	l.mu.Unlock()
}

// wait waits for the start. While it takes long, out shows what it is doing; out may be nil.
func (l *Language) wait(ctx context.Context, out cell.Output) error {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	shown, id := "", fmt.Sprintf("gander-start-%p", l)
	for {
		select {
		case <-l.done:
			if shown != "" {
				out.Clear(false) // nothing else has been shown yet
			}
			return l.err
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			l.mu.Lock()
			what := l.progress
			l.mu.Unlock()
			if out == nil || what == shown || what == "" {
				continue
			}
			b := cell.Bundle{DisplayID: id, Data: map[string]any{"text/plain": "Preparing to compile cells, once for this version of Go: " + what}}
			if shown == "" {
				out.Display(b)
			} else {
				out.Update(b)
			}
			shown = what
		}
	}
}

// ready reports whether the start has succeeded, without waiting longer than d.
func (l *Language) ready(d time.Duration) bool {
	select {
	case <-l.done:
	case <-time.After(d):
		return false
	}
	return l.err == nil
}

func startFailed(err error) *cell.UserError {
	name := "SessionError"
	if errors.Is(err, context.Canceled) {
		name, err = "Interrupted", errors.New("interrupted")
	}
	return &cell.UserError{Name: name, Message: err.Error(), Text: []string{"\x1b[31m" + name + "\x1b[0m: " + err.Error()}}
}
