package kernel

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/gander-go/gander/internal/bug"
	"github.com/gander-go/gander/kernel/wire"
)

var (
	errNoStdin  = errors.New("reading input: this front end does not offer input to this cell")
	errNoPeer   = errors.New("reading input: the front end is not connected to the stdin channel")
	errCellOver = errors.New("reading input: the cell has ended")
)

// connectTime is how long a client that has sent a cell may take to connect to the stdin channel too.
const connectTime = 2 * time.Second

// asking is the question that waits for an answer, if there is one.
type asking struct {
	turn chan struct{} // holds one token while somebody asks

	// mu guards the fields below.
	mu     sync.Mutex
	client string // identity of the client that was asked
	id     string // msg_id of the input_request
	answer chan string
}

// input implements cell.Input for one cell.
type input struct {
	k     *Kernel
	r     *request
	allow bool
	out   *output
	ctx   context.Context
	end   context.CancelFunc
}

func (k *Kernel) newInput(ctx context.Context, r *request, allow bool, out *output) *input {
	in := &input{k: k, r: r, allow: allow, out: out}
	in.ctx, in.end = context.WithCancel(ctx)
	return in
}

// Ask implements cell.Input. The answer "\x04" is the end of input, io.EOF.
func (in *input) Ask(prompt string, password bool) (string, error) {
	if !in.allow {
		return "", errNoStdin
	}
	a := &in.k.asking
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-in.ctx.Done():
		return "", in.ended()
	}
	if in.ctx.Err() != nil {
		return "", in.ended()
	}
	defer a.forget()
	for {
		wait, cancel := context.WithTimeout(in.ctx, connectTime)
		peer := in.k.stdin.AwaitPeer(wait, in.r.peer.ID())
		cancel()
		switch {
		case in.ctx.Err() != nil:
			return "", in.ended()
		case peer == nil:
			return "", errNoPeer
		}
		in.out.Flush()
		answer := in.send(peer, prompt, password)
		select {
		case text := <-answer:
			if text == "\x04" {
				return "", io.EOF
			}
			return text, nil
		case <-in.ctx.Done():
			return "", in.ended()
		case <-peer.Gone(): // a page that was reloaded: its new connection is asked
		}
	}
}

// send asks and returns where the answer will come. Answers that came before are to older questions and were dropped.
func (in *input) send(peer *wire.Peer, prompt string, password bool) <-chan string {
	k, a := in.k, &in.k.asking
	h := k.header("input_request")
	frames := k.messageWith(h, in.r.Routing, in.r.Raw, struct {
		Prompt   string `json:"prompt"`
		Password bool   `json:"password"`
	}{prompt, password}, extras{})
	answer := make(chan string, 1)
	a.mu.Lock()
	a.client, a.id, a.answer = in.r.peer.ID(), h.MsgID, answer
	a.mu.Unlock()
	if err := k.stdin.Send(peer, frames); err != nil {
		k.log.Debug("client left before it was asked", "err", err)
	}
	return answer
}

func (a *asking) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer = nil
}

// ended says why there is no answer.
func (in *input) ended() error {
	if cause := context.Cause(in.ctx); errors.Is(cause, errInterrupted) || errors.Is(cause, errShutdown) {
		return cause
	}
	return errCellOver
}

// receiveStdin takes the answers of clients. One that names another question as its parent is stale; some clients
// name none.
func (k *Kernel) receiveStdin(p *wire.Peer, frames [][]byte) {
	defer bug.Recover("receiving input", nil)
	r := k.decode(p, frames)
	if r == nil || r.Header.Type != "input_reply" {
		return
	}
	var content struct {
		Value string `json:"value"`
	}
	if err := r.bind(&content); err != nil {
		k.log.Warn("dropping input", "err", err)
		return
	}
	parent := r.ParentID()
	a := &k.asking
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answer == nil || p.ID() != a.client || parent != "" && parent != a.id {
		k.log.Debug("dropping input that nobody waits for")
		return
	}
	a.answer <- content.Value
	a.answer = nil
}
