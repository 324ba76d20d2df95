// Package nbrun executes a notebook without a front end: cell by cell through a kernel.Engine, the outputs into the
// notebook, as nbclient does through a kernel. It knows neither sockets nor files.
package nbrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gander-go/gander/internal/notebook"
	"github.com/gander-go/gander/kernel"
	"github.com/gander-go/gander/kernel/cell"
)

// Options say how a notebook runs. The zero value runs all cells and stops at the first error.
type Options struct {
	AllowErrors bool          // go on after a cell that failed
	Timeout     time.Duration // for each cell; 0 for none
	Parameters  []Parameter   // set before the cells that use them
	// Progress is told before (done false) and after (done true) each code cell: its place among the total of code
	// cells, from 1.
	Progress func(i, total int, c *notebook.Cell, done bool, took time.Duration)
	// Echo sees the streams of the cells as they come.
	Echo func(stream cell.StreamName, text string)
}

// Parameter sets a session variable. Value is text as the user gave it: true and false, numbers, or else a string.
type Parameter struct{ Name, Value string }

// CellError says which cell failed.
type CellError struct {
	N     int // In[N]
	Index int // place in the notebook, from 0
	Err   *cell.UserError
}

func (e *CellError) Error() string { return fmt.Sprintf("In[%d] failed: %v", e.N, e.Err) }

func (e *CellError) Unwrap() error { return e.Err }

// Run executes the code cells of nb in order and replaces their outputs. A failed cell ends the run with a *CellError
// unless errors are allowed or the cell is tagged raises-exception; the outputs so far are in nb in any case.
func Run(ctx context.Context, e kernel.Engine, nb *notebook.Notebook, o Options) error {
	if err := inject(nb, o.Parameters); err != nil {
		return err
	}
	out := newCollector()
	out.echo = o.Echo
	e.Background(out)
	total := 0
	for _, c := range nb.Cells {
		if c.Type == "code" {
			total++
			c.Outputs, c.ExecutionCount = nil, 0
		}
	}
	n, ran := 0, 0
	for i, c := range nb.Cells {
		if c.Type != "code" {
			continue
		}
		ran++
		if strings.TrimSpace(c.Source) == "" {
			continue
		}
		n++
		c.ExecutionCount = n
		if o.Progress != nil {
			o.Progress(ran, total, c, false, 0)
		}
		start := time.Now()
		err := runCell(ctx, e, out, c, n, o.Timeout)
		if o.Progress != nil {
			o.Progress(ran, total, c, true, time.Since(start))
		}
		if err == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("running In[%d]: %w", n, err)
		}
		if !o.AllowErrors && !c.Tagged("raises-exception") {
			return &CellError{N: n, Index: i, Err: err}
		}
	}
	return nil
}

func runCell(ctx context.Context, e kernel.Engine, out *collector, c *notebook.Cell, n int, timeout time.Duration) *cell.UserError {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	out.begin(c)
	r := e.Execute(ctx, &cell.Cell{N: n, Code: c.Source, ID: c.ID}, out, noInput{})
	if r.Err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		r.Err.Message = fmt.Sprintf("the cell ran longer than %v (--timeout)", timeout)
	}
	out.result(n, r)
	return r.Err
}

// noInput answers requests for input where nobody is there to give it.
type noInput struct{}

func (noInput) Ask(string, bool) (string, error) {
	return "", errors.New("reading input: the notebook runs without a front end, so nobody can answer")
}

// inject puts a cell that sets the parameters behind the one tagged "parameters", or in front of all when there is none.
func inject(nb *notebook.Notebook, ps []Parameter) error {
	if len(ps) == 0 {
		return nil
	}
	at, op := 0, ":="
	for i, c := range nb.Cells {
		if c.Type == "code" && c.Tagged("parameters") {
			at, op = i+1, "="
		}
	}
	var src strings.Builder
	src.WriteString("// Parameters\n")
	for _, p := range ps {
		if !isName(p.Name) {
			return fmt.Errorf("setting parameters: %q is no Go variable name", p.Name)
		}
		fmt.Fprintf(&src, "%s %s %s\n", p.Name, op, goLiteral(p.Value))
	}
	c := &notebook.Cell{Type: "code", ID: "injected-parameters", Source: src.String(), Metadata: map[string]any{"tags": []any{"injected-parameters"}}}
	nb.Cells = append(nb.Cells[:at:at], append([]*notebook.Cell{c}, nb.Cells[at:]...)...)
	return nil
}

func goLiteral(v string) string {
	if v == "true" || v == "false" || v == "nil" {
		return v
	}
	var num json.Number
	if json.Unmarshal([]byte(v), &num) == nil && !strings.HasPrefix(v, `"`) {
		return v
	}
	if s, err := strconv.Unquote(v); err == nil {
		return strconv.Quote(s)
	}
	return strconv.Quote(v)
}

func isName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
