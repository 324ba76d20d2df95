package check_test

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// snippets declare, redefine and use a handful of names in every way.
var snippets = []string{
	"type T struct{ A int }", "type T struct{ A, B int }", "type T int", "type T = U", "type T interface{ M() int }", "T := 3",
	"type U struct{ T; N int }", "type U struct{ t *T }", "type U []T", "type U map[string]U",
	"func (t T) M() int { return 1 }", "func (t *T) M() int { return 2 }", "func (t T) M(k int) string { return \"\" }", "func (u U) M() int { return 3 }",
	"func f() int { return 1 }", "func f(t T) T { return t }", "func f(x any) any { return g() }", "f := 2", "const f = iota",
	"func g() any { return f }", "func g() any { return f() }", "func g() any { var t T; return t }", "func g(u ...U) int { return len(u) + k }",
	"const k = 1", "const k = \"s\"", "const ( k = iota; l )", "k := 1.5", "var k, l = 1, 2",
	"x := 1", "x := \"s\"", "x := T{}", "x := U{}", "x := []T{}", "x := f", "x := g()", "x, y := 1, T{}", "x := x", "x := []any{x}",
	"y := x", "y := f()", "var y T", "var y, x = x, y", "x = y", "y", "x", "fmt.Println(x, y, k)", "import f \"fmt\"", "import . \"math\"", "f.Println(Pi)",
	"func h[P any](p P) P { return p }", "func h[P T | int](p P) []P { return nil }", "x := h(x)", "type H[P any] struct{ P P; T T }", "func (h H[P]) M() P { return h.P }", "x := H[T]{}",
	"func init() { k2 = 3 }\nvar k2 int", "max := max(1, 2)", "max", "fmt := fmt.Sprint(1)", "len(fmt)",
}

// TestRandomSessions runs cells in random order. Whatever they do to each other, an error is always about the cell that was checked,
// messages spell names as users do, and what was committed stays consistent: an empty cell still checks.
func TestRandomSessions(t *testing.T) {
	rounds := 150
	if testing.Short() {
		rounds = 30
	}
	good := 0
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		s := newSession(t)
		var history []string
		for n := 1; n <= 25; n++ {
			code := snippets[r.IntN(len(snippets))]
			if r.IntN(3) == 0 {
				code += "\n" + snippets[r.IntN(len(snippets))]
			}
			history = append(history, code)
			c := s.Check(n, code)
			validate(t, c)
			for _, d := range c.Errors {
				if d.Cell != n || strings.HasPrefix(d.Message, "In[") || strings.Contains(d.Message, "ꞏ") {
					t.Errorf("seed %d, cell %d: %+v\n%s", seed, n, d, strings.Join(history, "\n--\n"))
				}
			}
			for _, d := range c.Warnings {
				if strings.Contains(d.Message, "ꞏ") {
					t.Errorf("seed %d, cell %d: %+v", seed, n, d)
				}
			}
			if len(c.Errors) == 0 {
				good++
			}
			s.Commit(c, r.IntN(4)-1)
			if c := s.Check(99, "1 + 1"); len(c.Errors) > 0 {
				t.Fatalf("seed %d: after cell %d nothing checks: %v\n%s", seed, n, c.Errors, strings.Join(history, "\n--\n"))
			}
			if t.Failed() {
				return
			}
		}
	}
	if good < rounds*5 {
		t.Errorf("only %d cells were right: the test tests little", good)
	}
	t.Logf("%d of %d cells were right", good, rounds*25)
}
