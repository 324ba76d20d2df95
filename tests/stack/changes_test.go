package stack

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDroppedNames takes names away from a package that the session uses: what needs them is forgotten and told, the rest goes on with
// the package as it is now.
func TestDroppedNames(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"go.mod":         "module example.org/book\n\ngo 1.26\n",
		"shape/shape.go": "package shape\n\ntype Square struct{ Side int }\n\ntype Unit int\n\nconst Edges = 4\n\nfunc (s Square) Area() int { return s.Side * s.Side }\n\nfunc Double(n int) int { return 2 * n }\n\nfunc Old(n int) int { return n }\n",
	})
	b := open(t, dir)
	b.ok("import \"example.org/book/shape\"\nkept := 5")
	b.ok("type Box struct { S shape.Square }\nfunc (b Box) Area() int { return b.S.Area() }")
	b.ok("sq := shape.Square{3}\nvar u shape.Unit = 7")
	b.ok("func area(n int) int { return shape.Square{n}.Area() }\nfunc twice(n int) int { return shape.Double(n) + kept }\nconst edges = shape.Edges")
	b.ok("func old(n int) int { return shape.Old(n) }\nfunc both(n int) int { return old(n) + area(n) }\nfunc alone(n int) int { return n + kept + edges }")
	if v := b.ok("fmt.Sprint(both(2), twice(4), alone(1))"); strings.Trim(v, `"`) != "6 13 10" {
		t.Fatalf("before the change: %s", v)
	}
	b.out.Take()
	file := filepath.Join(dir, "shape", "shape.go")
	touch(t, file, "package shape\n\ntype Quad struct{ Side int }\n\ntype Unit int\n\nconst Edges = 40\n\nfunc Double(n int) int { return 20 * n }\n")
	if v := b.ok("fmt.Sprint(twice(4), alone(1), kept, u)"); strings.Trim(v, `"`) != "85 46 5 0" {
		t.Errorf("after the change: %s", v)
	}
	said := b.out.Take()
	for _, want := range []string{
		"shape has changed on disk", "is forgotten",
		"type Box of In[2]: undefined: shape.Square\n", "method Box.Area of In[2]: it uses type Box\n", "variable sq of In[3]: undefined: shape.Square\n",
		"function area of In[4]: undefined: shape.Square\n", "function old of In[5]: undefined: shape.Old\n", "function both of In[5]: it uses function ",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the user is not told %q but\n%s", want, said)
		}
	}
	for _, kept := range []string{"twice", "alone", "edges", "kept"} {
		if strings.Contains(said, " "+kept+" of In[") {
			t.Errorf("%s is forgotten:\n%s", kept, said)
		}
	}
	b.fails("both(1)", "CompileError", "undefined: both")
	b.fails("sq", "CompileError", "undefined: sq")
	b.ok("type Box struct { Q shape.Quad }\nsq := Box{shape.Quad{3}}")
	if v := b.ok("sq.Q.Side + twice(1)"); v != "28" {
		t.Errorf("what is declared anew gives %s", v)
	}
	if s := b.out.Take(); s != "" {
		t.Errorf("later cells are told %q", s)
	}
	// The whole package goes.
	touch(t, file, "package shape\n")
	if v := b.ok("alone2 := kept + 1\nalone2"); v != "6" {
		t.Errorf("alone2 is %s", v)
	}
	if s := b.out.Take(); !strings.Contains(s, "function twice") || !strings.Contains(s, "constant edges") || !strings.Contains(s, "function alone") {
		t.Errorf("the user is told\n%s", s)
	}
}
