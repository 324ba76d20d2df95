package wire

import (
	"context"
	"log/slog"
	"net"
	"sync"

	"github.com/go-zeromq/zmq4"
)

// Router is the server end of a ROUTER socket. A request is handed over together with the Peer it came from, so that the
// answer takes the same connection whatever identities other connections claim.
type Router struct {
	s *server

	// mu guards the fields below.
	mu    sync.Mutex
	byID  map[string][]*Peer // connected peers of an identity, newest last
	grown chan struct{}      // closed and replaced when a peer is added
}

// ListenRouter binds a ROUTER socket; name is the channel's. Peers wait until Serve.
func ListenRouter(name, network, address string, lim Limits, log *slog.Logger) (*Router, error) {
	s, err := listen(name, network, address, zmq4.Router, lim, log)
	if err != nil {
		return nil, err
	}
	return &Router{s: s, byID: make(map[string][]*Peer), grown: make(chan struct{})}, nil
}

// Addr is where the socket listens.
func (r *Router) Addr() net.Addr { return r.s.ln.Addr() }

// Serve starts to accept connections and returns. Messages of one peer reach receive in order, in a goroutine of that peer;
// while it runs, that peer is not read.
func (r *Router) Serve(receive func(p *Peer, frames [][]byte)) {
	r.s.joined = func(p *Peer) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.byID[p.id] = append(r.byID[p.id], p)
		close(r.grown)
		r.grown = make(chan struct{})
	}
	r.s.left = func(p *Peer) {
		r.mu.Lock()
		defer r.mu.Unlock()
		ps := r.byID[p.id]
		for i, q := range ps {
			if q == p {
				ps = append(ps[:i:i], ps[i+1:]...)
				break
			}
		}
		if r.byID[p.id] = ps; len(ps) == 0 {
			delete(r.byID, p.id)
		}
	}
	r.s.receive = receive
	go r.s.accept()
}

// Peer returns the newest connection with the given identity, or nil. A client that reconnects may for a while have an old
// one beside it.
func (r *Router) Peer(id string) *Peer {
	r.mu.Lock()
	defer r.mu.Unlock()
	ps := r.byID[id]
	if len(ps) == 0 {
		return nil
	}
	return ps[len(ps)-1]
}

// AwaitPeer is Peer for a client that may still be connecting: it waits until ctx ends.
func (r *Router) AwaitPeer(ctx context.Context, id string) *Peer {
	for {
		r.mu.Lock()
		grown := r.grown
		r.mu.Unlock()
		if p := r.Peer(id); p != nil {
			return p
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return nil
		}
	}
}

// Send queues frames for p, or, when p is gone, for the newest connection with its identity.
func (r *Router) Send(p *Peer, frames [][]byte) error {
	err := p.Send(frames)
	if err == nil {
		return nil
	}
	if q := r.Peer(p.id); q != nil && q != p {
		return q.Send(frames)
	}
	return err
}

// Settle waits until every message that has reached this machine was handed to receive, or ctx ends.
func (r *Router) Settle(ctx context.Context) { r.s.settle(ctx) }

// Close takes no more messages, waits until the peers have what was sent to them (bounded by Limits.Drain), and ends all
// connections. It is idempotent.
func (r *Router) Close() { r.s.close() }
