package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/gander-go/gander/internal/bug"
	"github.com/gander-go/gander/kernel/wire"
)

// request is a message of a client together with the way back.
type request struct {
	*wire.Message
	peer   *wire.Peer
	socket *wire.Router
}

// bind decodes the content of r into v. Fields that are missing keep what v holds; a field of the wrong type is an error.
func (r *request) bind(v any) error {
	if err := json.Unmarshal(r.Content, v); err != nil {
		return fmt.Errorf("reading content of %s: %w", r.Header.Type, err)
	}
	return nil
}

// lane is where a request waits for its turn.
type lane uint8

const (
	anytime lane = iota // its own goroutine
	cells               // behind the cells before it
	comms               // behind the comm messages before it
	control             // behind the control requests before it
)

// handler answers one type of request. It returns the content of the reply, nil for none.
type handler struct {
	lane   lane
	handle func(k *Kernel, ctx context.Context, r *request) any
}

// shellHandlers and controlHandlers are the requests the kernel knows. Others are ignored, as the protocol wants it.
var (
	shellHandlers = map[string]handler{
		"execute_request":     {cells, nil}, // has its own bracket: see runCell
		"inspect_request":     {anytime, (*Kernel).inspect},
		"complete_request":    {anytime, (*Kernel).complete},
		"is_complete_request": {anytime, (*Kernel).isComplete},
		"history_request":     {anytime, (*Kernel).historyRequest},
		"comm_info_request":   {anytime, (*Kernel).commInfo},
		"comm_open":           {comms, (*Kernel).commOpen},
		"comm_msg":            {comms, (*Kernel).commMsg},
		"comm_close":          {comms, (*Kernel).commClose},
		"kernel_info_request": {anytime, (*Kernel).kernelInfo},
		"connect_request":     {anytime, (*Kernel).connect},
		"shutdown_request":    {control, (*Kernel).shutdownRequest}, // deprecated here since 5.4
		"interrupt_request":   {control, (*Kernel).interruptRequest},
	}
	controlHandlers = map[string]handler{
		"kernel_info_request": {control, (*Kernel).kernelInfo},
		"connect_request":     {control, (*Kernel).connect},
		"interrupt_request":   {control, (*Kernel).interruptRequest},
		"shutdown_request":    {control, (*Kernel).shutdownRequest},
		"usage_request":       {control, (*Kernel).usageRequest},
	}
)

// receiver returns what takes the frames of a socket.
func (k *Kernel) receiver(socket *wire.Router, handlers map[string]handler) func(*wire.Peer, [][]byte) {
	return func(p *wire.Peer, frames [][]byte) {
		defer bug.Recover("receiving message", nil)
		r := k.decode(p, frames)
		if r == nil {
			return
		}
		r.socket = socket
		h, ok := handlers[r.Header.Type]
		if !ok {
			k.log.Debug("ignoring message of unknown type", "type", r.Header.Type)
			return
		}
		switch h.lane {
		case cells:
			k.cells.push(r, k.comms.barrier())
		case comms:
			k.comms.push(func() { k.serve(r, h) })
		case control:
			k.controls.push(func() { k.serve(r, h) })
		default:
			select {
			case k.slots <- struct{}{}:
			case <-k.ctx.Done():
				return
			}
			go func() {
				defer func() { <-k.slots }()
				k.serve(r, h)
			}()
		}
	}
}

// decode returns the message in frames, or nil: what is not for us, or not signed as it should be, gets no answer.
func (k *Kernel) decode(p *wire.Peer, frames [][]byte) *request {
	m, err := k.codec.Decode(frames)
	if err != nil {
		if n := k.rejects.Add(1); n <= 10 || n%1000 == 0 {
			k.log.Warn("dropping message", "err", err, "dropped", n)
		}
		return nil
	}
	p.Trust()
	return &request{Message: m, peer: p}
}

// serve answers r between busy and idle.
func (k *Kernel) serve(r *request, h handler) {
	k.busy(r.Raw)
	var content any
	func() {
		defer bug.Recover("handling "+r.Header.Type, func(err error) { content = failed("InternalError", err.Error()) })
		content = h.handle(k, k.ctx, r)
	}()
	if content != nil {
		k.reply(r, content)
	}
	if r.Header.Type == "shutdown_request" {
		k.publish("shutdown_reply", r.Raw, content)
	}
	k.idle(r.Raw)
	if r.Header.Type == "shutdown_request" {
		k.stop.Do(func() { close(k.stopped) })
	}
}

// reply sends content as the reply to r: on the connection that r came on, with its routing frames.
func (k *Kernel) reply(r *request, content any) {
	typ := strings.TrimSuffix(r.Header.Type, "_request") + "_reply"
	frames := k.message(typ, r.Routing, r.Raw, content, extras{})
	if frames == nil {
		return
	}
	if err := r.socket.Send(r.peer, frames); err != nil {
		k.log.Debug("client left before its reply", "type", typ, "err", err)
	}
}

// errorContent is the content of a reply that says what went wrong.
type errorContent struct {
	Status    string   `json:"status"` // "error"
	Ename     string   `json:"ename"`
	Evalue    string   `json:"evalue"`
	Traceback []string `json:"traceback"`
}

func failed(name, message string) errorContent {
	return errorContent{Status: "error", Ename: name, Evalue: message, Traceback: []string{name + ": " + message}}
}

// badRequest is the reply to content that cannot be read.
func badRequest(err error) errorContent { return failed("BadRequest", err.Error()) }

// answerTime is how long the engine may think about a completion or an inspection; front ends have given up by then.
const answerTime = 10 * time.Second
