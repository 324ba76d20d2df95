package check_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval/check"
)

func TestCut(t *testing.T) {
	tests := []struct {
		name, code string
		want       []string
	}{
		{"empty", "", nil},
		{"comment", "// nothing\n/* here */", nil},
		{"lines", "x := 1\ny := 2", []string{"s x := 1", "s y := 2"}},
		{"semicolons", "x := 1; y := 2;", []string{"s x := 1", "s y := 2"}},
		{"for header", "for i := 0; i < 3; i++ { f(i); g(i) }; x", []string{"s for i := 0; i < 3; i++ { f(i); g(i) }", "s x"}},
		{"for header over lines", "for i := 0\ni < 3\ni++ {\n}", []string{"s for i := 0\ni < 3\ni++ {\n}"}},
		{"for ever", "for ;; { }\nx", []string{"s for ;; { }", "s x"}},
		{"if header", "if x := f(); x > 0 { y } else { z }\nw", []string{"s if x := f(); x > 0 { y } else { z }", "s w"}},
		{"if func header", "if f := func() bool { return true }; f() { y }", []string{"s if f := func() bool { return true }; f() { y }"}},
		{"switch header", "switch x := f(); { case true: a; b }", []string{"s switch x := f(); { case true: a; b }"}},
		{"labelled loop", "L:\nfor { break L }", []string{"s L:\nfor { break L }"}},
		{"func", "func f() {}\nfunc (t T) m() {}\nfunc g[T any](x T) {}", []string{"d func f() {}", "d func (t T) m() {}", "d func g[T any](x T) {}"}},
		{"func literal", "func() { x() }()", []string{"s func() { x() }()"}},
		{"func literal with receiver look", "func(a int) (b int) { return }(1)", []string{"s func(a int) (b int) { return }(1)"}},
		{"declarations", "const a = 1\ntype T int\nvar (x = 1; y = 2)\nimport \"fmt\"", []string{"d const a = 1", "d type T int", "d var (x = 1; y = 2)", "i import \"fmt\""}},
		{"package", "package main; func main() {}", []string{"p package main", "d func main() {}"}},
		{"raw string", "x := `a;\nb`\ny", []string{"s x := `a;\nb`", "s y"}},
		{"raw string with carriage returns", "x := `a\r\nb`\r\ny", []string{"s x := `a\r\nb`", "s y"}},
		{"composite", "x := T{\n1,\n}\ny", []string{"s x := T{\n1,\n}", "s y"}},
		{"chain", "a.\nb().\nc()", []string{"s a.\nb().\nc()"}},
		{"unclosed", "f(\nx\ny", []string{"s f(\nx\ny"}},
		{"unmatched", "}\nx", []string{"s }", "s x"}},
		{"not ASCII", "größe := \"ü;\"; y", []string{"s größe := \"ü;\"", "s y"}},
	}
	kinds := map[check.PieceKind]string{check.StmtPiece: "s ", check.DeclPiece: "d ", check.ImportPiece: "i ", check.PackagePiece: "p "}
	for _, tt := range tests {
		var got []string
		for _, p := range check.Cut(tt.code) {
			got = append(got, kinds[p.Kind]+p.Text(tt.code))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: Cut(%q) = %q, want %q", tt.name, tt.code, got, tt.want)
		}
	}
}

func TestCutFindsDoc(t *testing.T) {
	code := "// far\n\n// T is\n// a type.\ntype T int // behind\nx := 1"
	p := check.Cut(code)
	if got := code[p[0].Doc:p[0].Start]; got != "// T is\n// a type.\n" {
		t.Errorf("doc is %q", got)
	}
	if p[1].Doc != p[1].Start {
		t.Errorf("a comment behind a declaration became the doc of the next: %q", code[p[1].Doc:p[1].Start])
	}
}

// TestCutLongHeaders checks that cutting does not become quadratic.
func TestCutLongHeaders(t *testing.T) {
	done := make(chan bool)
	go func() {
		check.IsComplete("for " + strings.Repeat(";", 20_000))
		check.IsComplete(strings.Repeat("if x {", 5_000))
		check.IsComplete(strings.Repeat("(", 20_000))
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(60 * time.Second):
		t.Fatal("cutting takes for ever")
	}
}

// TestPlaces finds places in cells, and in code that a magic has wrapped.
func TestPlaces(t *testing.T) {
	s := newSession(t)
	for code, want := range map[string]cell.Pos{
		"a := 1\n  b":                                         {Cell: 1, Line: 2, Col: 3},
		"func() { /*line :3:9*/b }()":                         {Cell: 1, Line: 3, Col: 9},
		"func() { /*line :3:9*/ _ = 1 + b }()":                {Cell: 1, Line: 3, Col: 18},
		"func() { /*line :3:9*/ _ = /*line :4:2*/ b }()":      {Cell: 1, Line: 4, Col: 3},
		"func() { /*line :99999999999999999999:1*/ _ = b }()": {Cell: 1, Line: 1, Col: 47},
	} {
		c := s.Check(1, code)
		if len(c.Errors) != 1 || c.Errors[0].Pos != want {
			t.Errorf("%s: %v, want one at %v", code, c.Errors, want)
		}
	}
}
