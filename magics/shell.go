package magics

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/gander-go/gander/kernel/cell"
)

func init() {
	for name, program := range map[string]string{"bash": "bash", "sh": "sh"} {
		register(magic{
			name: name, use: "%%" + name + " [args]", help: "runs the cell as a script of " + program,
			cell: func(m *call) *cell.Result {
				args, err := words(m.args)
				if err != nil {
					return m.failure(usagef("%%%%%s: %v", name, err))
				}
				return m.shell(program, append([]string{"-s", "--"}, args...), m.body)
			},
		})
	}
}

// shell runs a program in the working directory. Its streams go to the cell as they come; an interrupt ends it and what
// it started. A program that fails fails the cell.
func (m *call) shell(program string, args []string, stdin string) *cell.Result {
	cmd := exec.Command(program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	m.mu.Lock()
	cmd.Dir = m.dir
	cmd.Env = os.Environ()
	for k, v := range m.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	m.mu.Unlock()
	cmd.Stdin = strings.NewReader(stdin)
	stdout, stderr := &streamWriter{out: m.out, name: cell.Stdout}, &streamWriter{out: m.out, name: cell.Stderr}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = time.Second // for pipes that a grandchild holds open
	if err := cmd.Start(); err != nil {
		return m.failure(fmt.Errorf("running %s: %w", program, err))
	}
	done := make(chan struct{})
	go func() {
		select {
		case <-m.ctx.Done():
			syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
			select {
			case <-done:
			case <-time.After(2 * time.Second):
				syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			}
		case <-done:
		}
	}()
	err := cmd.Wait()
	close(done)
	stdout.flush()
	stderr.flush()
	if m.ctx.Err() != nil {
		return m.failure(context.Canceled)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return m.failure(fmt.Errorf("the command ended with %v", exit.ProcessState))
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return m.failure(fmt.Errorf("running %s: %w", program, err))
	}
	return &cell.Result{}
}

// streamWriter hands bytes to a stream, whole UTF-8 sequences at a time.
type streamWriter struct {
	out  cell.Output
	name cell.StreamName

	// mu guards rest.
	mu   sync.Mutex
	rest []byte
}

// Write implements io.Writer.
func (w *streamWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := append(w.rest, p...)
	cut := len(b)
	for back := 1; back < utf8.UTFMax && back <= len(b); back++ {
		if c := b[len(b)-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-back:]) {
				cut = len(b) - back
			}
			break
		}
	}
	w.out.Stream(w.name, strings.ToValidUTF8(string(b[:cut]), "\uFFFD"))
	w.rest = append([]byte(nil), b[cut:]...)
	return len(p), nil
}

func (w *streamWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) > 0 {
		w.out.Stream(w.name, strings.ToValidUTF8(string(w.rest), "\uFFFD"))
		w.rest = nil
	}
}
