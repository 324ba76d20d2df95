package kernel

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/gander-go/gander/internal/bug"
)

// commContent is the content of comm_open, comm_msg and comm_close.
type commContent struct {
	ID     string          `json:"comm_id"`
	Target string          `json:"target_name,omitempty"`
	Data   json.RawMessage `json:"data"`
}

// openComms are the comms that are open on both sides, by id.
type openComms struct {
	// mu guards targets.
	mu      sync.Mutex
	targets map[string]string
}

func (o *openComms) add(id, target string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.targets == nil {
		o.targets = make(map[string]string)
	}
	o.targets[id] = target
}

func (o *openComms) remove(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.targets, id)
}

// commOpen, commMsg and commClose hand a message to the engine. They have no reply; a comm the engine does not know is
// closed, which is how the protocol says no.
func (k *Kernel) commOpen(_ context.Context, r *request) any {
	if c, ok := k.commReceived("open", r); ok {
		k.open.add(c.ID, c.Target)
	}
	return nil
}

func (k *Kernel) commMsg(_ context.Context, r *request) any {
	k.commReceived("msg", r)
	return nil
}

func (k *Kernel) commClose(_ context.Context, r *request) any {
	if c, _ := k.commReceived("close", r); c != nil {
		k.open.remove(c.ID)
	}
	return nil
}

// commReceived reports whether the engine knows the comm; the content is nil when it cannot be read.
func (k *Kernel) commReceived(op string, r *request) (*commContent, bool) {
	c := &commContent{}
	if err := r.bind(c); err != nil {
		k.log.Warn("dropping comm message", "err", err)
		return nil, false
	}
	known := k.engine.Comm(op, c.ID, c.Target, object(c.Data), r.Metadata, r.Buffers)
	if !known && op != "close" {
		k.open.remove(c.ID)
		k.publish("comm_close", r.Raw, commContent{ID: c.ID, Data: object(nil)})
	}
	return c, known
}

// sendComm publishes a comm message of the engine.
func (k *Kernel) sendComm(parent json.RawMessage, op, id, target string, data, metadata json.RawMessage, buffers [][]byte) {
	switch op {
	case "open":
		k.open.add(id, target)
	case "close":
		k.open.remove(id)
	case "msg":
	default:
		bug.Reportf("sending comm message: unknown operation %q", op)
		return
	}
	if op != "open" {
		target = ""
	}
	k.publishWith("comm_"+op, parent, commContent{id, target, object(data)}, extras{object(metadata), buffers})
}

// object returns b, or an empty object in place of nothing.
func object(b json.RawMessage) json.RawMessage {
	if len(b) == 0 || string(b) == "null" {
		return json.RawMessage("{}")
	}
	return b
}
