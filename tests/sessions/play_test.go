package sessions

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/internal/compose"
	"github.com/gander-go/gander/internal/screen"
	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval"
	_ "github.com/gander-go/gander/kernel/session/worker/parts"
)

var (
	count = flag.Int("sessions", 6, "how many random sessions to play")
	first = flag.Uint64("first", 1, "number of the first")
)

// TestRandomSessions plays sessions of 10 to 40 cells. A session is told by its number: -first N -sessions 1 plays it again.
func TestRandomSessions(t *testing.T) {
	b := open(t)
	cells, failing := 0, map[string]int{}
	for i := range uint64(*count) {
		t.Run(fmt.Sprint(*first+i), func(t *testing.T) {
			if err := b.Reset(context.Background()); err != nil {
				t.Fatal(err)
			}
			b.n = 0
			r, engines := rand.New(rand.NewPCG(*first+i, 7)), rand.New(rand.NewPCG(*first+i, 8))
			k := &maker{r: r, m: newModel()}
			var played []string
			for range 10 + r.IntN(31) {
				if r.IntN(60) == 0 { // %reset
					if err := b.Reset(context.Background()); err != nil {
						t.Fatal(err)
					}
					k.m = newModel()
					played = append(played, "%reset")
				}
				c := k.cell()
				want := k.m.play(c)
				if want == nil {
					continue
				}
				code := text(c)
				played = append(played, code)
				failing[want.err]++
				cells++
				if want.err == "" && !hangsIn(c) {
					k.past = append(k.past, c)
				}
				engine := "" // mostly the session's choice
				if engines.IntN(5) == 0 {
					engine = eval.Native
				}
				if diff := b.play(code, engine, want, hangsIn(c) && want.err == hanging); diff != "" {
					for j, p := range played[:len(played)-1] {
						t.Logf("In[%d]:\n%s", j+1, p)
					}
					t.Errorf("session %d, cell %d:\n%s\n%s", *first+i, len(played), code, diff)
					return
				}
			}
		})
	}
	t.Logf("%d cells, by how they end: %v", cells, failing)
}

// book is a notebook that runs.
type book struct {
	*compose.Language
	n   int
	out screen.Screen
}

// open starts a notebook.
func open(t *testing.T) *book {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("SKIPPED: no sessions are played: %v", err)
	}
	b := &book{Language: compose.NewLanguage(t.TempDir(), slog.New(slog.DiscardHandler))}
	b.Background(&b.out)
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Shutdown(context.Background()) })
	return b
}

// play runs a cell and says what is not as the model has it.
func (b *book) play(code, engine string, want *run, interrupt bool) string {
	b.n++
	b.out.Take()
	c := &cell.Cell{N: b.n, Code: code}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan *cell.Result, 1)
	go func() {
		r, _ := b.Evaluator().Run(ctx, c, code, 1, eval.RunOptions{Engine: engine}, &b.out, screen.NoInput{})
		done <- r
	}()
	var r *cell.Result
	timeout := time.After(2 * time.Minute)
	for r == nil {
		select {
		case r = <-done:
		case <-timeout:
			return "it does not end\n" + b.out.Take()
		case <-time.After(2 * time.Millisecond):
			if interrupt && strings.HasSuffix(b.out.All(), "go\n") {
				time.Sleep(5 * time.Millisecond)
				cancel()
			}
		}
	}
	got, value, end := b.out.Take(), "", ""
	if r.Value != nil {
		value, _ = r.Value.Data["text/plain"].(string)
	}
	if r.Err != nil {
		end = r.Err.Name
	}
	wantEnd := "panic"
	switch want.err {
	case "":
		wantEnd = ""
	case "compile":
		wantEnd = "CompileError"
	case hanging:
		wantEnd = "Interrupted"
	}
	got = plain(got)
	if end == wantEnd && got == want.out.String() && strings.Trim(value, `"`) == want.value {
		return ""
	}
	s := fmt.Sprintf("ends with %q, want %q (%s)\nvalue %q, want %q\nprinted:\n%swant:\n%s", end, wantEnd, want.err, value, want.value, got, want.out.String())
	if r.Err != nil {
		s += strings.Join(r.Err.Text, "\n")
	}
	return s
}

// plain leaves out warnings and notes.
func plain(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if !strings.HasPrefix(line, "In[") && !strings.HasPrefix(line, "Note:") {
			b.WriteString(line)
		}
	}
	return b.String()
}
