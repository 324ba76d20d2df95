package sessions

import (
	"context"
	"strings"
	"testing"
)

// TestFound plays sessions that were wrong once. A cell is followed by what it prints, after "//", or by its error.
func TestFound(t *testing.T) {
	b := open(t)
	for _, tt := range []struct {
		what  string
		cells []string
	}{
		{"a variable that a failed cell would have given another type", []string{
			"x := 41", "panic(\"early\")\nx := \"s\" // panic", "fmt.Println(x + 1) // 42", "func f() int { return x }", "fmt.Println(f()) // 41",
			"panic(\"early\")\nfunc g() int { return len(x) }\nx := \"s\" // panic", "fmt.Println(g(), x == \"\", f()) // 0 true 41",
		}},
		{"a function that a failed cell would have made a variable", []string{
			"func f() int { return 1 }", "panic(\"early\")\nf := 2 // panic", "fmt.Println(f()) // 1",
		}},
		{"former variables of one type", []string{
			"x := 1\nfunc h() int { return 10 }\nfunc sum() int { return x + h() }", "x := \"a\"", "x := 2", "x := \"b\"",
			"func h() int { return 20 }", "fmt.Println(sum(), x) // 21 b",
		}},
		{"a former variable of a type that gets a new version in the same cell", []string{
			"type T struct { A int }\nfunc (t *T) P(n int) int { return n }\nx, y := T{5}, T{6}\nfunc g() int { y = T{1}; return x.A }",
			"func (t *T) P(n int) int { return n + t.A }\nvar x int = 3\nfmt.Println(g(), x, y.P(10)) // 5 3 11",
			"func (t *T) P(n int) int { return n * 2 }", "fmt.Println(g(), x, y.P(10)) // 5 3 20",
		}},
		{"a variable whose declaration ran before the failing init function above it", []string{
			"func init() { panic(\"init\") }\nvar y int = 5 // panic", "fmt.Println(y) // 5",
		}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			if err := b.Reset(context.Background()); err != nil {
				t.Fatal(err)
			}
			b.n = 0
			for i, c := range tt.cells {
				code, end, _ := strings.Cut(c, " // ")
				want := &run{}
				if end == "panic" {
					want.err = end
				} else if end != "" {
					want.out.WriteString(end + "\n")
				}
				if diff := b.play(code, "", want, false); diff != "" {
					t.Fatalf("cell %d:\n%s\n%s", i+1, code, diff)
				}
			}
		})
	}
}
