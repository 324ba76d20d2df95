package magics_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/gander-go/gander/internal/compose"
	"github.com/gander-go/gander/internal/golden"
	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/magics"
)

// TestScenarios runs every testdata/*.txtar: a notebook's worth of cells against the real evaluator, compiler and session
// process. All scenarios share one session, which is reset between them; each has magics and a working directory of its
// own. The sections of a file, in order:
//
//	-- file NAME --          is written into the working directory before the first cell
//	-- cell [after=300ms] -- is executed; with after it is interrupted that long after its first output
//	-- complete --           asks for completions at the ‸
//	-- inspect --            asks what is known at the ‸
//	-- eval --               is evaluated as a user expression
//
// and what is expected of the section before:
//
//	-- out --    all that came out, masked (see mask); rewritten by -update
//	-- has --    lines that come out in this order, masked, others between them; a line matches what it is a part of
//	-- lacks --  lines of which none may be a part of the output
//
// Streams come out as they are, standard error behind "! "; a display, a value, an error or a payload begins with a line
// in brackets that says what it is and which forms it has, and shows its plain text.
func TestScenarios(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: scenarios start a session and compile cells (-short)")
	}
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	lang := compose.NewLanguage(t.TempDir(), nil)
	if err := lang.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lang.Shutdown(context.Background()) })
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) { runScenario(t, lang, f) })
	}
}

func runScenario(t *testing.T, lang *compose.Language, path string) {
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := &scenario{t: t, engine: magics.New(lang, dir, "test"), dir: dir}
	if r := s.execute("%reset\n%cd "+dir, 0); r != nil {
		t.Fatal(r)
	}
	s.out.text()
	for i := range a.Files {
		f := &a.Files[i]
		kind, arg, _ := strings.Cut(f.Name, " ")
		text := string(f.Data)
		if want := kind == "out" || kind == "has" || kind == "lacks"; want {
			s.expect(kind, f, text)
			continue
		}
		s.last = s.do(kind, arg, text)
	}
	if golden.Updating() {
		if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// scenario is one file under way.
type scenario struct {
	t      *testing.T
	engine *magics.Engine
	dir    string
	n      int    // of the last cell
	code   string // of the last section that did something
	last   string // what came out of it, masked
	out    output
}

func (s *scenario) do(kind, arg, text string) string {
	s.code = text
	text = strings.TrimSuffix(text, "\n")
	ctx := context.Background()
	before, after, marked := strings.Cut(text, "‸")
	switch {
	case kind == "file":
		if err := os.WriteFile(filepath.Join(s.dir, arg), []byte(text+"\n"), 0o644); err != nil {
			s.t.Fatal(err)
		}
		return ""
	case kind == "cell":
		var interrupt time.Duration
		if value, ok := strings.CutPrefix(arg, "after="); ok {
			d, err := time.ParseDuration(value)
			if err != nil {
				s.t.Fatal(err)
			}
			interrupt = d
		}
		s.execute(text, interrupt)
		return s.mask(s.out.text())
	case kind == "complete" && marked:
		c := s.engine.Complete(ctx, before+after, len(before))
		var b strings.Builder
		fmt.Fprintf(&b, "replaces %q\n", (before + after)[c.Start:c.End])
		for _, it := range c.Items {
			fmt.Fprintf(&b, "%s %s\n", it.Text, it.Type)
		}
		return b.String()
	case kind == "inspect" && marked:
		if b := s.engine.Inspect(ctx, before+after, len(before), 0); b != nil {
			return s.mask(fmt.Sprintln(b.Data["text/plain"]))
		}
		return "nothing\n"
	case kind == "eval":
		b, err := s.engine.Expression(ctx, text)
		if err != nil {
			return s.mask(fmt.Sprintf("%s: %s\n", err.Name, err.Message))
		}
		return s.mask(fmt.Sprintln(b.Data["text/plain"]))
	}
	s.t.Fatalf("section %q is of no known kind or has no ‸", kind+" "+arg)
	return ""
}

// execute runs a cell and leaves everything that came out in s.out.
func (s *scenario) execute(code string, interrupt time.Duration) *cell.UserError {
	s.n++
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if interrupt > 0 {
		s.out.onFirst(func() { time.AfterFunc(interrupt, cancel) })
	}
	r := s.engine.Execute(ctx, &cell.Cell{N: s.n, Code: code}, &s.out, noInput{})
	if ctx.Err() == context.DeadlineExceeded {
		s.t.Errorf("the cell took more than two minutes:\n%s", code)
	}
	s.out.result(r)
	return r.Err
}

func (s *scenario) expect(kind string, f *txtar.File, want string) {
	switch kind {
	case "out":
		if golden.Updating() {
			f.Data = []byte(s.last)
		} else if want != s.last {
			s.t.Errorf("of the cell\n%s\ncame\n%s\nwant\n%s", s.code, s.last, want)
		}
	case "has":
		rest := s.last
		for line := range strings.Lines(want) {
			line = strings.TrimRight(line, "\n")
			at := strings.Index(rest, line)
			if at < 0 {
				s.t.Errorf("of the cell\n%s\ncame\n%s\nwhich lacks (in this order)\n%s", s.code, s.last, line)
				return
			}
			rest = rest[at+len(line):]
		}
	case "lacks":
		for line := range strings.Lines(want) {
			if line = strings.TrimRight(line, "\n"); strings.Contains(s.last, line) {
				s.t.Errorf("of the cell\n%s\ncame\n%s\nwhich must not hold\n%s", s.code, s.last, line)
			}
		}
	}
}

type noInput struct{}

func (noInput) Ask(string, bool) (string, error) { return "", errors.New("no input in tests") }

// output notes everything that comes out of a cell as text.
type output struct {
	// mu guards what follows.
	mu    sync.Mutex
	b     bytes.Buffer
	first func()
}

func (o *output) onFirst(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.first = f
}

func (o *output) begin() {
	if o.first != nil {
		o.first()
		o.first = nil
	}
}

func (o *output) Stream(name cell.StreamName, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begin()
	if name == cell.Stderr {
		text = "! " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n! ") + "\n"
	}
	o.b.WriteString(text)
}

func (o *output) bundle(what string, b cell.Bundle) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begin()
	if o.b.Len() > 0 && !bytes.HasSuffix(o.b.Bytes(), []byte("\n")) {
		o.b.WriteString("\n")
	}
	forms := make([]string, 0, len(b.Data))
	for mime := range b.Data {
		if mime != "text/plain" {
			forms = append(forms, mime)
		}
	}
	slices.Sort(forms)
	fmt.Fprintf(&o.b, "[%s]\n", strings.Join(append([]string{what}, forms...), " "))
	if text, ok := b.Data["text/plain"].(string); ok {
		o.b.WriteString(strings.TrimRight(text, "\n") + "\n")
	}
}

func (o *output) Display(b cell.Bundle) { o.bundle("display", b) }
func (o *output) Update(b cell.Bundle)  { o.bundle("update", b) }
func (o *output) Clear(bool)            {}

var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

func (o *output) result(r *cell.Result) {
	if r.Value != nil {
		o.bundle("value", *r.Value)
	}
	for _, p := range r.Payload {
		b := cell.Bundle{Data: p.Data}
		if p.Text != "" {
			b = cell.Text(p.Text)
		}
		o.bundle("payload "+p.Source, b)
	}
	if r.Err != nil {
		o.bundle("error "+r.Err.Name, cell.Text(colours.ReplaceAllString(strings.Join(r.Err.Text, "\n"), "")))
	}
}

// text takes what has come out so far.
func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := o.b.String()
	o.b.Reset()
	o.first = nil
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

var masks = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`\b\d+(?:[.,]\d+)*(?:e[+-]\d+)?(?: |\x{a0})?(?:ns|µs|us|ms|s|min|m\d+s)\b`), "<time>"},
	{regexp.MustCompile(`-?\b\d+(?:[.,]\d+)*(?: |\x{a0})?(?:[KMGTkmg]i?[Bb]|B)\b`), "<size>"},
	{regexp.MustCompile(`\b\d+(?:\.\d+)?(?: |\x{a0})?%`), "<share>"},
	{regexp.MustCompile(`\b0x[0-9a-f]+\b`), "<address>"},
	{regexp.MustCompile(`-{4,}`), "---"},
	{regexp.MustCompile(`={4,}`), "==="},
	{regexp.MustCompile(`\bin \d+ objects?\b`), "in <n> objects"}, // the runtime's own now and then among them
	{regexp.MustCompile(`(?m)^The slowest run took .*\n`), ""},
	{regexp.MustCompile(`(?m)^Compile time: .*\n`), ""}, // told when it is long
	{regexp.MustCompile(`[ \t]+`), " "},
	{regexp.MustCompile(`(?m) $`), ""},
}

// mask makes text the same from run to run: durations become <time>, sizes <size>, percentages <share>, addresses
// <address>, the warning of %timeit that a machine was busy nothing, the working directory <dir>; rules are cut to three characters and runs of blanks to one. Other numbers stay.
func (s *scenario) mask(text string) string {
	text = strings.ReplaceAll(text, s.dir, "<dir>")
	for _, m := range masks {
		text = m.pattern.ReplaceAllString(text, m.by)
	}
	return text
}
