// Package fakeengine is a kernel.Engine for tests of the Jupyter side. Its language is a list of commands, one a line, each
// of which does one thing that a real cell might; see Execute. It is not a model of how Go runs.
package fakeengine

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gander-go/gander/kernel"
	"github.com/gander-go/gander/kernel/cell"
)

// Engine is the fake. Its zero value is ready.
type Engine struct {
	// mu guards the fields below.
	mu         sync.Mutex
	background cell.Output
	again      chan struct{} // closed by InterruptAgain
	down       chan struct{} // closed by Shutdown
	comms      map[string]string
	log        []string // names of the cells that ran and of comm messages
	wg         sync.WaitGroup
}

var (
	_ kernel.Engine      = (*Engine)(nil)
	_ kernel.Interrupter = (*Engine)(nil)
)

func (e *Engine) init() {
	if e.down == nil {
		e.down = make(chan struct{})
		e.comms = make(map[string]string)
	}
}

// Execute implements kernel.Engine. The commands are:
//
//	print TEXT, eprint TEXT   a line on stdout, stderr        raw TEXT     bytes on stdout, a Go string without quotes
//	value TEXT                the result, as text             html TEXT    a display
//	update ID TEXT            an update of a display          clear        clears
//	fail NAME MESSAGE         ends the cell with an error     panic        the engine itself panics
//	sleep DURATION            stops when interrupted          stubborn     stops at the second interrupt
//	ask PROMPT, secret PROMPT prints what the user answers    spam BYTES   lines of stdout
//	late DURATION TEXT        prints from a goroutine that outlives the cell
//	page TEXT, next TEXT      payloads                        comm TARGET  opens a comm with the front end
//	nan                       a display with a value that has no JSON form
func (e *Engine) Execute(ctx context.Context, c *cell.Cell, out cell.Output, in cell.Input) *cell.Result {
	e.mu.Lock()
	e.init()
	e.again = make(chan struct{})
	again := e.again
	e.log = append(e.log, c.Code)
	e.mu.Unlock()
	res := &cell.Result{}
	for line := range strings.Lines(c.Code) {
		cmd, arg, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		if err := e.run(ctx, cmd, arg, out, in, res, again); err != nil {
			res.Err = err
			res.Value = nil
			return res
		}
	}
	return res
}

func (e *Engine) run(ctx context.Context, cmd, arg string, out cell.Output, in cell.Input, res *cell.Result, again <-chan struct{}) *cell.UserError {
	interrupted := &cell.UserError{Name: "Interrupted", Message: "the cell was interrupted", Text: []string{"Interrupted"}}
	switch cmd {
	case "":
	case "print":
		out.Stream(cell.Stdout, arg+"\n")
	case "eprint":
		out.Stream(cell.Stderr, arg+"\n")
	case "raw":
		s, err := strconv.Unquote(`"` + arg + `"`)
		if err != nil {
			return &cell.UserError{Name: "SyntaxError", Message: err.Error()}
		}
		out.Stream(cell.Stdout, s)
	case "value":
		b := cell.Text(arg)
		res.Value = &b
	case "html":
		out.Display(cell.Bundle{Data: map[string]any{"text/html": arg, "text/plain": "html"}, DisplayID: "d1"})
	case "update":
		id, text, _ := strings.Cut(arg, " ")
		out.Update(cell.Bundle{Data: map[string]any{"text/plain": text}, DisplayID: id})
	case "nan":
		nan := 0.0
		out.Display(cell.Bundle{Data: map[string]any{"application/json": nan / nan, "text/plain": "nan", "text/x; charset=utf-8": []byte("x"), "image/png": []byte{1, 2, 3}, "bad": 1}})
	case "clear":
		out.Clear(true)
	case "fail":
		name, msg, _ := strings.Cut(arg, " ")
		return &cell.UserError{Name: name, Message: msg}
	case "panic":
		panic("engine panicked")
	case "sleep":
		d, err := time.ParseDuration(arg)
		if err != nil {
			return &cell.UserError{Name: "SyntaxError", Message: err.Error()}
		}
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return interrupted
		}
	case "stubborn":
		select {
		case <-again:
			return interrupted
		case <-e.down:
			return &cell.UserError{Name: "SessionDied", Message: "shut down"}
		}
	case "ask", "secret":
		s, err := in.Ask(arg, cmd == "secret")
		if err != nil {
			return &cell.UserError{Name: "InputError", Message: err.Error()}
		}
		out.Stream(cell.Stdout, s+"\n")
	case "spam":
		n, _ := strconv.Atoi(arg)
		const text = "All work and no play makes the gander a dull bird.............!\n"
		for range n / len(text) {
			out.Stream(cell.Stdout, text)
		}
	case "late":
		d, text, _ := strings.Cut(arg, " ")
		wait, _ := time.ParseDuration(d)
		e.wg.Go(func() {
			time.Sleep(wait)
			out.Stream(cell.Stdout, text+"\n")
		})
	case "page":
		res.Payload = append(res.Payload, cell.Payload{Source: "page", Data: map[string]any{"text/plain": arg}})
	case "next":
		res.Payload = append(res.Payload, cell.Payload{Source: "set_next_input", Text: arg})
	case "comm":
		out.(kernel.CommOutput).Comm("open", "kernel-side", arg, json.RawMessage(`{"a":1}`), nil, [][]byte{{1, 2, 3}})
	default:
		return &cell.UserError{Name: "SyntaxError", Message: fmt.Sprintf("unknown command %q", cmd)}
	}
	return nil
}

// Expression implements kernel.Engine: "fail" fails, everything else is its own value.
func (e *Engine) Expression(_ context.Context, expr string) (cell.Bundle, *cell.UserError) {
	if expr == "fail" {
		return cell.Bundle{}, &cell.UserError{Name: "ExprError", Message: "no value"}
	}
	return cell.Text(expr), nil
}

// words are what completion knows.
var words = []string{"print", "printer", "größe"}

// Complete implements kernel.Engine: words that begin with what is in front of the cursor, back to a space.
func (e *Engine) Complete(_ context.Context, code string, cursor int) cell.Completion {
	start := strings.LastIndexAny(code[:cursor], " \n") + 1
	c := cell.Completion{Start: start, End: cursor}
	for _, w := range words {
		if cursor > start && strings.HasPrefix(w, code[start:cursor]) {
			c.Items = append(c.Items, cell.CompletionItem{Text: w, Type: "function", Signature: "(text)"})
		}
	}
	return c
}

// Inspect implements kernel.Engine: it knows the word print.
func (e *Engine) Inspect(_ context.Context, code string, cursor, detail int) *cell.Bundle {
	if !strings.HasPrefix(code, "print") {
		return nil
	}
	b := cell.Text(fmt.Sprintf("print TEXT (byte %d, detail %d)", cursor, detail))
	return &b
}

// IsComplete implements kernel.Engine by the last character.
func (e *Engine) IsComplete(code string) cell.Completeness {
	switch {
	case strings.HasSuffix(code, "{"):
		return cell.Completeness{Status: "incomplete", Indent: "\t"}
	case strings.HasSuffix(code, "}}"):
		return cell.Completeness{Status: "invalid"}
	}
	return cell.Completeness{Status: "complete"}
}

// Comm implements kernel.Engine: it knows the target "known".
func (e *Engine) Comm(op, id, target string, data, metadata json.RawMessage, buffers [][]byte) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.init()
	e.log = append(e.log, fmt.Sprintf("comm %s %s %s %s %d", op, id, target, data, len(buffers)))
	switch op {
	case "open":
		if target != "known" {
			return false
		}
		e.comms[id] = target
	case "close":
		delete(e.comms, id)
		return true
	}
	_, ok := e.comms[id]
	return ok
}

// Background implements kernel.Engine.
func (e *Engine) Background(out cell.Output) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.init()
	e.background = out
}

// Print writes to the background output.
func (e *Engine) Print(text string) {
	e.mu.Lock()
	out := e.background
	e.mu.Unlock()
	out.Stream(cell.Stdout, text)
}

// Log returns the codes of the cells that ran and the comm messages that came, in order.
func (e *Engine) Log() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.log...)
}

// Info implements kernel.Engine.
func (e *Engine) Info() kernel.LanguageInfo {
	return kernel.LanguageInfo{GoVersion: "1.26.0", Banner: "fake"}
}

// InterruptAgain implements kernel.Interrupter.
func (e *Engine) InterruptAgain() {
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case <-e.again:
	default:
		if e.again != nil { // else no cell has begun yet
			close(e.again)
		}
	}
}

// Shutdown implements kernel.Engine.
func (e *Engine) Shutdown(context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.init()
	select {
	case <-e.down:
	default:
		close(e.down)
	}
}
