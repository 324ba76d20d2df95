package conformance

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/internal/compose"
	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval"
	"github.com/gander-go/gander/kernel/session/link"
)

// tableCells use packages that the session process does not carry: of a module, of the standard library, of the notebook's own module, with
// and without C.
var tableCells = []struct{ code, want string }{
	{"import \"fmt\"\nimport \"gonum.org/v1/gonum/mat\"\nm := mat.NewDense(2, 2, []float64{1, 2, 3, 4})\nm.Set(0, 0, 5)\nfmt.Println(mat.Sum(m), m.At(1, 0), mat.Formatted(m.T()))", "14 3 ⎡5  3⎤\n⎣2  4⎦\n"},
	{"var sum mat.Dense\nsum.Add(m, m)\nfmt.Println(sum.RawMatrix().Data)\nvar bad *mat.Dense\nfmt.Println(bad == nil)", "[10 4 6 8]\ntrue\n"},
	{"import \"net/http\"\nfmt.Println(http.StatusText(http.StatusTeapot), http.DefaultClient.Timeout)\nreq, err := http.NewRequest(http.MethodGet, \"http://example.com/a\", nil)\nfmt.Println(req.URL.Path, err, req.Method)", "I'm a teapot 0s\n/a <nil> GET\n"},
	{"import \"example.com/notebook/shapes\"\nr := shapes.Rect{W: 2, H: 3}\nfmt.Println(r.Area())", "6\n"},
	{"import \"example.com/notebook/native\"\nfmt.Println(native.Add(40, 2), native.Language)", "42 C\n"},
}

// TestTables runs tableCells: in interp mode the tables are built at once; in auto mode a cell is compiled as long as a table is missing, and
// interpreted from then on.
func TestTables(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range notebookModule {
		write(name, text)
	}
	l := compose.NewLanguage(dir, nil)
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	defer l.Shutdown(context.Background())
	e := l.Evaluator()
	if err := e.Get(context.Background(), "gonum.org/v1/gonum@"+gonum(t), func(string) {}); err != nil {
		t.Fatal(err)
	}
	n := 0
	try := func(mode, code string) (string, link.Engine, *cell.UserError) {
		n++
		out := &transcript{}
		res, u := e.Run(context.Background(), &cell.Cell{N: n, Code: code}, code, 1, eval.RunOptions{Engine: mode}, out, noInput{})
		return out.text.String(), u.Engine, res.Err
	}
	run := func(mode, code, want string) link.Engine {
		t.Helper()
		got, engine, err := try(mode, code)
		if err != nil {
			t.Fatalf("%s: %v\n%s", mode, err, code)
		}
		if got != want {
			t.Errorf("%s: printed %q, want %q\n%s", mode, got, want, code)
		}
		return engine
	}
	for _, c := range tableCells {
		if got := run(eval.Interp, c.code, c.want); got != link.EngineInterp {
			t.Errorf("in interp mode %s ran\n%s", got, c.code)
		}
	}
	if err := e.Reset(context.Background()); err != nil {
		t.Fatal(err)
	}
	// All from the first on must become interpreted in the end, and print the same before and after.
	for end := time.Now().Add(2 * time.Minute); ; {
		compiled := 0
		for _, c := range tableCells {
			if run(eval.Auto, c.code, c.want) != link.EngineInterp {
				compiled++
			}
		}
		if compiled == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d cells are still compiled", compiled, len(tableCells))
		}
		time.Sleep(100 * time.Millisecond)
	}
	// A package that changes after it was loaded is there in two versions; the table of the first is no longer used.
	write("shapes/s.go", strings.Replace(notebookModule["shapes/s.go"], "r.W * r.H", "2 * r.W * r.H", 1))
	if got := run(eval.Auto, "q := shapes.Rect{W: 2, H: 3}\nfmt.Println(q.Area())", "12\n"); got != link.EngineNative {
		t.Errorf("%s ran what uses the changed package", got)
	}
	if _, _, err := try(eval.Interp, "q = shapes.Rect{W: 1, H: 1}"); err == nil || err.Name != "NotSupported" || !strings.Contains(err.Message, "has changed since it was loaded") {
		t.Errorf("interpreting with the changed package ends with %v", err)
	}
	run(eval.Auto, "q = shapes.Rect{W: 1, H: 1}\nfmt.Println(q.Area())", "2\n")
	for _, c := range tableCells[:3] { // of others it is
		run(eval.Interp, c.code, c.want)
	}
}
