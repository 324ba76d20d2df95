package fakefront

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gander-go/gander/kernel/wire"
	"github.com/go-zeromq/zmq4"
)

// Frames returns a signed request with a fresh id. Content is marshalled unless it is a json.RawMessage.
func (f *Front) Frames(typ string, content any, buffers ...[]byte) (id string, frames [][]byte) {
	return f.framesFor(typ, map[string]any{}, content, buffers...)
}

func (f *Front) framesFor(typ string, parent map[string]any, content any, buffers ...[]byte) (string, [][]byte) {
	id := f.newID()
	header := map[string]any{
		"msg_id": id, "session": f.session, "username": "fake", "date": wire.Date(time.Now()), "msg_type": typ, "version": "5.5",
	}
	parts := make([][]byte, 4)
	for i, v := range []any{header, parent, map[string]any{}, content} {
		b, err := json.Marshal(v)
		if err != nil {
			f.t.Fatalf("encoding %s: %v", typ, err)
		}
		parts[i] = b
	}
	frames := append([][]byte{[]byte("<IDS|MSG>"), []byte(f.sign(parts))}, parts...)
	return id, append(frames, buffers...)
}

// SendFrames sends frames as they are.
func (f *Front) SendFrames(ch Channel, frames [][]byte) {
	f.t.Helper()
	if err := f.sockets[ch].SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
		f.t.Fatalf("sending on %s: %v", ch, err)
	}
}

// Send sends a request and returns its id.
func (f *Front) Send(ch Channel, typ string, content any, buffers ...[]byte) string {
	f.t.Helper()
	id, frames := f.Frames(typ, content, buffers...)
	f.SendFrames(ch, frames)
	return id
}

// Reply waits for the reply to the request id.
func (f *Front) Reply(id string) *Msg {
	f.t.Helper()
	f.wait("the reply to "+id, func() bool { return f.replies[id] != nil })
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.replies[id]
}

// Outputs waits until the request id is idle and returns what came on IOPub for it, statuses included.
func (f *Front) Outputs(id string) []*Msg {
	f.t.Helper()
	f.wait("idle after "+id, func() bool {
		return slices.ContainsFunc(f.outputs[id], IsStatus("idle"))
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*Msg(nil), f.outputs[id]...)
}

// Request sends a request and waits for its reply and for idle.
func (f *Front) Request(ch Channel, typ string, content any) (*Msg, []*Msg) {
	f.t.Helper()
	id := f.Send(ch, typ, content)
	return f.Reply(id), f.Outputs(id)
}

// Await waits until ok holds for some message of the request id on IOPub ("" for those that belong to none) and
// returns the first such one.
func (f *Front) Await(id, what string, ok func(*Msg) bool) *Msg {
	f.t.Helper()
	var found *Msg
	f.wait(what, func() bool {
		for _, m := range f.outputs[id] {
			if ok(m) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// IsStatus returns a condition for Await.
func IsStatus(state string) func(*Msg) bool {
	return func(m *Msg) bool { return m.Text("execution_state") == state }
}

// All returns everything that has come on IOPub so far, in order.
func (f *Front) All() []*Msg {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*Msg(nil), f.all...)
}

// Asked waits for the nth input request, from 0.
func (f *Front) Asked(n int) *Msg {
	f.t.Helper()
	f.wait("an input request", func() bool { return len(f.asked) > n })
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[n]
}

// Answer answers an input request; a nil one stands for a client that does not say which.
func (f *Front) Answer(request *Msg, value string) {
	f.t.Helper()
	parent := map[string]any{}
	if request != nil {
		parent = request.Header
	}
	_, frames := f.framesFor("input_reply", parent, map[string]any{"status": "ok", "value": value})
	f.SendFrames(Stdin, frames)
}

// Beat sends a heartbeat and waits for its echo.
func (f *Front) Beat(payload string) {
	f.t.Helper()
	f.SendFrames(Heartbeat, [][]byte{[]byte(payload)})
	f.wait("a heartbeat", func() bool {
		for _, b := range f.beats {
			if string(b) == payload {
				return true
			}
		}
		return false
	})
}

// Cell is an executed cell.
type Cell struct {
	ID      string
	Reply   *Msg
	Outputs []*Msg // on IOPub, from busy to idle
}

// Code is the content of an execute request with the given fields changed.
func Code(code string, changes ...map[string]any) map[string]any {
	c := map[string]any{
		"code": code, "silent": false, "store_history": true, "user_expressions": map[string]any{},
		"allow_stdin": false, "stop_on_error": true,
	}
	for _, ch := range changes {
		maps.Copy(c, ch)
	}
	return c
}

// Execute runs a cell and waits for it.
func (f *Front) Execute(code string, changes ...map[string]any) *Cell {
	f.t.Helper()
	id := f.Send(Shell, "execute_request", Code(code, changes...))
	return &Cell{ID: id, Reply: f.Reply(id), Outputs: f.Outputs(id)}
}

// Stream returns all that the cell wrote to a stream.
func (c *Cell) Stream(name string) string {
	var b strings.Builder
	for _, m := range c.Outputs {
		if m.Type == "stream" && m.Text("name") == name {
			b.WriteString(m.Text("text"))
		}
	}
	return b.String()
}

// Types returns the types of the cell's messages, a status as its state.
func (c *Cell) Types() []string { return Types(c.Outputs) }

// Types returns the types of messages, a status as its state.
func Types(msgs []*Msg) []string {
	types := make([]string, len(msgs))
	for i, m := range msgs {
		types[i] = m.Type
		if m.Type == "status" {
			types[i] = m.Text("execution_state")
		}
	}
	return types
}
