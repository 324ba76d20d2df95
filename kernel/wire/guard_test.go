package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

// script is a connection that says what it holds and swallows what it is told.
type script struct{ io.Reader }

func (script) Write(p []byte) (int, error)        { return len(p), nil }
func (script) Close() error                       { return nil }
func (script) LocalAddr() net.Addr                { return nil }
func (script) RemoteAddr() net.Addr               { return nil }
func (script) SetDeadline(time.Time) error        { return nil }
func (script) SetReadDeadline(time.Time) error    { return nil }
func (script) SetWriteDeadline(t time.Time) error { return nil }

func testGreeting() []byte {
	b := make([]byte, greetingSize)
	b[0], b[9], b[10] = 0xff, 0x7f, 3
	copy(b[12:], "NULL")
	return b
}

func testReady() []byte {
	body := "\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER\x08Identity\x00\x00\x00\x02me"
	return append([]byte{flagCommand, byte(len(body))}, body...)
}

func testFrame(flags byte, body []byte) []byte {
	if len(body) < 256 {
		return append([]byte{flags, byte(len(body))}, body...)
	}
	return append(binary.BigEndian.AppendUint64([]byte{flags | flagLong}, uint64(len(body))), body...)
}

// listen1 runs a peer over what a client says and returns its messages and how it ended.
func listen1(said []byte, lim Limits) (msgs []zmq4.Msg, pending int64, err error) {
	lim = lim.withDefaults()
	var held atomic.Int64
	p := newPeer(script{bytes.NewReader(said)}, &lim, &held)
	if err := p.open(zmq4.Router); err != nil {
		p.guard.release()
		return nil, held.Load(), err
	}
	for {
		m, err := p.conn.RecvMsg()
		if err != nil {
			p.guard.release()
			return msgs, held.Load(), err
		}
		msgs = append(msgs, m)
	}
}

func TestGuardPassesMessages(t *testing.T) {
	long := bytes.Repeat([]byte("gander"), 50_000)
	said := append(testGreeting(), testReady()...)
	said = append(said, testFrame(flagMore, []byte("a"))...)
	said = append(said, testFrame(flagMore, nil)...)
	said = append(said, testFrame(0, long)...)
	said = append(said, testFrame(flagCommand, []byte("\x04PING\x00\x0actx"))...)
	said = append(said, testFrame(flagCommand, []byte("\x09SUBSCRIBEx"))...)
	said = append(said, testFrame(0, []byte("last"))...)
	msgs, pending, err := listen1(said, Limits{})
	if !errors.Is(err, io.EOF) {
		t.Errorf("end: %v", err)
	}
	if len(msgs) != 2 || len(msgs[0].Frames) != 3 || string(msgs[1].Frames[0]) != "last" {
		t.Fatalf("got %d messages", len(msgs))
	}
	if !bytes.Equal(msgs[0].Frames[2], long) {
		t.Error("a long frame has changed")
	}
	if pending != 0 {
		t.Errorf("%d bytes are still charged", pending)
	}
}

func TestGuardLimits(t *testing.T) {
	lim := Limits{Message: 1000, Frames: 3, Pending: 5000}
	start := append(testGreeting(), testReady()...)
	with := func(frames ...[]byte) []byte { return append(bytes.Clone(start), bytes.Join(frames, nil)...) }
	for name, tt := range map[string]struct {
		said []byte
		want error
	}{
		"as long as allowed":   {with(testFrame(flagMore, make([]byte, 600)), testFrame(0, make([]byte, 400))), io.EOF},
		"one byte more":        {with(testFrame(flagMore, make([]byte, 600)), testFrame(0, make([]byte, 401))), errLongFrame},
		"each message anew":    {with(testFrame(0, make([]byte, 600)), testFrame(0, make([]byte, 600))), io.EOF},
		"2^62":                 {with([]byte{flagLong, 0x40, 0, 0, 0, 0, 0, 0, 0}), errLongFrame},
		"2^63":                 {with([]byte{flagLong, 0x80, 0, 0, 0, 0, 0, 0, 0}), errLongFrame},
		"frames":               {with(testFrame(flagMore, nil), testFrame(flagMore, nil), testFrame(flagMore, nil), testFrame(0, nil)), errManyFrames},
		"reserved flags":       {with([]byte{8, 0}), errFlags},
		"long command":         {with([]byte{flagCommand | flagLong, 0, 0, 0, 0, 0, 0, 8, 0}), errCommand},
		"command in message":   {with(testFrame(flagMore, nil), testFrame(flagCommand, []byte("\x01x"))), errCommand},
		"command's name":       {with(testFrame(flagCommand, []byte("\x09x"))), errCommand},
		"message as handshake": {append(testGreeting(), testFrame(0, []byte("x"))...), errHandshake},
	} {
		_, pending, err := listen1(tt.said, lim)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
		if pending != 0 {
			t.Errorf("%s: %d bytes are still charged", name, pending)
		}
	}
	if _, _, err := listen1(with(testFrame(0, make([]byte, 900))), Limits{Pending: 500}); !errors.Is(err, errPending) {
		t.Errorf("beyond what all peers may hold: %v", err)
	}
}

func FuzzGuard(f *testing.F) {
	start := append(testGreeting(), testReady()...)
	f.Add(start)
	f.Add(append(bytes.Clone(start), testFrame(flagMore, []byte("a"))...))
	f.Add(append(bytes.Clone(start), testFrame(0, make([]byte, 300))...))
	f.Add(append(bytes.Clone(start), testFrame(flagCommand, []byte("\x04PING\x00\x0actx"))...))
	f.Add(append(bytes.Clone(start), flagLong, 0x40, 0, 0, 0, 0, 0, 0, 0))
	f.Add(append(testGreeting(), testFrame(flagCommand, []byte("\x05READY\xff"))...))
	f.Fuzz(func(t *testing.T, said []byte) {
		lim := Limits{Message: 1 << 16, Frames: 64}
		msgs, pending, err := listen1(said, lim)
		if err == nil {
			t.Fatal("it goes on after the end")
		}
		if pending != 0 {
			t.Fatalf("%d bytes are still charged", pending)
		}
		for _, m := range msgs {
			n := 0
			for _, f := range m.Frames {
				n += len(f)
			}
			if n > lim.Message || len(m.Frames) > lim.Frames {
				t.Fatalf("a message of %d bytes in %d frames came through", n, len(m.Frames))
			}
		}
	})
}
