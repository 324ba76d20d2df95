package wire

import (
	"bytes"
	"log/slog"
	"net"
	"sync"

	"github.com/go-zeromq/zmq4"
)

// Publisher is the server end of an XPUB socket. The first thing a subscription brings is its welcome, and everything
// published later follows it; nobody waits for a subscriber that does not read.
type Publisher struct {
	s       *server
	welcome func(topic []byte) [][][]byte

	// mu guards subscribers, their topics and held, and puts what is published into one order for all.
	mu          sync.Mutex
	subscribers map[*Peer]struct{} // those with at least one topic
	held        [][]byte           // for the first subscriber; see Hold
}

// ListenPublisher binds an XPUB socket. Subscribers wait until Serve.
func ListenPublisher(name, network, address string, lim Limits, log *slog.Logger) (*Publisher, error) {
	s, err := listen(name, network, address, zmq4.XPub, lim, log)
	if err != nil {
		return nil, err
	}
	return &Publisher{s: s, subscribers: make(map[*Peer]struct{})}, nil
}

// Addr is where the socket listens.
func (p *Publisher) Addr() net.Addr { return p.s.ln.Addr() }

// Serve starts to accept subscribers and returns. welcome makes the messages that a new subscription brings, the one that
// answers it and, as far as the subscription matches, others behind it. It must not publish.
func (p *Publisher) Serve(welcome func(topic []byte) [][][]byte) {
	p.welcome = welcome
	p.s.left = func(s *Peer) {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.subscribers, s)
	}
	p.s.receive = p.subscription
	go p.s.accept()
}

// maxTopics bounds the subscriptions of one peer.
const maxTopics = 1024

// subscription handles what subscribers send: one frame of 1 (subscribe) or 0 (unsubscribe) and a topic.
func (p *Publisher) subscription(s *Peer, frames [][]byte) {
	if len(frames) != 1 || len(frames[0]) == 0 {
		return
	}
	op, topic := frames[0][0], frames[0][1:]
	p.mu.Lock()
	defer p.mu.Unlock()
	switch op {
	case 1:
		if s.topics == nil {
			s.topics = make(map[string]int)
		}
		if _, known := s.topics[string(topic)]; !known && len(s.topics) >= maxTopics {
			return
		}
		s.topics[string(topic)]++
		p.subscribers[s] = struct{}{}
		if s.topics[string(topic)] > 1 {
			return
		}
		for i, frames := range p.welcome(topic) {
			if i == 0 || matches(s, frames) {
				s.Send(frames)
			}
		}
		if p.held != nil && matches(s, p.held) {
			s.Send(p.held)
			p.held = nil
		}
	case 0:
		if s.topics == nil {
			return
		}
		if s.topics[string(topic)]--; s.topics[string(topic)] <= 0 {
			delete(s.topics, string(topic))
		}
		if len(s.topics) == 0 {
			delete(p.subscribers, s)
		}
	}
}

// matches reports whether s subscribes to a prefix of the first frame.
func matches(s *Peer, frames [][]byte) bool {
	for topic := range s.topics {
		if bytes.HasPrefix(frames[0], []byte(topic)) {
			return true
		}
	}
	return false
}

// Publish queues a message for all who subscribe to its first frame. It never waits. The frames must not be changed
// afterwards. What was held and met no subscriber until now is forgotten.
func (p *Publisher) Publish(frames [][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = nil
	p.publishLocked(frames)
}

func (p *Publisher) publishLocked(frames [][]byte) (taken bool) {
	for s := range p.subscribers {
		if matches(s, frames) {
			s.Send(frames) // one that fails is gone and will be removed
			taken = true
		}
	}
	return taken
}

// Hold publishes a message, or keeps it for the first subscriber to come, unless something else is published before.
func (p *Publisher) Hold(frames [][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.publishLocked(frames) {
		p.held = frames
	}
}

// Close waits until the subscribers have what was published (bounded by Limits.Drain) and ends all connections. It is
// idempotent.
func (p *Publisher) Close() { p.s.close() }
