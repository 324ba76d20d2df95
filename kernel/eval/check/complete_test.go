package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gander-go/gander/internal/golden"
	"github.com/gander-go/gander/kernel/eval/check"
)

// cursorMark is where the cursor is in the questions of testdata/complete and testdata/inspect.
const cursorMark = "‸"

type section struct{ kind, text string }

func readSections(t testing.TB, path string) (out []section) {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.SplitAfter(string(b), "\n") {
		if h := strings.TrimSpace(l); strings.HasPrefix(h, "-- ") && strings.HasSuffix(h, " --") {
			out = append(out, section{kind: strings.Trim(h, "- ")})
		} else if len(out) > 0 {
			out[len(out)-1].text += l
		}
	}
	return out
}

// TestComplete asks for completion at every mark of testdata/complete/*.txt, after the cells before it.
func TestComplete(t *testing.T) {
	questions(t, "testdata/complete/*.txt", func(s *check.Session, code string, cursor int) string {
		c := s.Complete(code, cursor)
		var b strings.Builder
		fmt.Fprintf(&b, "  replaces %q\n", code[c.Start:c.End])
		for i, it := range c.Items {
			if i == 12 {
				b.WriteString("  …\n")
				break
			}
			fmt.Fprintf(&b, "  %s\t%s\t%s\n", it.Text, it.Type, it.Signature)
		}
		return b.String()
	})
}

func questions(t *testing.T, glob string, ask func(s *check.Session, code string, cursor int) string) {
	files, err := filepath.Glob(glob)
	if err != nil || len(files) == 0 {
		t.Fatal("no questions", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			s := newSession(t)
			var b strings.Builder
			n := 0
			for _, sec := range readSections(t, f) {
				text := strings.TrimSuffix(sec.text, "\n")
				if sec.kind == "cell" {
					n++
					c := s.Check(n, text)
					if len(c.Errors) > 0 {
						t.Fatal(c.Errors)
					}
					s.Commit(c, -1)
					continue
				}
				before, after, ok := strings.Cut(text, cursorMark)
				if !ok {
					t.Fatalf("no cursor in %q", text)
				}
				fmt.Fprintf(&b, "%s\n%s", strings.TrimSpace(text), ask(s, before+after, len(before)))
			}
			golden.Check(t, strings.TrimSuffix(f, ".txt")+".golden", []byte(b.String()))
		})
	}
}

// TestInspect asks for a description at every mark of testdata/inspect/*.txt.
func TestInspect(t *testing.T) {
	questions(t, "testdata/inspect/*.txt", func(s *check.Session, code string, cursor int) string {
		d := s.Inspect(code, cursor, false)
		if d == nil {
			return "  nothing\n"
		}
		doc, _, _ := strings.Cut(d.Doc, "\n")
		return fmt.Sprintf("  %s %s from %s\n  %s\n  // %s\n", d.Kind, d.Name, d.Where, strings.ReplaceAll(d.Decl, "\n", "\n  "), doc)
	})
}
