package check_test

import (
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/gander-go/gander/kernel/eval/check"
)

// seeds are the cells of the scenarios.
func seeds(f *testing.F) (out []string) {
	files, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, path := range files {
		for _, s := range readSections(f, path) {
			out = append(out, s.text)
		}
	}
	return append(out, "for ;;;{", "x := `", "/*", "func (", "}{", "a:=b:=c", "if a;b;c{}", "\x00", "é\xff", "import(", "var(", "goto", "L:", ";;;", "package", "func init(){}")
}

// FuzzCut checks that pieces are in order, do not overlap, and leave out nothing but blanks, comments and semicolons.
func FuzzCut(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code string) {
		at := 0
		for _, p := range check.Cut(code) {
			if p.Start < at || p.End < p.Start || p.End > len(code) || p.Doc > p.Start {
				t.Fatalf("piece %+v after %d in %q", p, at, code)
			}
			at = p.End
		}
	})
}

func FuzzIsComplete(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code string) {
		c := check.IsComplete(code)
		if c.Status != "complete" && c.Status != "incomplete" && c.Status != "invalid" || c.Status != "incomplete" && c.Indent != "" {
			t.Fatalf("IsComplete(%q) = %+v", code, c)
		}
	})
}

// FuzzCheck checks any text, and commits it when it is right: nothing panics, every diagnostic is in the cell, and the session
// stays usable.
func FuzzCheck(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, "x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		s := newSession(t)
		for i, code := range []string{"x := 1\ntype T struct{ A int }\nfunc f(t T) int { return t.A + x }", a, b, a} {
			c := s.Check(i+1, code)
			validate(t, c)
			s.Commit(c, i%3-1)
		}
		if c := s.Check(9, "1 + 1"); len(c.Errors) > 0 {
			t.Fatalf("after %q and %q: %v", a, b, c.Errors)
		}
	})
}

func FuzzComplete(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, len(s)/2)
	}
	f.Fuzz(func(t *testing.T, code string, cursor int) {
		s := newSession(t)
		c := s.Complete(code, cursor)
		if c.Start < 0 || c.End < c.Start || c.End > len(code) {
			t.Fatalf("Complete(%q, %d) replaces %d to %d", code, cursor, c.Start, c.End)
		}
		if utf8.ValidString(code) && !utf8.ValidString(code[c.Start:c.End]) {
			t.Fatalf("Complete(%q, %d) cuts a character: %d to %d", code, cursor, c.Start, c.End)
		}
		s.Inspect(code, cursor, true)
	})
}
