package worker

import (
	"encoding/binary"
	"sync"
	"syscall"

	"github.com/gander-go/gander/kernel/session/link"
)

// The tape is the one order of everything that the session process shows. Files 1 and 2 and the tape's own file are three
// datagram sockets connected to one socket of the front: the kernel queues their messages in the order in which
// they were written, and the front tells them apart by their senders' addresses. A message on the tape's own file is
//
//	tag   uint8: tapeStdout, tapeStderr or tapeMark
//	run   uint64 little-endian, of text: the run that the writing goroutine belongs to, 0 for none
//	text  of text
//
// A mark stands for the next frame on the link whose kind is in order (Output, Done, InputRequest, Comm).
const (
	tapeStdout = 'o'
	tapeStderr = 'e'
	tapeMark   = 'm'

	tapeHead  = 9
	tapeChunk = 32 << 10 // text of one message; far below the smallest limit of a datagram
)

type tape struct {
	fd   int
	conn *link.Conn
	// mu keeps the parts of one text together, and marks in the order of their frames. It guards buf.
	mu  sync.Mutex
	buf []byte
}

// write puts text on the tape. Unlike a write to file 1 or 2 it takes text of any length.
func (t *tape) write(tag byte, run int64, text []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf[:0], tag)
	t.buf = binary.LittleEndian.AppendUint64(t.buf, uint64(run))
	for len(text) > 0 {
		n := min(len(text), tapeChunk)
		t.buf = append(t.buf[:tapeHead], text[:n]...)
		writeAll(t.fd, t.buf)
		text = text[n:]
	}
}

// send sends a frame in order with the text written before and after it.
func (t *tape) send(k link.Kind, body any) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.conn.Send(k, body); err != nil {
		return err
	}
	writeAll(t.fd, []byte{tapeMark})
	return nil
}

// writeAll writes one message. It cannot fail but when the front is gone, which ends the process elsewhere.
func writeAll(fd int, b []byte) {
	for {
		if _, err := syscall.Write(fd, b); err != syscall.EINTR && err != syscall.ENOBUFS {
			return
		}
	}
}
