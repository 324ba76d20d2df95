package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gander-go/gander/kernel/eval/check"
)

// grownSession has cells with n functions, types and variables in all.
func grownSession(b *testing.B, n int) (*check.Session, int) {
	s := newSession(b)
	cell := 0
	for i := 0; i < n; i += 20 {
		var t strings.Builder
		for j := i; j < i+20; j += 4 {
			fmt.Fprintf(&t, "type T%d struct{ A int; S []string }\nfunc (t *T%d) M(k int) string { return strings.Repeat(t.S[0], k) }\n", j, j)
			fmt.Fprintf(&t, "func f%d(x int) (int, error) { t := T%d{A: x}; return fmt.Println(t.M(x)) }\nv%d := map[string]*T%d{}\n", j, j, j, j)
		}
		cell++
		c := s.Check(cell, t.String())
		if len(c.Errors) > 0 {
			b.Fatal(c.Errors)
		}
		s.Commit(c, -1)
	}
	return s, cell
}

func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{20, 200, 1200} {
		s, cell := grownSession(b, n)
		b.Run(fmt.Sprintf("statement/declarations=%d", n), func(b *testing.B) {
			for b.Loop() {
				if c := s.Check(cell+1, "x := v0[\"a\"]\nfmt.Println(x, len(v4))\nv8"); len(c.Errors) > 0 {
					b.Fatal(c.Errors)
				}
			}
		})
		b.Run(fmt.Sprintf("redefinition/declarations=%d", n), func(b *testing.B) {
			for b.Loop() {
				if c := s.Check(cell+1, "type T0 struct{ A, B int; S []string }"); len(c.Errors) > 0 {
					b.Fatal(c.Errors)
				}
			}
		})
	}
}

func BenchmarkComplete(b *testing.B) {
	for _, n := range []int{20, 1200} {
		s, _ := grownSession(b, n)
		for name, code := range map[string]string{"member": "x := v0[\"a\"]\nx.", "name": "for i := range v", "package": "fmt.Pri"} {
			b.Run(fmt.Sprintf("%s/declarations=%d", name, n), func(b *testing.B) {
				for b.Loop() {
					if c := s.Complete(code, len(code)); len(c.Items) == 0 {
						b.Fatal("nothing")
					}
				}
			})
		}
	}
}

func BenchmarkInspect(b *testing.B) {
	s, _ := grownSession(b, 20)
	for b.Loop() {
		if s.Inspect("fmt.Println(v0)", 6, false) == nil {
			b.Fatal("nothing")
		}
	}
}

func BenchmarkIsComplete(b *testing.B) {
	code := strings.Repeat("func f(x int) int {\n\tif y := x; y > 2 {\n\t\treturn y\n\t}\n\treturn 0\n}\n", 40) + "for i := 0; i < 3; i++ {"
	for b.Loop() {
		check.IsComplete(code)
	}
}
