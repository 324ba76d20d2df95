package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zeromq/zmq4"
)

// ErrGone is returned for a peer that is no longer connected.
var ErrGone = errors.New("peer is gone")

var errQueueFull = errors.New("peer does not read: its queue is full")

// Peer is one connection to a socket. Its methods are safe for concurrent use.
type Peer struct {
	guard *guard
	conn  *zmq4.Conn // set once the handshake is done
	id    string     // the identity it gave, or one made up
	lim   *Limits
	began time.Time // when it was accepted

	trusted atomic.Bool
	left    chan struct{} // closed when it is disconnected

	// mu guards the fields below.
	mu      sync.Mutex
	wake    *sync.Cond
	queue   []outgoing
	queued  int  // cost of what is in queue and being written
	last    bool // nothing more may be queued; the writer ends when the queue is empty
	closed  bool
	reason  error
	written chan struct{} // closed when the writer has ended

	topics map[string]int // subscriptions, guarded by the Publisher's mu
}

// outgoing is one message on its way to a peer.
type outgoing struct {
	frames  [][]byte
	command []byte // instead of frames: a whole ZMTP command frame
}

// cost is what a message in a queue is charged: its bytes and something for each frame.
func (o outgoing) cost() int {
	n := 64 + len(o.command)
	for _, f := range o.frames {
		n += len(f) + 32
	}
	return n
}

func newPeer(c net.Conn, lim *Limits, pending *atomic.Int64) *Peer {
	p := &Peer{guard: newGuard(c, lim, pending), lim: lim, began: time.Now(), written: make(chan struct{}), left: make(chan struct{})}
	p.wake = sync.NewCond(&p.mu)
	p.guard.pong = p.pong
	return p
}

// ID is the ZeroMQ identity of the peer. It may be shared: see Router.Peer.
func (p *Peer) ID() string { return p.id }

// Gone is closed when the peer is disconnected.
func (p *Peer) Gone() <-chan struct{} { return p.left }

// Trust marks a peer that has sent a rightly signed message; it is not evicted for newcomers.
func (p *Peer) Trust() { p.trusted.Store(true) }

// Send queues a message without waiting. The frames must not be changed afterwards. A peer whose queue is full is
// disconnected: it does not read, and everybody else must not wait for it.
func (p *Peer) Send(frames [][]byte) error { return p.enqueue(outgoing{frames: frames}) }

// pong answers a ZMTP PING.
func (p *Peer) pong(context []byte) {
	const name = "PONG"
	b := make([]byte, 0, 9+1+len(name)+len(context))
	b = append(b, flagCommand|flagLong)
	b = binary.BigEndian.AppendUint64(b, uint64(1+len(name)+len(context)))
	b = append(append(append(b, byte(len(name))), name...), context...)
	p.enqueue(outgoing{command: b})
}

func (p *Peer) enqueue(o outgoing) error {
	n := o.cost()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.last {
		return ErrGone
	}
	if p.queued > 0 && p.queued+n > p.lim.Queue {
		if tc, ok := p.guard.Conn.(*net.TCPConn); ok {
			tc.SetLinger(0) // nor need the system keep what this peer does not take
		}
		p.closeLocked(errQueueFull)
		return fmt.Errorf("%w: %w", ErrGone, errQueueFull)
	}
	p.queue = append(p.queue, o)
	p.queued += n
	p.wake.Signal()
	return nil
}

// open shakes hands. It must return before anything else is done with p.
func (p *Peer) open(typ zmq4.SocketType) (err error) {
	defer func() {
		if r := recover(); r != nil {
			// zmq4 trusts the metadata a peer sends (v0.17.0: Property.Write, SocketType.IsCompatible).
			err = fmt.Errorf("shaking hands: malformed metadata: %v", r)
		}
	}()
	conn, err := zmq4.Open(p.guard, nullSecurity{}, typ, nil, true, nil)
	if err != nil {
		return fmt.Errorf("shaking hands: %w", err)
	}
	if err := p.guard.flush(); err != nil {
		return fmt.Errorf("shaking hands: %w", err)
	}
	p.guard.release()
	p.guard.phase = traffic
	p.conn = conn
	p.id = conn.Peer.Meta["Identity"]
	if p.id == "" {
		p.id = "\x00" + NewID() // a zero byte in front: no client may choose such a one
	}
	return nil
}

// write sends what is queued until the peer is closed, or the queue is empty after finish.
func (p *Peer) write() {
	defer close(p.written)
	var batch []outgoing
	for {
		p.mu.Lock()
		for len(p.queue) == 0 && !p.last && !p.closed {
			p.wake.Wait()
		}
		if p.closed || len(p.queue) == 0 {
			p.mu.Unlock()
			return
		}
		batch, p.queue = p.queue, batch[:0]
		p.mu.Unlock()

		var err error
		for i, o := range batch {
			if err == nil {
				err = p.writeOne(o)
			}
			batch[i] = outgoing{}
			p.mu.Lock()
			p.queued -= o.cost()
			p.mu.Unlock()
		}
		if err == nil {
			err = p.guard.flush()
		}
		if err != nil {
			p.close(fmt.Errorf("writing: %w", err))
			return
		}
	}
}

func (p *Peer) writeOne(o outgoing) error {
	if o.command != nil {
		_, err := p.guard.Write(o.command)
		return err
	}
	return p.conn.SendMsg(zmq4.NewMsgFrom(o.frames...))
}

// finish lets the writer end once everything is written, and then tells the peer that nothing more will come.
func (p *Peer) finish() {
	p.mu.Lock()
	p.last = true
	p.wake.Broadcast()
	p.mu.Unlock()
	<-p.written
	if cw, ok := p.guard.Conn.(interface{ CloseWrite() error }); ok {
		cw.CloseWrite()
	}
}

// gone reports whether the peer was disconnected.
func (p *Peer) gone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// close disconnects the peer; the first reason is kept.
func (p *Peer) close(reason error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeLocked(reason)
}

func (p *Peer) closeLocked(reason error) {
	if p.closed {
		return
	}
	p.closed, p.reason = true, reason
	close(p.left)
	p.queue = nil
	p.guard.Conn.Close()
	p.guard.pulse()
	p.wake.Broadcast()
}
