package conformance

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gander-go/gander/internal/compose"
	"github.com/gander-go/gander/internal/shared"
	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval"
	"github.com/gander-go/gander/kernel/session/link"
)

// program is a text of the form
//
//	name (where the expectation comes from)
//	-- cell --
//	code
//	-- cell fail --
//	code that must fail
//	-- stdout --
//	what all cells print
type program struct {
	cells  []string
	fails  []bool
	stdout string
}

func readProgram(t *testing.T, path string) program {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var p program
	var section string
	var text strings.Builder
	end := func() {
		switch {
		case strings.HasPrefix(section, "cell"):
			p.cells = append(p.cells, text.String())
			p.fails = append(p.fails, section != "cell")
		case section == "stdout":
			p.stdout = text.String()
		}
		text.Reset()
	}
	for _, line := range strings.SplitAfter(string(b), "\n") {
		if s, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok && strings.HasSuffix(s, " --") {
			end()
			section = strings.TrimSuffix(s, " --")
			continue
		}
		text.WriteString(line)
	}
	end()
	return p
}

// transcript is an output that keeps standard output.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder
	errs strings.Builder
}

func (o *transcript) Stream(name cell.StreamName, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if name == cell.Stdout {
		o.text.WriteString(text)
	} else {
		o.errs.WriteString(text)
	}
}
func (o *transcript) Display(cell.Bundle) {}
func (o *transcript) Update(cell.Bundle)  {}
func (o *transcript) Clear(bool)          {}

type noInput struct{}

func (noInput) Ask(string, bool) (string, error) { return "", os.ErrClosed }

// start starts one session for all programs of a test.
func start(t *testing.T) *compose.Language {
	t.Helper()
	l := compose.NewLanguage(t.TempDir(), nil)
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Shutdown(context.Background()) })
	return l
}

// outcome counts how programs of one mode ended.
type outcome struct{ right, refused, wrong, interpreted int }

// play runs one program in a fresh session state. In interp mode a refused cell ends the program: that is allowed, a
// wrong answer is not.
func play(t *testing.T, e *eval.Evaluator, p program, mode string, o *outcome) {
	t.Helper()
	ctx := context.Background()
	if err := e.Reset(ctx); err != nil {
		t.Fatal(err)
	}
	out := &transcript{}
	for i, code := range p.cells {
		c := &cell.Cell{N: i + 1, Code: code}
		r, u := e.Run(ctx, c, code, 1, eval.RunOptions{Engine: mode}, out, noInput{})
		if u.Ran && u.Engine == link.EngineInterp {
			o.interpreted++
		}
		if r.Err != nil && r.Err.Name == "NotSupported" && mode == eval.Interp {
			o.refused++
			if got := out.text.String(); !strings.HasPrefix(p.stdout, got) {
				o.wrong++
				t.Errorf("before the refusal it printed\n%s\nwant a beginning of\n%s", got, p.stdout)
			}
			return
		}
		if failed := r.Err != nil; failed != p.fails[i] {
			o.wrong++
			t.Errorf("cell %d: error %v, want one: %t\n%s\n%s", i+1, r.Err, p.fails[i], code, out.errs.String())
			return
		}
	}
	if got := out.text.String(); got != p.stdout {
		o.wrong++
		t.Errorf("printed\n%s\nwant\n%s", got, p.stdout)
		return
	}
	o.right++
}

// playAll runs programs in all modes. Those in proves must have a cell that is interpreted in auto.
func playAll(t *testing.T, files []string, proves map[string]bool) {
	if len(files) == 0 {
		t.Fatal("there are no programs")
	}
	e := start(t).Evaluator()
	for _, mode := range []string{eval.Auto, eval.Native, eval.Interp} {
		var o outcome
		t.Run(mode, func(t *testing.T) {
			for _, f := range files {
				name := strings.TrimSuffix(filepath.Base(f), ".txt")
				t.Run(name, func(t *testing.T) {
					before := o.interpreted
					play(t, e, readProgram(t, f), mode, &o)
					if mode == eval.Auto && proves[name] && o.interpreted == before {
						t.Error("it is named in the proof of the interpreter's whitelist, but none of its cells was interpreted")
					}
				})
			}
		})
		t.Logf("%s: %d right, %d refused, %d wrong of %d programs", mode, o.right, o.refused, o.wrong, len(files))
	}
}

// proofs are the programs that the interpreter's whitelist rests on.
func proofs(t *testing.T) map[string]bool {
	t.Helper()
	data, err := os.ReadFile("../../kernel/eval/interp/proof.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		_, list, _ := strings.Cut(line, "\t")
		for _, name := range strings.Fields(list) {
			names[name] = true
		}
	}
	return names
}

// TestPrograms runs the project's own programs.
func TestPrograms(t *testing.T) {
	files, err := filepath.Glob("../../kernel/eval/testdata/programs/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	playAll(t, files, proofs(t))
}

// TestReferencePrograms runs the reference programs, where they are.
func TestReferencePrograms(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared.Path(t, "data", "conformance"), "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	playAll(t, files, nil)
}
