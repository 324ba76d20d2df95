package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Layout of what a guard lets through (ZMTP 3, https://rfc.zeromq.org/spec/23/):
//
//	greeting   64 bytes
//	frame      flags uint8, size uint8, body            size below 256
//	           flags uint8, size uint64 big-endian, body  with flagLong
const (
	greetingSize = 64

	flagMore    = 1
	flagLong    = 2
	flagCommand = 4

	maxHandshakeFrame = 8 << 10
	maxCommand        = 1 << 10  // body of a command after the handshake
	guardChunk        = 64 << 10 // first piece of a long body
	writeChunk        = 1 << 20  // what a peer must take within Limits.Stall
)

var (
	errFlags      = errors.New("reserved frame flags are set")
	errHandshake  = errors.New("handshake frame is not a short command")
	errLongFrame  = errors.New("message is longer than allowed")
	errManyFrames = errors.New("message has more frames than allowed")
	errPending    = errors.New("unfinished messages of all peers are longer than allowed")
	errCommand    = errors.New("command is malformed")
)

// guard stands between zmq4 and a connection. Reading, it hands over only whole frames of bounded size, and holds memory
// in proportion to what has arrived, never to what was announced; commands after the handshake end here. Writing,
// it gathers small writes until flush and gives up on a peer that takes nothing for long.
//
// One goroutine reads and one writes; settled may be called from any.
type guard struct {
	net.Conn
	lim     *Limits
	pending *atomic.Int64 // bytes of unfinished messages, shared by the peers of a socket
	pong    func(context []byte)

	r       *bufio.Reader
	w       *bufio.Writer
	phase   phase
	ready   []byte // checked, to be read
	inside  bool   // of a message: the last frame had flagMore
	size    int    // bytes of the message so far
	frames  int
	charged int64 // of pending

	// mu guards idle and changed.
	mu      sync.Mutex
	idle    bool          // the reader waits for a new message and has handed over all before it
	changed chan struct{} // closed and replaced when idle becomes true and when the connection ends
}

type phase uint8

const (
	greeting phase = iota
	handshake
	traffic
)

func newGuard(c net.Conn, lim *Limits, pending *atomic.Int64) *guard {
	g := &guard{Conn: c, lim: lim, pending: pending, changed: make(chan struct{})}
	g.r = bufio.NewReaderSize(c, 8<<10)
	g.w = bufio.NewWriterSize(stallWriter{c, lim.Stall}, 16<<10)
	return g
}

// Read implements net.Conn.
func (g *guard) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(g.ready) == 0 {
		if err := g.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, g.ready)
	g.ready = g.ready[n:]
	return n, nil
}

// fill reads the next piece that zmq4 may see into ready.
func (g *guard) fill() error {
	if g.phase == greeting {
		g.flush() // our own greeting, which zmq4 has written by now
		b := make([]byte, greetingSize)
		if _, err := io.ReadFull(g.r, b); err != nil {
			return err
		}
		g.ready, g.phase = b, handshake
		return nil
	}
	g.flushHandshake()
	if !g.inside {
		g.release()
		g.awaitMessage()
	}
	flags, size, header, err := g.readHeader()
	if err != nil {
		return err
	}
	switch {
	case g.phase == handshake:
		if flags&flagCommand == 0 || flags&flagMore != 0 || size > maxHandshakeFrame {
			return errHandshake
		}
	case flags&flagCommand != 0:
		return g.command(flags, size)
	default:
		g.frames++
		if g.frames > g.lim.Frames {
			return errManyFrames
		}
		if size > uint64(g.lim.Message-g.size) {
			return fmt.Errorf("%w: %d bytes more after %d", errLongFrame, size, g.size)
		}
	}
	body, err := g.readBody(header, int(size))
	if err != nil {
		return err
	}
	g.size += int(size)
	g.inside = flags&flagMore != 0
	g.ready = body
	return nil
}

// flushHandshake sends what zmq4 has written so far: during the handshake nobody else flushes.
func (g *guard) flushHandshake() {
	if g.phase == handshake {
		g.flush()
	}
}

func (g *guard) readHeader() (flags byte, size uint64, header []byte, err error) {
	var h [9]byte
	if _, err = io.ReadFull(g.r, h[:2]); err != nil {
		return 0, 0, nil, err
	}
	flags = h[0]
	if flags&^(flagMore|flagLong|flagCommand) != 0 {
		return 0, 0, nil, errFlags
	}
	if flags&flagLong == 0 {
		return flags, uint64(h[1]), h[:2:2], nil
	}
	if _, err = io.ReadFull(g.r, h[2:]); err != nil {
		return 0, 0, nil, err
	}
	return flags, binary.BigEndian.Uint64(h[1:]), h[:], nil
}

// readBody returns header followed by size bytes of body, growing as they arrive.
func (g *guard) readBody(header []byte, size int) ([]byte, error) {
	b := make([]byte, len(header), len(header)+min(size, guardChunk))
	copy(b, header)
	for size > 0 {
		n := min(size, max(guardChunk, len(b)))
		if err := g.charge(n); err != nil {
			return nil, err
		}
		at := len(b)
		if cap(b)-at < n {
			b = append(make([]byte, 0, at+n), b...)
		}
		b = b[:at+n]
		if _, err := io.ReadFull(g.r, b[at:]); err != nil {
			return nil, err
		}
		size -= n
	}
	return b, nil
}

func (g *guard) charge(n int) error {
	g.charged += int64(n)
	if g.pending.Add(int64(n)) > int64(g.lim.Pending) {
		return errPending
	}
	return nil
}

// release forgets the message that zmq4 has taken, or the connection left unfinished.
func (g *guard) release() {
	g.pending.Add(-g.charged)
	g.charged, g.size, g.frames = 0, 0, 0
}

// command reads a command and answers a PING: one byte of name length, the name, two bytes of time to live, a context.
// Others are nothing to a kernel.
func (g *guard) command(flags byte, size uint64) error {
	if flags&flagMore != 0 || g.inside || size > maxCommand {
		return errCommand
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(g.r, b); err != nil {
		return err
	}
	if len(b) == 0 || int(b[0]) > len(b)-1 {
		return errCommand
	}
	if name, rest := string(b[1:1+b[0]]), b[1+b[0]:]; name == "PING" && len(rest) >= 2 && g.pong != nil {
		g.pong(rest[2:])
	}
	return nil
}

// awaitMessage blocks until a byte is there, and is idle meanwhile. It takes none: that would leave a moment in which
// a message is neither in the system's hands nor handed over while idle still holds.
func (g *guard) awaitMessage() {
	if g.phase != traffic || g.r.Buffered() > 0 {
		return
	}
	g.mu.Lock()
	g.idle = true
	g.pulseLocked()
	g.mu.Unlock()
	awaitReadable(g.Conn) // an error comes back on the next read
	g.mu.Lock()
	g.idle = false
	g.mu.Unlock()
}

func (g *guard) pulseLocked() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// pulse makes those who wait on what settled returned ask again.
func (g *guard) pulse() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pulseLocked()
}

// settled reports whether everything that the peer has sent was handed over; when not, the channel tells when to ask again.
func (g *guard) settled() (bool, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.idle && unread(g.Conn) == 0, g.changed
}

// Write implements net.Conn. Bytes wait for flush.
func (g *guard) Write(p []byte) (int, error) { return g.w.Write(p) }

func (g *guard) flush() error { return g.w.Flush() }

// stallWriter writes in pieces, each of which must be taken within the given time.
type stallWriter struct {
	c     net.Conn
	stall time.Duration
}

func (s stallWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if err := s.c.SetWriteDeadline(time.Now().Add(s.stall)); err != nil {
			return n, err
		}
		m, err := s.c.Write(p[:min(len(p), writeChunk)])
		n += m
		if err != nil {
			return n, err
		}
		p = p[m:]
	}
	return n, nil
}
