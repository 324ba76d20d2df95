package nbrun

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/internal/notebook"
	"github.com/gander-go/gander/kernel"
	"github.com/gander-go/gander/kernel/cell"
)

// script is an engine whose cells are names of functions.
type script map[string]func(ctx context.Context, out cell.Output) *cell.Result

func (s script) Execute(ctx context.Context, c *cell.Cell, out cell.Output, in cell.Input) *cell.Result {
	if f, ok := s[c.Code]; ok {
		return f(ctx, out)
	}
	out.Stream(cell.Stdout, c.Code)
	return &cell.Result{}
}
func (script) Expression(context.Context, string) (cell.Bundle, *cell.UserError) {
	return cell.Bundle{}, nil
}
func (script) Complete(context.Context, string, int) cell.Completion  { return cell.Completion{} }
func (script) Inspect(context.Context, string, int, int) *cell.Bundle { return nil }
func (script) IsComplete(string) cell.Completeness                    { return cell.Completeness{} }
func (script) Comm(string, string, string, json.RawMessage, json.RawMessage, [][]byte) bool {
	return false
}
func (script) Background(cell.Output)    {}
func (script) Info() kernel.LanguageInfo { return kernel.LanguageInfo{} }
func (script) Shutdown(context.Context)  {}

func code(src string, tags ...any) *notebook.Cell {
	return &notebook.Cell{Type: "code", Source: src, Metadata: map[string]any{"tags": tags}}
}

func TestOutputs(t *testing.T) {
	e := script{
		"streams": func(_ context.Context, out cell.Output) *cell.Result {
			out.Stream(cell.Stdout, "a")
			out.Stream(cell.Stdout, "b")
			out.Stream(cell.Stderr, "c")
			out.Stream(cell.Stdout, "d")
			v := cell.Text("6")
			return &cell.Result{Value: &v}
		},
		"display": func(_ context.Context, out cell.Output) *cell.Result {
			out.Display(cell.Bundle{DisplayID: "x", Data: map[string]any{"image/png": []byte{0}, "application/json": json.RawMessage(`{"a":1}`)}})
			return &cell.Result{}
		},
		"update": func(_ context.Context, out cell.Output) *cell.Result {
			out.Update(cell.Bundle{DisplayID: "x", Data: map[string]any{"text/plain": "new"}})
			return &cell.Result{}
		},
		"clear": func(_ context.Context, out cell.Output) *cell.Result {
			out.Stream(cell.Stdout, "gone")
			out.Clear(true)
			out.Stream(cell.Stdout, "kept")
			return &cell.Result{}
		},
		"fail": func(context.Context, cell.Output) *cell.Result {
			return &cell.Result{Err: &cell.UserError{Name: "panic", Message: "boom", Text: []string{"panic: boom"}}}
		},
	}
	nb := &notebook.Notebook{Cells: []*notebook.Cell{code("streams"), {Type: "markdown", Source: "m"}, code("display"), code(" "), code("update"), code("clear"), code("fail"), code("never")}}
	err := Run(context.Background(), e, nb, Options{})
	var ce *CellError
	if !errors.As(err, &ce) || ce.N != 5 || ce.Index != 6 {
		t.Fatalf("error %v", err)
	}
	want := [][]map[string]any{
		{
			{"output_type": "stream", "name": "stdout", "text": "ab"},
			{"output_type": "stream", "name": "stderr", "text": "c"},
			{"output_type": "stream", "name": "stdout", "text": "d"},
			{"output_type": "execute_result", "execution_count": 1, "data": map[string]any{"text/plain": "6"}, "metadata": map[string]any{}},
		},
		nil,
		{{"output_type": "display_data", "data": map[string]any{"text/plain": "new"}, "metadata": map[string]any{}}},
		nil, nil,
		{{"output_type": "stream", "name": "stdout", "text": "kept"}},
		{{"output_type": "error", "ename": "panic", "evalue": "boom", "traceback": []any{"panic: boom"}}},
		nil,
	}
	for i, c := range nb.Cells {
		if !reflect.DeepEqual(c.Outputs, want[i]) {
			t.Errorf("cell %d:\n got %v\nwant %v", i, c.Outputs, want[i])
		}
	}
	if nb.Cells[7].ExecutionCount != 0 {
		t.Error("a cell behind the failure was run")
	}
	if err := Run(context.Background(), e, nb, Options{AllowErrors: true}); err != nil {
		t.Errorf("with errors allowed: %v", err)
	}
	if nb.Cells[7].ExecutionCount != 6 {
		t.Errorf("execution count %d", nb.Cells[7].ExecutionCount)
	}
}

func TestTimeout(t *testing.T) {
	e := script{"slow": func(ctx context.Context, _ cell.Output) *cell.Result {
		<-ctx.Done()
		return &cell.Result{Err: &cell.UserError{Name: "Interrupted"}}
	}}
	nb := &notebook.Notebook{Cells: []*notebook.Cell{code("slow")}}
	err := Run(context.Background(), e, nb, Options{Timeout: time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "--timeout") {
		t.Errorf("error %v", err)
	}
}

func TestParameters(t *testing.T) {
	for _, tc := range []struct{ name, tag, want string }{
		{"behind the tagged cell", "parameters", "x := 1|// Parameters\nn = 3\ns = \"a b\"\nok = true\n|use"},
		{"in front", "other", "// Parameters\nn := 3\ns := \"a b\"\nok := true\n|x := 1|use"},
	} {
		nb := &notebook.Notebook{Cells: []*notebook.Cell{code("x := 1", tc.tag), code("use")}}
		if err := inject(nb, []Parameter{{"n", "3"}, {"s", "a b"}, {"ok", "true"}}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range nb.Cells {
			got = append(got, c.Source)
		}
		if g := strings.Join(got, "|"); g != tc.want {
			t.Errorf("%s: %q", tc.name, g)
		}
	}
	if err := inject(&notebook.Notebook{}, []Parameter{{"a b", "1"}}); err == nil {
		t.Error("a name with a space was taken")
	}
}
