package stack

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/internal/compose"
	"github.com/gander-go/gander/internal/screen"
	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval"
	"github.com/gander-go/gander/kernel/session/worker"
	_ "github.com/gander-go/gander/kernel/session/worker/parts"
)

// TestMain lets the test binary stand in for `gander session`, which interprets cells where there is no toolchain.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "session" {
		worker.Main()
		return
	}
	os.Exit(m.Run())
}

// book is a notebook that runs.
type book struct {
	*compose.Language
	t   *testing.T
	dir string
	n   int
	out screen.Screen
	in  cell.Input
}

// open starts a notebook in dir; an empty folder when dir is empty.
func open(t *testing.T, dir string) *book {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	b := &book{Language: compose.NewLanguage(dir, slog.New(slog.DiscardHandler)), t: t, dir: dir, in: screen.NoInput{}}
	b.Background(&b.out)
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Shutdown(context.Background()) })
	return b
}

// waitFor waits until text was shown.
func (b *book) waitFor(text string) {
	b.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(b.out.All(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.t.Fatalf("%q is not shown, but\n%s", text, b.out.All())
		}
	}
}

// run runs a cell with an engine ("" for the session's).
func (b *book) run(ctx context.Context, engine, code string) *cell.Result {
	b.n++
	c := &cell.Cell{N: b.n, Code: code, AllowStdin: true}
	r, _ := b.Evaluator().Run(ctx, c, code, 1, eval.RunOptions{Engine: engine}, &b.out, b.in)
	return r
}

// ok runs a cell that must do well and returns its value as text.
func (b *book) ok(code string) string { b.t.Helper(); return b.okIn("", code) }

func (b *book) okIn(engine, code string) string {
	b.t.Helper()
	r := b.run(context.Background(), engine, code)
	if r.Err != nil {
		b.t.Fatalf("%s\nfails: %v\n%s", code, r.Err, strings.Join(r.Err.Text, "\n"))
	}
	if r.Value == nil {
		return ""
	}
	s, _ := r.Value.Data["text/plain"].(string)
	return s
}

// fails runs a cell that must fail with an error of that name whose text holds all of parts.
func (b *book) fails(code, name string, parts ...string) *cell.UserError {
	b.t.Helper()
	r := b.run(context.Background(), "", code)
	return b.failed(r, code, name, parts...)
}

func (b *book) failed(r *cell.Result, code, name string, parts ...string) *cell.UserError {
	b.t.Helper()
	if r.Err == nil {
		b.t.Fatalf("%s\ndoes not fail", code)
	}
	text := strings.Join(r.Err.Text, "\n")
	if r.Err.Name != name {
		b.t.Errorf("%s\nfails with %s, want %s\n%s", code, r.Err.Name, name, text)
	}
	for _, p := range parts {
		if !strings.Contains(text, p) {
			b.t.Errorf("%s\nthe error does not say %q:\n%s", code, p, text)
		}
	}
	if strings.Contains(text, "In[#") || strings.Contains(text, "gander/") {
		b.t.Errorf("%s\nthe error shows the engine's own names:\n%s", code, text)
	}
	return r.Err
}

// interrupted starts a cell, waits until it has printed "go", interrupts it and returns how it ended and how long that took.
func (b *book) interrupted(engine, code string) (*cell.Result, time.Duration) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.out.Take()
	done := make(chan *cell.Result, 1)
	go func() { done <- b.run(ctx, engine, code) }()
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(b.out.All(), "go\n"); time.Sleep(time.Millisecond) {
		select {
		case r := <-done:
			b.t.Fatalf("%s\nends by itself: %v", code, r.Err)
		default:
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%s\ndoes not begin", code)
		}
	}
	time.Sleep(20 * time.Millisecond)
	start := time.Now()
	cancel()
	select {
	case r := <-done:
		return r, time.Since(start)
	case <-time.After(30 * time.Second):
		b.t.Fatalf("%s\ndoes not end when it is interrupted", code)
	}
	return nil, 0
}

// write makes files below dir.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		f := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(f), 0o755), os.WriteFile(f, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}
