package worker

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/gander-go/gander/kernel/session/link"
)

// input is standard input. os.Stdin is one end of a socket pair; while a unit runs, a watcher looks whether a goroutine
// is blocked reading it, asks the front for a line, and writes the line to the other end. One file serves the whole
// session, because cells keep readers of it (bufio.NewReader(os.Stdin)) in variables.
//
// Reading fails when it must not block, by a deadline in the past: when the front end allows no input, and
// when the unit is interrupted. Child processes and C code share the file without that watch: their reads fail at once
// when there is no line to read, since the file never blocks.
type input struct {
	p       *process
	feed    int // the other end
	old     *os.File
	reading func() bool // whether a goroutine is in Read of os.Stdin

	// mu guards what follows.
	mu      sync.Mutex
	last    int64
	waiting map[int64]chan link.InputReply
	allowed bool
	stop    chan struct{} // closed by an interrupt and at the end of the run
	stopped bool
}

const watchEvery = 10 * time.Millisecond

var (
	errNoInput          = errors.New("the front end does not allow input here")
	errInputInterrupted = errors.New("interrupted")
)

func newInput(p *process) (*input, error) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, fmt.Errorf("making standard input: %w", err)
	}
	if err := dup(pair[0], 0); err != nil {
		return nil, fmt.Errorf("making standard input: %w", err)
	}
	syscall.Close(pair[0])
	syscall.CloseOnExec(pair[1])
	if err := syscall.SetNonblock(0, true); err != nil {
		return nil, fmt.Errorf("making standard input: %w", err)
	}
	// The file that package os made of descriptor 0 must stay reachable: its finalizer would close the descriptor.
	in := &input{p: p, feed: pair[1], old: os.Stdin, waiting: map[int64]chan link.InputReply{}, stop: make(chan struct{}), stopped: true}
	close(in.stop)
	os.Stdin = os.NewFile(0, "/dev/stdin")
	in.reading = readDetector(os.Stdin)
	return in, nil
}

// readDetector returns what tells whether a goroutine is in f.Read, by the read bit of the lock that the file's Read
// holds (internal/poll.fdMutex). nil when the file is not laid out as expected; asking for lines then takes display.Ask.
func readDetector(f *os.File) (reading func() bool) {
	defer func() {
		if recover() != nil {
			reading = nil
		}
	}()
	const readLocked = 1 << 1
	v := reflect.ValueOf(f).Elem().FieldByName("file").Elem().FieldByName("pfd").FieldByName("fdmu").FieldByName("state")
	if v.Kind() != reflect.Uint64 {
		return nil
	}
	state := (*uint64)(unsafe.Pointer(v.UnsafeAddr()))
	return func() bool { return atomic.LoadUint64(state)&readLocked != 0 }
}

// begin prepares for a run; end must be called when it is over.
func (in *input) begin(r *link.Run) (end func()) {
	in.mu.Lock()
	in.allowed = r.AllowStdin
	in.stop, in.stopped = make(chan struct{}), false
	stop := in.stop
	in.mu.Unlock()
	os.Stdin.SetReadDeadline(time.Time{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		in.watch(r, stop)
	}()
	return func() {
		in.interrupt()
		<-watched
		os.Stdin.SetReadDeadline(time.Time{})
	}
}

// watch asks for lines as long as os.Stdin is read, until stop is closed.
func (in *input) watch(r *link.Run, stop chan struct{}) {
	if in.reading == nil {
		return
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		if !in.reading() || in.buffered() {
			continue
		}
		line, err := in.ask("", false)
		if err == nil {
			in.write([]byte(line + "\n"))
			continue
		}
		if errors.Is(err, errNoInput) {
			in.p.tape.write(tapeStderr, r.ID, []byte("reading standard input: "+err.Error()+"\n"))
		}
		os.Stdin.SetReadDeadline(time.Unix(1, 0)) // this read and all later ones of the run fail
		return
	}
}

// buffered reports whether there is text that os.Stdin has not read yet.
func (in *input) buffered() bool {
	var b [1]byte
	n, _, err := syscall.Recvfrom(0, b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return err == nil && n > 0
}

func (in *input) write(b []byte) {
	for len(b) > 0 {
		n, err := syscall.Write(in.feed, b)
		if err != nil && err != syscall.EINTR {
			return
		}
		b = b[max(n, 0):]
	}
}

// ask asks the front for a line.
func (in *input) ask(prompt string, password bool) (string, error) {
	in.mu.Lock()
	if !in.allowed {
		in.mu.Unlock()
		return "", errNoInput
	}
	if in.stopped {
		in.mu.Unlock()
		return "", errInputInterrupted
	}
	in.last++
	id, reply, stop := in.last, make(chan link.InputReply, 1), in.stop
	in.waiting[id] = reply
	in.mu.Unlock()
	defer func() {
		in.mu.Lock()
		delete(in.waiting, id)
		in.mu.Unlock()
	}()
	if err := in.p.tape.send(link.KindInputRequest, link.InputRequest{ID: id, Prompt: prompt, Password: password}); err != nil {
		return "", err
	}
	select {
	case r := <-reply:
		if r.Err != "" {
			return "", errors.New(r.Err)
		}
		return r.Text, nil
	case <-stop:
		return "", errInputInterrupted
	}
}

func (in *input) answer(r *link.InputReply) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if c := in.waiting[r.ID]; c != nil {
		c <- *r
		delete(in.waiting, r.ID)
	}
}

// interrupt fails reads that wait for a line, and reports whether one did.
func (in *input) interrupt() (waited bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	waited = len(in.waiting) > 0
	if !in.stopped {
		in.stopped = true
		close(in.stop)
		os.Stdin.SetReadDeadline(time.Unix(1, 0))
	}
	return waited
}
