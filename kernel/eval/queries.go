package eval

import (
	"context"
	"fmt"
	"html"
	"sort"
	"strings"
	"time"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval/check"
	"github.com/gander-go/gander/kernel/session/link"
)

// Check reports what is wrong with code, without running it; nil when nothing is. Code starts on the given line of c.
func (e *Evaluator) Check(c *cell.Cell, code string, line int) *cell.UserError {
	e.mu.Lock()
	e.codes[c.N] = c.Code
	e.mu.Unlock()
	if checked := e.session.Check(c.N, atLine(code, line)); len(checked.Errors) > 0 {
		return e.compileError(checked.Errors)
	}
	return nil
}

// IsComplete judges code by its syntax.
func (e *Evaluator) IsComplete(code string) cell.Completeness { return check.IsComplete(code) }

// Complete lists what can stand at the byte offset cursor in code.
func (e *Evaluator) Complete(ctx context.Context, code string, cursor int) cell.Completion {
	return e.session.Complete(code, cursor)
}

// valueTime bounds how long a description waits for the value of a variable.
const valueTime = 300 * time.Millisecond

// Inspect describes what is at the byte offset cursor in code, nil when there is nothing to say. With detail above 0 the
// source is shown too.
func (e *Evaluator) Inspect(ctx context.Context, code string, cursor int, detail int) *cell.Bundle {
	d := e.session.Inspect(code, cursor, detail > 0)
	if d == nil {
		return nil
	}
	value := ""
	if d.Sym != nil && d.Sym.Kind == check.VarSymbol && !e.isBusy() {
		ctx, cancel := context.WithTimeout(ctx, valueTime)
		defer cancel()
		if vars, err := e.cfg.Runner.Vars(ctx, d.Sym.Name); err == nil && len(vars) == 1 {
			value = vars[0].Value
		}
	}
	b := describeBundle(d, value)
	return &b
}

// describeBundle shows a description as text, Markdown and HTML.
func describeBundle(d *check.Description, value string) cell.Bundle {
	var text, md, page strings.Builder
	decl := d.Decl
	if value != "" {
		decl += " = " + value
	}
	text.WriteString(decl + "\n")
	fmt.Fprintf(&md, "```go\n%s\n```\n", decl)
	fmt.Fprintf(&page, "<pre><code class=\"language-go\">%s</code></pre>", html.EscapeString(decl))
	if d.Where != "" {
		text.WriteString("// from " + d.Where + "\n")
		fmt.Fprintf(&md, "*from `%s`*\n", d.Where)
		fmt.Fprintf(&page, "<p><i>from <code>%s</code></i></p>", html.EscapeString(d.Where))
	}
	if d.Doc != "" {
		text.WriteString("\n" + d.Doc)
		md.WriteString("\n" + check.DocMarkdown(d.Doc))
		page.WriteString(check.DocHTML(d.Doc))
	}
	if d.Source != "" {
		text.WriteString("\n" + d.Source + "\n")
		fmt.Fprintf(&md, "\n```go\n%s\n```\n", d.Source)
		fmt.Fprintf(&page, "<pre><code class=\"language-go\">%s</code></pre>", html.EscapeString(d.Source))
	}
	return cell.Bundle{Data: map[string]any{
		"text/plain": strings.TrimRight(text.String(), "\n"), "text/markdown": md.String(), "text/html": page.String(),
	}}
}

// Expression evaluates one expression for its value. Nothing it defines is kept.
func (e *Evaluator) Expression(ctx context.Context, expr string) (cell.Bundle, *cell.UserError) {
	e.run.Lock()
	defer e.run.Unlock()
	e.setBusy(true)
	defer e.setBusy(false)
	e.mu.Lock()
	n := e.last
	kept := e.codes[n]
	e.codes[n] = expr
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		e.codes[n] = kept
		e.mu.Unlock()
	}()
	c, ue := e.prepare(ctx, n, expr, discard{})
	if ue != nil {
		return cell.Bundle{}, ue
	}
	if len(c.Steps) != 1 || c.Show == nil || len(c.Decls) > 0 || len(c.Vars) > 0 {
		return cell.Bundle{}, e.plainError("ExpressionError", fmt.Sprintf("%q is no expression with a value", expr))
	}
	b, ue := e.build(ctx, c, RunOptions{})
	if ue != nil {
		return cell.Bundle{}, ue
	}
	done, err := e.cfg.Runner.Run(ctx, link.Run{Cell: n, Unit: b.unit, Generation: e.generation, Revert: e.takeRevert()}, discard{}, nil)
	if err != nil {
		return cell.Bundle{}, e.plainError("SessionError", err.Error())
	}
	if done.Err != nil {
		return cell.Bundle{}, e.finish(c, b, done).Err
	}
	b.commit()
	if done.Value == nil {
		return cell.Text(""), nil
	}
	return fromLink(done.Value), nil
}

// discard is an output that nobody sees.
type discard struct{}

func (discard) Stream(cell.StreamName, string) {}
func (discard) Display(cell.Bundle)            {}
func (discard) Update(cell.Bundle)             {}
func (discard) Clear(bool)                     {}

// Variable is a session variable.
type Variable struct {
	Name, Type string
	Value      string // one line, cut; empty when it is not known
	Bytes      int64  // an estimate of what it holds
	Len        int    // -1 where there is no length
	Cell       int    // that defined it
}

// Vars lists the session's variables by name.
func (e *Evaluator) Vars(ctx context.Context) ([]Variable, error) {
	list := e.session.Vars()
	values := map[string]link.VarValue{}
	if len(list) > 0 {
		names := make([]string, len(list))
		for i, v := range list {
			names[i] = v.Name
		}
		got, err := e.cfg.Runner.Vars(ctx, names...)
		if err != nil {
			return nil, err
		}
		for _, v := range got {
			values[v.Name] = v
		}
	}
	var out []Variable
	for _, v := range list {
		x := Variable{Name: v.Name, Type: v.Type, Cell: v.Cell, Len: -1}
		if l, ok := values[v.Name]; ok {
			x.Value, x.Bytes, x.Len = l.Value, l.Bytes, l.Len
		}
		out = append(out, x)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}
