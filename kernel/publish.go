package kernel

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// publish sends a message to all subscribers.
func (k *Kernel) publish(typ string, parent json.RawMessage, content any) {
	k.publishWith(typ, parent, content, extras{})
}

func (k *Kernel) publishWith(typ string, parent json.RawMessage, content any, x extras) {
	if frames := k.message(typ, k.topic(typ), parent, content, x); frames != nil {
		k.iopub.Publish(frames)
	}
}

// hold publishes a message without a parent, to the first subscriber if there is none yet.
func (k *Kernel) hold(typ string, content any) {
	if frames := k.message(typ, k.topic(typ), nil, content, extras{}); frames != nil {
		k.iopub.Hold(frames)
	}
}

func (k *Kernel) topic(typ string) [][]byte {
	return [][]byte{[]byte("kernel." + k.session + "." + typ)}
}

// welcome answers a new subscription (JEP 65). Its topic is the subscription, so that it passes the subscriber's filter;
// for the empty one there is no topic frame. Who comes while a cell runs is told so: a server that reconnects after a
// restart would otherwise take the kernel for idle until the cell has ended.
func (k *Kernel) welcome(topic []byte) [][][]byte {
	if !utf8.Valid(topic) {
		return nil
	}
	var routing [][]byte
	if len(topic) > 0 {
		routing = [][]byte{topic}
	}
	msgs := [][][]byte{k.message("iopub_welcome", routing, nil, struct {
		Subscription string `json:"subscription"`
	}{string(topic)}, extras{})}
	if cell := k.status.cell.Load(); cell != nil {
		msgs = append(msgs, k.message("status", k.topic("status"), *cell, statusContent{"busy"}, extras{}))
	}
	return msgs
}

type statusContent struct {
	ExecutionState string `json:"execution_state"`
}

// statusBoard orders status messages.
type statusBoard struct {
	// mu is held while a status is published and cell is set.
	mu   sync.Mutex
	cell atomic.Pointer[json.RawMessage] // header of the cell that runs; set before its busy, unset before its idle
}

// busy says that work on the request with the given header begins.
func (k *Kernel) busy(parent json.RawMessage) {
	k.publish("status", parent, statusContent{"busy"})
}

// idle says that it has ended. Front ends and servers that look at the last status alone, among them the one that
// culls idle kernels, would take a kernel for idle that answers a completion while a cell runs: they are told again.
func (k *Kernel) idle(parent json.RawMessage) {
	k.status.mu.Lock()
	defer k.status.mu.Unlock()
	k.publish("status", parent, statusContent{"idle"})
	if cell := k.status.cell.Load(); cell != nil {
		k.publish("status", *cell, statusContent{"busy"})
	}
}

func (k *Kernel) cellBusy(parent json.RawMessage) {
	k.status.mu.Lock()
	defer k.status.mu.Unlock()
	k.status.cell.Store(&parent)
	k.publish("status", parent, statusContent{"busy"})
}

func (k *Kernel) cellIdle(parent json.RawMessage) {
	k.status.mu.Lock()
	defer k.status.mu.Unlock()
	k.status.cell.Store(nil)
	k.publish("status", parent, statusContent{"idle"})
}
