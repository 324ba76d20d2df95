package reflected_test

import (
	"context"
	"fmt"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gander-go/gander/kernel/eval/check"
	"github.com/gander-go/gander/kernel/eval/mods"
	"github.com/gander-go/gander/kernel/eval/reflected"
	"github.com/gander-go/gander/kernel/session/worker/interp"
	"github.com/gander-go/gander/kernel/session/worker/interp/std"
)

// shape writes a type without what reflection cannot see: names of parameters, and which of byte and uint8 it was.
func shape(t types.Type) string {
	t = types.Unalias(t)
	tuple := func(l *types.Tuple) string {
		var s []string
		for v := range l.Variables() {
			s = append(s, shape(v.Type()))
		}
		return "(" + strings.Join(s, ", ") + ")"
	}
	switch t := t.(type) {
	case *types.Named:
		if t.Obj().Pkg() == nil {
			return t.Obj().Name()
		}
		if t.TypeArgs().Len() > 0 || strings.Contains(t.Obj().Name(), "[") {
			return "instance"
		}
		return t.Obj().Pkg().Path() + "." + t.Obj().Name()
	case *types.Basic:
		if t.Info()&types.IsUntyped != 0 {
			return "untyped"
		}
		return types.Typ[t.Kind()].Name()
	case *types.Pointer:
		return "*" + shape(t.Elem())
	case *types.Slice:
		return "[]" + shape(t.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), shape(t.Elem()))
	case *types.Map:
		return "map[" + shape(t.Key()) + "]" + shape(t.Elem())
	case *types.Chan:
		return fmt.Sprintf("chan%d %s", t.Dir(), shape(t.Elem()))
	case *types.Signature:
		return fmt.Sprintf("func%s%s%v", tuple(t.Params()), tuple(t.Results()), t.Variadic())
	case *types.Struct:
		var s []string
		for i := range t.NumFields() {
			s = append(s, fmt.Sprintf("%s %v %s %q", t.Field(i).Name(), t.Field(i).Embedded(), shape(t.Field(i).Type()), t.Tag(i)))
		}
		return "struct{" + strings.Join(s, "; ") + "}"
	case *types.Interface:
		var s []string
		for m := range t.Methods() {
			s = append(s, m.Name()+shape(m.Type()))
		}
		slices.Sort(s)
		return "interface{" + strings.Join(s, "; ") + "}"
	}
	return t.String()
}

// describe writes an object: what it is, its type and value, and for types what they are made of and their exported methods.
func describe(o types.Object) string {
	switch o := o.(type) {
	case *types.Const:
		return "const " + shape(o.Type()) + " " + o.Val().ExactString()
	case *types.TypeName:
		s := "type " + shape(o.Type())
		if n, ok := o.Type().(*types.Named); !ok || n.TypeParams().Len() == 0 { // the fields of generic structs are left out
			s += " " + shape(o.Type().Underlying())
		}
		if types.IsInterface(o.Type()) {
			return s
		}
		for _, t := range []types.Type{o.Type(), types.NewPointer(o.Type())} {
			set := types.NewMethodSet(t)
			for i := range set.Len() {
				if m := set.At(i).Obj(); m.Exported() {
					s += "\n  " + m.Name() + shape(m.Type())
				}
			}
		}
		return s
	case *types.Func:
		return "func " + shape(o.Type())
	}
	return "var " + shape(o.Type())
}

// TestSameAsExportData compares every symbol of every package that Gander carries with what the compiler says of it.
func TestSameAsExportData(t *testing.T) {
	goCmd, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		root = root[:strings.LastIndexByte(root, '/')]
	}
	m, err := mods.New(context.Background(), mods.Config{Go: goCmd, Dir: root, Env: append(os.Environ(), "GOFLAGS=", "GOWORK=off")})
	if err != nil {
		t.Fatal(err)
	}
	m.Prepare(context.Background(), interp.Paths())
	want := m.Importer(token.NewFileSet())
	got := reflected.New(interp.Symbols, std.Generic)
	n := 0
	for _, path := range interp.Paths() {
		w, err := want.Import(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		g, err := got.Import(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if w.Name() != g.Name() {
			t.Errorf("%s is called %s, want %s", path, g.Name(), w.Name())
		}
		for _, name := range g.Scope().Names() {
			o := w.Scope().Lookup(name)
			if o == nil {
				t.Errorf("%s.%s does not exist", path, name)
				continue
			}
			n++
			if a, b := describe(g.Scope().Lookup(name)), describe(o); a != b {
				t.Errorf("%s.%s:\ngot  %s\nwant %s", path, name, a, b)
			}
		}
	}
	if n < 1000 {
		t.Errorf("only %d symbols were compared", n)
	}
	t.Logf("%d symbols", n)
}

// TestCheckWithoutToolchain checks cells where there is no Go.
func TestCheckWithoutToolchain(t *testing.T) {
	m, err := mods.New(context.Background(), mods.Config{Carried: interp.Paths(), Symbols: interp.Symbols, Generic: std.Generic})
	if err != nil {
		t.Fatal(err)
	}
	s := check.New(m)
	for i, tt := range []struct{ code, err string }{
		{"x := strings.Fields(\"a b\")\nfmt.Println(len(x), math.Pi, time.Second)", ""},
		{"x[0] + 1", "mismatched types"},
		{"var b bytes.Buffer\nfmt.Fprintf(&b, \"%d\", 1)\nb.String()", ""},
		{"import \"net/http\"\nhttp.StatusText(http.StatusOK)", ""},
		{"import \"gonum.org/v1/gonum/mat\"", "not at hand"},
		{"import \"slices\"\nimport \"maps\"\nslices.Max(slices.Sorted(maps.Keys(map[string]int{\"a\": 1})))", ""},
		{"slices.Sorted([]int{1})", "does not match iter.Seq"},
		{"import \"sync/atomic\"\nvar ap atomic.Pointer[int]\nap.Load() == nil", ""},
		{"x = strings.Nope(x)", "undefined: strings.Nope"},
		{"d := 2 * time.Second\nd.Seconds() + 1", ""},
		{"var r io.Reader = os.Stdin\nr", ""},
	} {
		c := s.Check(i+1, tt.code)
		switch {
		case tt.err == "" && len(c.Errors) > 0:
			t.Errorf("%s: %v", tt.code, c.Errors)
		case tt.err != "" && (len(c.Errors) == 0 || !strings.Contains(c.Errors[0].Message, tt.err)):
			t.Errorf("%s: %v, want %s", tt.code, c.Errors, tt.err)
		}
		s.Commit(c, -1)
	}
}
