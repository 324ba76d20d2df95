package magics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/gander-go/gander/kernel"
	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/profiler/trace"
	"github.com/gander-go/gander/render"
)

// Engine implements kernel.Engine over a Language.
type Engine struct {
	lang    Language
	version string
	library render.Library // what chart library the notebook has

	// mu guards what follows.
	mu            sync.Mutex
	dir           string            // where shell commands run; follows %cd
	env           map[string]string // set by %env
	inputs        []string          // the session's cells, for %history
	latest        *trace.Trace      // of the last %%profile
	latestOptions profileOptions
	kept          map[string]*trace.Trace // by the name given with -o
}

var (
	_ kernel.Engine      = (*Engine)(nil)
	_ kernel.Interrupter = (*Engine)(nil)
)

// New makes the engine. dir is the folder of the notebook.
func New(lang Language, dir, version string) *Engine {
	if dir == "" {
		dir, _ = os.Getwd()
	}
	return &Engine{lang: lang, version: version, dir: dir, env: map[string]string{}, kept: map[string]*trace.Trace{}}
}

// Execute implements kernel.Engine.
func (e *Engine) Execute(ctx context.Context, c *cell.Cell, out cell.Output, in cell.Input) *cell.Result {
	if !c.Silent && strings.TrimSpace(c.Code) != "" {
		e.mu.Lock()
		e.inputs = append(e.inputs, c.Code)
		e.mu.Unlock()
	}
	return e.runText(ctx, c, RunOptions{}, out, in)
}

// runText runs the text of c: a cell magic, or Go with line magics in it.
func (e *Engine) runText(ctx context.Context, c *cell.Cell, o RunOptions, out cell.Output, in cell.Input) *cell.Result {
	name, args, body, line, ok := cellMagic(c.Code)
	if !ok {
		return e.runSegments(ctx, c, c.Code, 1, o, out, in)
	}
	m := &call{Engine: e, ctx: ctx, cell: c, out: out, in: in, name: name, args: args, body: body, line: line, o: o, isCell: true, last: true}
	m.at = 1 + strings.Count(c.Code[:strings.Index(c.Code, "%%")], "\n")
	mg, err := find(m.name, true)
	if err == nil && mg.check != nil {
		err = mg.check(m)
	}
	if err != nil {
		return m.failure(err)
	}
	return mg.cell(m)
}

// runSegments runs code that may contain line magics. line is the line of the cell on which it starts.
func (e *Engine) runSegments(ctx context.Context, c *cell.Cell, code string, line int, o RunOptions, out cell.Output, in cell.Input) *cell.Result {
	segments := split(code)
	calls := make([]*call, len(segments))
	for i, s := range segments {
		s.line += line - 1
		segments[i] = s
		calls[i] = &call{Engine: e, ctx: ctx, cell: c, out: out, in: in, line: s.line, at: s.line, o: o, last: i == len(segments)-1}
		var err error
		switch s.kind {
		case lineMagic:
			calls[i].name, calls[i].args, _ = strings.Cut(s.text, " ")
			calls[i].args = strings.TrimSpace(calls[i].args)
			var mg *magic
			if mg, err = find(calls[i].name, false); err == nil && mg.check != nil {
				err = mg.check(calls[i])
			}
		case goCode:
			if len(segments) > 1 {
				if st := e.lang.IsComplete(s.text); st.Status == "invalid" || st.Status == "incomplete" {
					if ue := e.lang.Check(c, s.text, s.line); ue != nil {
						return &cell.Result{Err: ue}
					}
				}
			}
		}
		if err != nil {
			return failed(c, s.line, err)
		}
	}
	result := &cell.Result{}
	for i, s := range segments {
		r := e.runSegment(s, calls[i], o)
		result.Payload = append(result.Payload, r.Payload...)
		result.Err = r.Err
		if r.Value != nil {
			if calls[i].last {
				result.Value = r.Value
			} else {
				out.Display(*r.Value)
			}
		}
		if r.Err != nil {
			break
		}
	}
	return result
}

func (e *Engine) runSegment(s segment, m *call, o RunOptions) *cell.Result {
	switch s.kind {
	case lineMagic:
		mg, _ := find(m.name, false)
		return mg.line(m)
	case shell:
		return m.shell("sh", []string{"-c", s.text}, "")
	case help, source:
		return m.describe(s.text, s.kind == source)
	}
	o.Quiet = o.Quiet || !m.last
	r, _ := e.lang.Run(m.ctx, m.cell, s.text, s.line, o, m.out, m.in)
	return r
}

// failed is the result of a cell whose line is wrong.
func failed(c *cell.Cell, line int, err error) *cell.Result {
	var asked *helpAsked
	if errors.As(err, &asked) {
		if mg := registry[asked.magic]; mg != nil {
			return textResult(mg.describe())
		}
		return &cell.Result{}
	}
	name := "Error"
	var u *usageError
	switch {
	case errors.As(err, &u):
		name = "UsageError"
	case errors.Is(err, context.Canceled):
		name, err = "Interrupted", errors.New("interrupted")
	}
	pos := cell.Pos{Cell: c.N, Line: line, Col: 1}
	text := []string{fmt.Sprintf("\x1b[31m%s\x1b[0m: %v", name, err)}
	if lines := strings.Split(c.Code, "\n"); line >= 1 && line <= len(lines) {
		text = append(text, fmt.Sprintf("In[%d]:%d", c.N, line), "    "+strings.TrimRight(lines[line-1], "\r"))
	}
	return &cell.Result{Err: &cell.UserError{Name: name, Message: err.Error(), Frames: []cell.Frame{{Pos: pos}}, Text: text}}
}

// Expression implements kernel.Engine.
func (e *Engine) Expression(ctx context.Context, expr string) (cell.Bundle, *cell.UserError) {
	return e.lang.Expression(ctx, expr)
}

// Comm implements kernel.Engine.
func (e *Engine) Comm(op, id, target string, data, metadata json.RawMessage, buffers [][]byte) bool {
	return e.lang.Comm(op, id, target, data, metadata, buffers)
}

// InterruptAgain implements kernel.Interrupter.
func (e *Engine) InterruptAgain() { e.lang.InterruptAgain() }

// Background implements kernel.Engine.
func (e *Engine) Background(out cell.Output) { e.lang.Background(out) }

// Info implements kernel.Engine.
func (e *Engine) Info() kernel.LanguageInfo { return e.lang.Info() }

// Shutdown implements kernel.Engine.
func (e *Engine) Shutdown(ctx context.Context) { e.lang.Shutdown(ctx) }
