package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-zeromq/zmq4"
)

// server accepts the connections of one socket and runs them: a reader and a writer each.
type server struct {
	name    string // of the channel, for the log
	typ     zmq4.SocketType
	ln      net.Listener
	lim     Limits
	log     *slog.Logger
	pending atomic.Int64

	joined  func(*Peer)           // before the peer's first message; may be nil
	left    func(*Peer)           // after its last; may be nil
	receive func(*Peer, [][]byte) // in the peer's own reader

	wg sync.WaitGroup // the goroutines of peers

	// mu guards the fields below.
	mu      sync.Mutex
	raw     []*Peer            // still shaking hands, oldest first
	peers   map[*Peer]struct{} // the others
	closing bool
	done    chan struct{} // closed with closing
}

// listen binds a socket. A file that a dead process left in the place of an ipc socket is removed.
func listen(name, network, address string, typ zmq4.SocketType, lim Limits, log *slog.Logger) (*server, error) {
	if network == "unix" {
		if err := removeStale(address); err != nil {
			return nil, fmt.Errorf("binding %s socket: %w", name, err)
		}
	}
	ln, err := net.Listen(network, address)
	if err != nil {
		return nil, fmt.Errorf("binding %s socket: %w", name, err)
	}
	if network == "unix" {
		if err := os.Chmod(address, 0o600); err != nil {
			ln.Close()
			return nil, fmt.Errorf("binding %s socket: %w", name, err)
		}
	}
	return &server{
		name: name, typ: typ, ln: ln, lim: lim.withDefaults(), log: log,
		peers: make(map[*Peer]struct{}), done: make(chan struct{}),
	}, nil
}

// removeStale removes the socket file at path unless somebody listens there.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&os.ModeSocket == 0 {
		return fmt.Errorf("%q exists and is not a socket", path)
	}
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return fmt.Errorf("%q is in use", path)
	}
	return os.Remove(path)
}

// accept runs until the server closes. An error (no file descriptors, most likely) is waited out, not spun on.
func (s *server) accept() {
	var delay time.Duration
	for {
		c, err := s.ln.Accept()
		if err != nil {
			s.mu.Lock()
			closing := s.closing
			s.mu.Unlock()
			if closing || errors.Is(err, net.ErrClosed) {
				return
			}
			if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
				s.evictSilent()
			}
			if delay = min(max(2*delay, 5*time.Millisecond), time.Second); delay == 5*time.Millisecond {
				s.log.Warn("accepting connection", "channel", s.name, "err", err)
			}
			select {
			case <-time.After(delay):
			case <-s.done:
				return
			}
			continue
		}
		delay = 0
		p := newPeer(c, &s.lim, &s.pending)
		if !s.admit(p) {
			c.Close()
			continue
		}
		go s.run(p)
	}
}

// admit makes room for p: at the cost of the oldest peer that has not finished its handshake, else of one that has never
// sent anything rightly signed, where peers are expected to.
func (s *server) admit(p *Peer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	if len(s.raw) >= s.lim.Greeting {
		s.evictRawLocked()
	}
	if len(s.raw)+len(s.peers) >= s.lim.Peers {
		if len(s.raw) > 0 {
			s.evictRawLocked()
		} else if !s.evictStrangerLocked() {
			s.log.Warn("too many connections, refusing another", "channel", s.name, "limit", s.lim.Peers)
			return false
		}
	}
	s.raw = append(s.raw, p)
	s.wg.Add(1)
	return true
}

var errEvicted = errors.New("made room for another connection")

// evictSilent drops the oldest peer that has been shaking hands for much longer than an honest one needs.
func (s *server) evictSilent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.raw) > 0 && time.Since(s.raw[0].began) > s.lim.Handshake/5 {
		s.evictRawLocked()
	}
}

func (s *server) evictRawLocked() {
	if len(s.raw) > 0 {
		s.raw[0].close(errEvicted)
		s.raw = s.raw[1:]
	}
}

func (s *server) evictStrangerLocked() bool {
	if s.name != "shell" && s.name != "control" {
		return false
	}
	for p := range s.peers {
		if !p.trusted.Load() {
			p.close(errEvicted)
			delete(s.peers, p)
			return true
		}
	}
	return false
}

// run serves one connection from handshake to end.
func (s *server) run(p *Peer) {
	defer s.wg.Done()
	defer p.guard.release()
	p.guard.SetDeadline(time.Now().Add(s.lim.Handshake))
	err := p.open(s.typ)
	if err == nil {
		p.guard.SetDeadline(time.Time{})
		err = s.settleIn(p)
	} else {
		s.forgetRaw(p)
	}
	if err != nil {
		p.close(err)
		s.log.Debug("dropped connection", "channel", s.name, "err", err)
		return
	}
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		p.write()
	}()
	err = s.read(p)
	p.close(err)
	s.mu.Lock()
	delete(s.peers, p)
	s.mu.Unlock()
	if s.left != nil {
		s.left(p)
	}
	switch reason := p.reason; {
	case errors.Is(reason, errQueueFull), errors.Is(reason, os.ErrDeadlineExceeded):
		s.log.Warn("disconnected a client that does not read", "channel", s.name, "err", reason)
	case !errors.Is(reason, io.EOF):
		s.log.Debug("connection ended", "channel", s.name, "err", reason)
	}
}

// settleIn moves p from those who shake hands to the others.
func (s *server) settleIn(p *Peer) error {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return ErrGone
	}
	for i, q := range s.raw {
		if q == p {
			s.raw = append(s.raw[:i], s.raw[i+1:]...)
			break
		}
	}
	s.peers[p] = struct{}{}
	s.mu.Unlock()
	if s.joined != nil {
		s.joined(p)
	}
	return nil
}

func (s *server) forgetRaw(p *Peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, q := range s.raw {
		if q == p {
			s.raw = append(s.raw[:i], s.raw[i+1:]...)
			return
		}
	}
}

// read hands over messages until the connection ends; those that come after Close began are dropped.
func (s *server) read(p *Peer) error {
	for {
		msg, err := p.conn.RecvMsg()
		if err != nil {
			return err
		}
		select {
		case <-s.done:
		default:
			s.receive(p, msg.Frames)
		}
	}
}

// snapshot returns the peers that are past their handshake.
func (s *server) snapshot() []*Peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	ps := make([]*Peer, 0, len(s.peers))
	for p := range s.peers {
		ps = append(ps, p)
	}
	return ps
}

// settle waits until everything that has reached this machine from any peer was handed to receive, or ctx ends.
func (s *server) settle(ctx context.Context) {
	for _, p := range s.snapshot() {
		for {
			ok, changed := p.guard.settled()
			if ok || p.gone() {
				break
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// close takes no more connections, delivers what is queued and ends all connections. A peer has everything once it closes
// its own side in answer to ours; Limits.Drain bounds the wait for all. It is idempotent.
func (s *server) close() {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return
	}
	s.closing = true
	close(s.done)
	for _, p := range s.raw {
		p.close(ErrGone)
	}
	s.mu.Unlock()
	s.ln.Close() // removes the file of an ipc socket
	peers := s.snapshot()
	late := time.AfterFunc(s.lim.Drain, func() {
		for _, p := range peers {
			p.close(fmt.Errorf("closing: %w within %v", errNotTaken, s.lim.Drain))
		}
	})
	defer late.Stop()
	for _, p := range peers {
		go p.finish()
	}
	s.wg.Wait()
}

var errNotTaken = errors.New("peer did not take everything")
