package stack

import (
	"strings"
	"testing"

	"github.com/gander-go/gander/kernel/eval"
)

// TestNames shows types by all ways by which users see their names: as in a program.
func TestNames(t *testing.T) {
	b := open(t, "")
	b.ok("type point struct{ X int }\ntype Set[T comparable] map[T]bool\ns := Set[point]{point{1}: true}\nimport \"reflect\"")
	const name = "main.Set[main.point]"
	for _, engine := range []string{eval.Native, eval.Auto} {
		if v := b.okIn(engine, "fmt.Sprintf(\"%T\", s)"); v != `"`+name+`"` && v != name {
			t.Errorf("%s: Sprintf gives %s", engine, v)
		}
		b.out.Take()
		b.okIn(engine, "fmt.Printf(\"%T %v\\n\", s, reflect.TypeOf(s))")
		if got := b.out.Take(); got != name+" "+name+"\n" {
			t.Errorf("%s: Printf gives %s", engine, got)
		}
	}
	if v := b.ok("s"); strings.Contains(v, "gander") {
		t.Errorf("the value is shown as %s", v)
	}
	if v := b.ok("[]Set[point]{s}"); strings.Contains(v, "gander") {
		t.Errorf("the value is shown as %s", v)
	}
	if v := b.ok("reflect.TypeOf(s)"); v != name {
		t.Errorf("the type is shown as %s", v)
	}
	if v := b.ok("point{3}"); v != "main.point{X:3}" && v != "{X:3}" {
		t.Errorf("a struct is shown as %s", v)
	}
	vars, err := b.Vars(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vars {
		if strings.Contains(v.Type+v.Value, "gander") || v.Name == "s" && v.Type != "Set[point]" {
			t.Errorf("%s is listed with type %s and value %s", v.Name, v.Type, v.Value)
		}
	}
	b.fails("func f[T any](x T) { panic(fmt.Errorf(\"no %T\", x)) }\nf(s)", "panic", "no "+name)
}
