package session

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/session/link"
)

// interruptWhen cancels the run once it has shown text.
func interruptWhen(t *testing.T, s *Session, entry, text string, in cell.Input) (*link.Done, *output, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out := &output{}
	var at time.Time
	go func() {
		for !strings.Contains(out.all(), text) {
			time.Sleep(time.Millisecond)
		}
		at = time.Now()
		cancel()
	}()
	r := unit(entry)
	r.AllowStdin = in != nil
	d, err := s.Run(ctx, r, out, in)
	if err != nil {
		t.Fatal(err)
	}
	return d, out, time.Since(at)
}

func TestInterrupt(t *testing.T) {
	s := open(t, nil)
	s.Interrupt() // nothing runs
	d, _, took := interruptWhen(t, s, "Loop", "looping", nil)
	t.Logf("a loop stops after %v", took)
	if d.Err == nil || d.Err.Kind != "interrupted" || s.Generation() != 1 {
		t.Errorf("loop: %+v", d.Err)
	}
	d, _, _ = interruptWhen(t, s, "Sleeper", "sleeping", nil)
	if d.Err != nil || d.Value.Text["text/plain"] != "sleep: signal: interrupt" || s.Generation() != 1 {
		t.Errorf("child process: %+v %+v", d.Err, d.Value)
	}
	if d, _ := call(t, s, "Count", nil); d.Err != nil || d.Value.Text["text/plain"] != "1" {
		t.Errorf("after interrupts: %+v", d)
	}
}

// TestInterruptOfABlockedCell leaves the cell behind and keeps the state.
func TestInterruptOfABlockedCell(t *testing.T) {
	s := open(t, func(c *Config) { c.Grace = 600 * time.Millisecond })
	call(t, s, "Count", nil)
	d, _, _ := interruptWhen(t, s, "Tight", "stuck", nil)
	if f := d.Err; f == nil || f.Kind != "interrupted" || !strings.Contains(f.Message, "blocked (chan receive)") || !strings.Contains(f.Stack, "In[9]:4") || s.Generation() != 1 {
		t.Errorf("%+v", d.Err)
	}
	if d, out := call(t, s, "Count", nil); d.Value.Text["text/plain"] != "2" || out.all() != "" {
		t.Errorf("after: %+v %q", d, out.all())
	}
}

// TestCellsLeftBehindEnd lets them wake while later cells run.
func TestCellsLeftBehindEnd(t *testing.T) {
	s := open(t, func(c *Config) { c.Grace = 600 * time.Millisecond })
	for _, entry := range []string{"Naps", "NapsOnce"} {
		if d, _, _ := interruptWhen(t, s, entry, "stuck", nil); d.Err == nil || !strings.Contains(d.Err.Message, "blocked (sleep)") {
			t.Fatalf("%s: %+v", entry, d.Err)
		}
	}
	d, _ := call(t, s, "Checks", nil)
	t.Logf("a check costs %.1f ns meanwhile", float64(d.Wall)/1e7)
	for range 2 {
		if d, _ := call(t, s, "Wait", nil); d.Err != nil || d.Value == nil || d.Value.Text["text/plain"] != "z" {
			t.Errorf("a cell that was left behind went on: %+v %+v", d, d.Value)
		}
	}
	d, _ = call(t, s, "Checks", nil)
	t.Logf("and %.1f ns after", float64(d.Wall)/1e7)
	if d, _, took := interruptWhen(t, s, "Loop", "looping", nil); d.Err == nil || d.Err.Kind != "interrupted" || s.Generation() != 1 {
		t.Errorf("later interrupt: %+v after %v", d.Err, took)
	}
}

// TestInterruptOfABusyCell replaces the process: there are no checks in its loop.
func TestInterruptOfABusyCell(t *testing.T) {
	s := open(t, func(c *Config) { c.Grace = 300 * time.Millisecond })
	d, _, _ := interruptWhen(t, s, "Hard", "stuck", nil)
	if f := d.Err; f == nil || f.Kind != "interrupted" || !strings.Contains(f.Message, "did not stop within 300ms") || s.Generation() != 2 {
		t.Errorf("%+v", d.Err)
	}
	if d, out := call(t, s, "Count", nil); d.Value.Text["text/plain"] != "1" || !strings.Contains(out.all(), "Note: the session was restarted") {
		t.Errorf("after: %+v %q", d, out.all())
	}
}

func TestSecondInterruptReplaces(t *testing.T) {
	s := open(t, func(c *Config) { c.Grace = time.Minute })
	go func() {
		time.Sleep(400 * time.Millisecond)
		s.Interrupt()
	}()
	time.AfterFunc(900*time.Millisecond, s.Interrupt)
	d, _ := call(t, s, "Tight", nil)
	if d.Err == nil || !strings.Contains(d.Err.Message, "interrupted twice") {
		t.Errorf("%+v", d.Err)
	}
}

func TestInput(t *testing.T) {
	s := open(t, nil)
	var asked []string
	in := answers(func(prompt string, password bool) (string, error) {
		asked = append(asked, fmt.Sprintf("%s %v", prompt, password))
		return "Ada", nil
	})
	for range 2 { // the reader is one that the first cell made
		d, out := call(t, s, "ReadLine", in)
		if d.Err != nil || d.Value.Text["text/plain"] != `"Ada\n" <nil>` || out.all() != "out:name? " {
			t.Fatalf("%+v %q", d, out.all())
		}
	}
	d, _ := call(t, s, "AskPassword", in)
	if d.Value.Text["text/plain"] != `"Ada" <nil>` || asked[2] != "secret:  true" {
		t.Errorf("%+v %q", d, asked)
	}
	d, out := call(t, s, "ReadLine", nil)
	if !strings.Contains(d.Value.Text["text/plain"], "i/o timeout") || !strings.Contains(out.all(), "does not allow input") {
		t.Errorf("without input: %+v %q", d.Value, out.all())
	}
	d, _ = call(t, s, "AskPassword", nil)
	if !strings.Contains(d.Value.Text["text/plain"], "does not allow input") {
		t.Errorf("password without input: %+v", d.Value)
	}
}

func TestInterruptOfInput(t *testing.T) {
	s := open(t, nil)
	never := make(chan struct{})
	defer close(never)
	in := answers(func(string, bool) (string, error) { <-never; return "", nil })
	d, _, took := interruptWhen(t, s, "ReadLine", "name?", in)
	early := d.Err != nil && d.Err.Kind == "interrupted" // between the prompt and the read
	if !early && (d.Err != nil || !strings.Contains(d.Value.Text["text/plain"], "i/o timeout")) || s.Generation() != 1 {
		t.Errorf("%+v after %v", d, took)
	}
	d, _ = func() (*link.Done, *output) {
		time.AfterFunc(200*time.Millisecond, s.Interrupt)
		return call(t, s, "PanicWhenInterrupted", in)
	}()
	if d.Err == nil || d.Err.Kind != "interrupted" || !strings.Contains(d.Err.Message, "panicked") {
		t.Errorf("a panic over the interrupt: %+v", d.Err)
	}
	in = answers(func(string, bool) (string, error) { return "Ada", nil })
	if d, _ := call(t, s, "ReadLine", in); d.Value.Text["text/plain"] != `"Ada\n" <nil>` {
		t.Errorf("after an interrupt: %+v", d.Value)
	}
}

// TestInterruptAtTheStart interrupts runs at the moment they begin: none may be missed.
func TestInterruptAtTheStart(t *testing.T) {
	s := open(t, func(c *Config) { c.Grace = 20 * time.Second })
	for range 50 {
		ctx, cancel := context.WithCancel(context.Background())
		go cancel()
		d, err := s.Run(ctx, unit("Loop"), &output{}, nil)
		if err != nil { // it was canceled before it was handed over
			continue
		}
		if d.Err == nil || d.Err.Kind != "interrupted" || s.Generation() != 1 {
			t.Fatalf("%+v", d.Err)
		}
	}
}
