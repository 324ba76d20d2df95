package stack

import (
	"strings"
	"testing"

	"github.com/gander-go/gander/kernel/eval"
)

// TestUnnamedTypes keeps variables of types that only their packages can name: they come from variables, functions, methods and
// generic functions, and are used by later cells, by functions, and after redefinitions.
func TestUnnamedTypes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"go.mod": "module example.org/book\n\ngo 1.26\n",
		"lib/lib.go": `package lib

import "example.org/book/lib/internal/inner"

type conn struct {
	N      int
	secret string
}

var Default = conn{1, "s"}
var Made int

func New(n int, _ ...string) *conn { Made++; return &conn{N: n} }
func Both(n int) (conn, error)     { Made++; return conn{N: n}, nil }
func (c *conn) Add(d int) *conn    { c.N += d; return c }
func (c conn) Value() int          { return c.N }
func Use(c *conn) int              { return c.N * 100 }
func List() []conn                 { return []conn{{N: 3}, {N: 4}} }
func Inner() *inner.T              { return &inner.T{X: 9} }

type box[T any] struct{ V T }

func Of[T any](v T) box[T]     { return box[T]{v} }
func (b box[T]) Get() (T, bool) { return b.V, true }

type Maker struct{ Step int }

func (m Maker) Make(n int) conn  { return conn{N: n + m.Step} }
func (m *Maker) Next() *conn     { m.Step++; return New(m.Step) }

type Source interface{ Make(n int) conn }

func AsSource(m Maker) Source { return m }
`,
		"lib/internal/inner/inner.go": "package inner\n\ntype T struct{ X int }\n\nfunc (t *T) Twice() int { return 2 * t.X }\n",
	})
	for _, engine := range []string{"", eval.Native} {
		b := open(t, dir)
		for _, c := range [][2]string{
			{"import \"example.org/book/lib\"\nc := lib.New(5, \"a\", \"b\")", ""},
			{"c.Add(2).N", "7"},
			{"func val() int { return c.Value() + c.N }\nval()", "14"},
			{"lib.Use(c)", "700"},
			{"d, err := lib.Both(3)\ne := d", ""},
			{"e.N = 8\nfmt.Sprint(d.N, e.N, err, d.Value())", "3 8 <nil> 3"},
			{"p := &d\np.N = 30\nq := *p\nd.N + q.N", "60"},
			{"l := lib.List()\nfirst := l[1]\nfirst.N + len(l)", "6"},
			{"m := lib.Maker{10}\nf := m.Make(1)\ng := m.Next()\nfmt.Sprint(f.N, g.N, m.Step)", "11 11 11"},
			{"s := lib.AsSource(m)\nh := s.Make(4)\nh.N", "15"},
			{"x := lib.Of(41)\ny := lib.Of[string](\"z\")\nv, _ := x.Get()\nfmt.Sprint(v+1, y.V)", "42z"},
			{"in := lib.Inner()\nin.X++\nin.Twice()", "20"},
			{"func twice() int { return in.Twice() }\ntwice()", "20"},
			{"k := lib.Default\nk.N", "1"},
			{"made := lib.Made\nc.N + k.N", "8"}, // nothing is evaluated again to know a type
			{"lib.Made - made", "0"},
			{"c := \"text\"\nval()", "14"}, // keeps what it was defined with
			{"c + \"!\"", "text!"},
			{"func val() int { return len(c) }\nval()", "4"},
			{"a := c\nc := lib.New(1)\na + fmt.Sprint(c.N)", "text1"},
			{"type T struct{ n int }\nfunc (t T) Sum() int { return t.n + c.N + e.N }\nT{1}.Sum()", "10"},
			{"fmt.Sprintf(\"%T %T\", c, x)", "*lib.conn lib.box[int]"},
		} {
			if v := b.okIn(engine, c[0]); strings.Trim(v, `"`) != c[1] {
				t.Errorf("%s\ngives %s, want %s", c[0], v, c[1])
			}
		}
		vars, err := b.Vars(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range vars {
			if v.Name == "d" && v.Type != "lib.conn" || v.Name == "in" && v.Type != "*inner.T" {
				t.Errorf("%s is listed with type %s", v.Name, v.Type)
			}
		}
		b.fails("z := func() any { return 1 }\nw := map[string]any{}\nu := append(lib.List(), d)", "CompileError", "u would be of type []lib.conn", "var u any = …")
	}
}
