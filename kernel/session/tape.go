package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// The front's end of the tape (see worker's tape): one datagram socket that files 1 and 2 of the session process and its
// own tape file are connected to. The kernel keeps their messages in one queue, so the order of everything shown is the
// order in which it was written, whoever wrote it: Go code, C code, child processes.
//
// A single write to file 1 or 2 is one message, and one that is longer than the socket's buffer (4 MiB where we
// may ask for it, at least 400 KiB by the defaults of Linux) fails with EMSGSIZE. rt's writers cut text into messages.

// source is where a message of the tape came from.
type source uint8

const (
	fromNobody source = iota // a stranger who found the socket's address
	fromStdout               // file 1
	fromStderr               // file 2
	fromWorker               // the tape's own file
	fromFront                // the front itself: see wake
)

const (
	maxMessage = 4 << 20 // what sendBuffer lets through
	sendBuffer = 2 << 20 // the kernel doubles it
)

// tape receives messages.
type tape struct {
	conn    *net.UnixConn
	raw     rawReader
	sources map[string]source // by address
	buf     []byte

	mu   sync.Mutex
	self int // the front's own sender, -1 when it is closed; guarded by mu
}

type rawReader interface {
	Read(f func(fd uintptr) (done bool)) error
}

// newTape makes the tape, and the files for the session process: standard output, standard error, and the tape's own.
// The caller closes them once the process has them.
func newTape() (t *tape, files [3]*os.File, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("making the session's output sockets: %w", err)
			for _, f := range files {
				if f != nil {
					f.Close()
				}
			}
			if t != nil && t.conn != nil {
				t.close()
			}
		}
	}()
	// Addresses in a folder of ours that is removed at once: nobody else can connect later.
	dir, err := os.MkdirTemp("", "gander")
	if err != nil {
		return nil, files, err
	}
	defer os.RemoveAll(dir)
	name := func(s string) string { return filepath.Join(dir, s) }

	t = &tape{self: -1, sources: map[string]source{}, buf: make([]byte, maxMessage)}
	t.conn, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name("t"), Net: "unixgram"})
	if err != nil {
		return t, files, err
	}
	if t.raw, err = t.conn.SyscallConn(); err != nil {
		return t, files, err
	}
	for i, s := range []source{fromStdout, fromStderr, fromWorker, fromFront} {
		addr := name(string('0' + rune(i)))
		fd, err := sender(addr, name("t"))
		if err != nil {
			return t, files, err
		}
		if s == fromFront {
			t.self = fd
		} else {
			files[i] = os.NewFile(uintptr(fd), addr)
		}
		t.sources[addr] = s
	}
	return t, files, nil
}

// sender makes a datagram socket bound to addr and connected to the one at to.
func sender(addr, to string) (fd int, err error) {
	syscall.ForkLock.RLock()
	fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return 0, err
	}
	if err = unix.Bind(fd, &unix.SockaddrUnix{Name: addr}); err == nil {
		err = unix.Connect(fd, &unix.SockaddrUnix{Name: to})
	}
	if err != nil {
		unix.Close(fd)
		return 0, err
	}
	growBuffer(fd)
	return fd, nil
}

// receive waits for a message. The text is valid until the next call.
func (t *tape) receive() (s source, msg []byte, err error) {
	var n int
	var from unix.Sockaddr
	var readErr error
	err = t.raw.Read(func(fd uintptr) bool {
		n, from, readErr = t.next(int(fd))
		return readErr != unix.EAGAIN
	})
	if err == nil {
		err = readErr
	}
	return t.message(n, from, err)
}

// poll takes a message that is there already; ok is false when there is none.
func (t *tape) poll() (s source, msg []byte, ok bool) {
	var n int
	var from unix.Sockaddr
	var readErr error
	err := t.raw.Read(func(fd uintptr) bool {
		n, from, readErr = t.next(int(fd))
		return true
	})
	s, msg, err = t.message(n, from, errors.Join(err, readErr))
	return s, msg, err == nil
}

// wake puts a message of the front's own on the tape.
// After close it does nothing: the number of a closed file is soon another's.
func (t *tape) wake(why byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.self >= 0 {
		unix.Write(t.self, []byte{why})
	}
}

func (t *tape) close() {
	t.conn.Close() // before the lock: it ends a write that waits
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.self >= 0 {
		unix.Close(t.self)
		t.self = -1
	}
}

func (t *tape) next(fd int) (n int, from unix.Sockaddr, err error) {
	for {
		n, from, err = unix.Recvfrom(fd, t.buf, unix.MSG_DONTWAIT)
		if err != unix.EINTR {
			return n, from, err
		}
	}
}

func (t *tape) message(n int, from unix.Sockaddr, err error) (source, []byte, error) {
	if err != nil {
		return 0, nil, err
	}
	s := fromNobody
	if a, ok := from.(*unix.SockaddrUnix); ok {
		s = t.sources[a.Name]
	}
	return s, t.buf[:n], nil
}

// The messages of the tape's own file; worker's tape describes them.
const (
	tagStdout = 'o'
	tagStderr = 'e'
	tagMark   = 'm'
	tagHead   = 9
)

// parseText splits a text message of the tape's own file.
func parseText(msg []byte) (run int64, text []byte, ok bool) {
	if len(msg) < tagHead || msg[0] != tagStdout && msg[0] != tagStderr {
		return 0, nil, false
	}
	return int64(binary.LittleEndian.Uint64(msg[1:])), msg[tagHead:], true
}

// partialRune is the length of an incomplete character at the end of b: writes need not end where characters do.
func partialRune(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
