package kernel

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gander-go/gander/internal/bug"
	"github.com/gander-go/gander/kernel/cell"
)

// executeRequest is the content of an execute_request.
type executeRequest struct {
	Code            string                     `json:"code"`
	Silent          bool                       `json:"silent"`
	StoreHistory    *bool                      `json:"store_history"` // not silent, when missing
	UserExpressions map[string]json.RawMessage `json:"user_expressions"`
	AllowStdin      bool                       `json:"allow_stdin"`
	StopOnError     *bool                      `json:"stop_on_error"` // true, when missing
}

func (e *executeRequest) stores() bool {
	return !e.Silent && (e.StoreHistory == nil || *e.StoreHistory)
}

func (e *executeRequest) stops() bool {
	return !e.Silent && (e.StopOnError == nil || *e.StopOnError)
}

// executeReply is the content of an execute_reply; front ends want the lists and the map also when they are empty.
type executeReply struct {
	Status          string         `json:"status"`
	ExecutionCount  int            `json:"execution_count"`
	UserExpressions map[string]any `json:"user_expressions"`
	Payload         []any          `json:"payload"`
	*failure                       // of a reply that is not ok
}

type failure struct {
	Ename     string   `json:"ename"`
	Evalue    string   `json:"evalue"`
	Traceback []string `json:"traceback"`
}

// settleTime bounds the wait for requests that were sent before a cell failed and have not been read yet.
const settleTime = 50 * time.Millisecond

// runCells answers execute requests one after the other until the queue closes.
func (k *Kernel) runCells() {
	for {
		c, ctx, run, ok := k.cells.next(k.ctx)
		if !ok {
			return
		}
		func() {
			defer bug.Recover("executing cell", func(err error) {
				k.reply(c.request, k.executeFailure(&cell.UserError{Name: "InternalError", Message: err.Error()}))
				k.cellIdle(c.Raw)
			})
			select {
			case <-c.before:
			case <-ctx.Done():
			}
			if run {
				k.runCell(ctx, c.request)
			} else {
				k.abortCell(c.request)
			}
		}()
		k.cells.done()
	}
}

// abortCell answers a cell that was queued behind one that failed or was interrupted.
func (k *Kernel) abortCell(r *request) {
	k.busy(r.Raw)
	k.reply(r, executeReply{
		Status: "aborted", ExecutionCount: k.count, UserExpressions: map[string]any{}, Payload: []any{},
		failure: &failure{"Aborted", "not run, because a cell before it failed or was interrupted", []string{}},
	})
	k.idle(r.Raw)
}

// runCell executes one cell:
//
//  1. busy, then execute_input unless the cell is silent;
//  2. the engine runs it; output is published as it comes;
//  3. the rest of the output, then the result or the error;
//  4. the user expressions, when the cell succeeded;
//  5. when it failed, what is queued by now is marked as aborted. This comes before the reply, so that a cell which a
//     client sends because of the reply is never among them;
//  6. the reply, then idle.
func (k *Kernel) runCell(ctx context.Context, r *request) {
	k.cellBusy(r.Raw)
	req := executeRequest{}
	if err := r.bind(&req); err != nil {
		k.reply(r, k.executeFailure(&cell.UserError{Name: "BadRequest", Message: err.Error()}))
		k.cellIdle(r.Raw)
		return
	}
	blank := strings.TrimSpace(req.Code) == ""
	if req.stores() && !blank {
		k.count++
	}
	if !req.Silent {
		k.publish("execute_input", r.Raw, struct {
			Code           string `json:"code"`
			ExecutionCount int    `json:"execution_count"`
		}{req.Code, k.count})
	}

	out := k.newOutput(r.Raw, k.count, req.Silent)
	res := &cell.Result{}
	if !blank {
		res = k.execute(ctx, r, &req, out)
	}
	reply := executeReply{Status: "ok", ExecutionCount: k.count, UserExpressions: map[string]any{}, Payload: k.payloads(res.Payload)}
	if res.Err != nil {
		reply = k.executeFailure(res.Err)
		if !req.Silent {
			k.publish("error", r.Raw, reply.failure)
		}
		if req.stops() || k.cells.wasInterrupted() {
			k.abortQueued()
		}
	} else {
		k.evaluate(ctx, req.UserExpressions, reply.UserExpressions)
		if k.cells.wasInterrupted() {
			k.abortQueued()
		}
	}
	k.reply(r, reply)
	k.cellIdle(r.Raw)
}

// execute runs the cell and publishes what it shows, apart from an error.
func (k *Kernel) execute(ctx context.Context, r *request, req *executeRequest, out *output) *cell.Result {
	c := &cell.Cell{N: k.count, Code: req.Code, ID: cellID(r.Metadata), Silent: req.Silent, AllowStdin: req.AllowStdin}
	if req.stores() {
		k.note(k.history.Input(k.count, req.Code))
	}
	if !req.Silent {
		k.latest.Store(out)
	}
	in := k.newInput(ctx, r, req.AllowStdin, out)
	res := k.callEngine(ctx, c, out, in)
	in.end()
	if res.Err == nil && res.Value != nil && !req.Silent {
		out.result(*res.Value)
	}
	out.end()
	if res.Err == nil && res.Value != nil && req.stores() {
		if text, ok := res.Value.Data["text/plain"].(string); ok {
			k.note(k.history.Output(k.count, text))
		}
	}
	return res
}

// callEngine runs the cell; an engine that panics has failed the cell, not the kernel.
func (k *Kernel) callEngine(ctx context.Context, c *cell.Cell, out *output, in *input) (res *cell.Result) {
	defer bug.Recover("running cell", func(err error) {
		res = &cell.Result{Err: &cell.UserError{Name: "InternalError", Message: err.Error()}}
	})
	if res = k.engine.Execute(ctx, c, out, in); res == nil {
		bug.Reportf("running cell: the engine returned no result")
		res = &cell.Result{}
	}
	return res
}

// abortQueued aborts the cells that were sent so far, also those that are still in the sockets' buffers.
func (k *Kernel) abortQueued() {
	ctx, cancel := context.WithTimeout(k.ctx, settleTime)
	defer cancel()
	k.shell.Settle(ctx)
	k.cells.abortWaiting()
}

// executeFailure is the reply to a cell that failed; its failure is what the error message carries too.
func (k *Kernel) executeFailure(e *cell.UserError) executeReply {
	lines := e.Text
	if len(lines) == 0 {
		lines = []string{e.Error()}
	}
	return executeReply{
		Status: "error", ExecutionCount: k.count, UserExpressions: map[string]any{}, Payload: []any{},
		failure: &failure{e.Name, e.Message, lines},
	}
}

// evaluate evaluates user expressions into values.
func (k *Kernel) evaluate(ctx context.Context, exprs map[string]json.RawMessage, values map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(exprs)) {
		var expr string
		if err := json.Unmarshal(exprs[name], &expr); err != nil {
			values[name] = failed("BadRequest", "the expression is not a string")
			continue
		}
		b, uerr := k.engine.Expression(ctx, expr)
		if uerr != nil {
			f := k.executeFailure(uerr).failure
			values[name] = errorContent{"error", f.Ename, f.Evalue, f.Traceback}
			continue
		}
		values[name] = struct {
			Status string `json:"status"`
			display
		}{"ok", k.encodeBundle(b)}
	}
}

// payloads turns instructions for the front end into what the reply carries.
func (k *Kernel) payloads(ps []cell.Payload) []any {
	out := make([]any, 0, len(ps))
	for _, p := range ps {
		switch p.Source {
		case "page":
			data := p.Data
			if len(data) == 0 {
				data = map[string]any{"text/plain": p.Text}
			}
			out = append(out, map[string]any{"source": "page", "data": k.encodeBundle(cell.Bundle{Data: data}).Data, "start": p.Start})
		case "set_next_input":
			out = append(out, map[string]any{"source": "set_next_input", "text": p.Text, "replace": p.Replace})
		default:
			bug.Reportf("encoding payload: unknown source %q", p.Source)
		}
	}
	return out
}

// cellID returns the front end's id of the cell, which JupyterLab sends in the metadata.
func cellID(metadata json.RawMessage) string {
	var m struct {
		CellID string `json:"cellId"`
	}
	if json.Unmarshal(metadata, &m) != nil {
		return ""
	}
	return m.CellID
}

// note logs that history could not be kept.
func (k *Kernel) note(err error) {
	if err != nil {
		k.log.Warn("keeping history", "err", err)
	}
}
