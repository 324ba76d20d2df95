package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/session/link"
	"golang.org/x/sys/unix"
)

// process is one session process as the front sees it. Its goroutines: listen reads the link, play reads the tape and
// hands everything shown on in order, reap waits for the end.
type process struct {
	cmd    *exec.Cmd
	conn   *link.Conn
	tape   *tape
	player player
	ready  link.Ready
	crash  crashReport // what the Go runtime said when it died
	born   time.Time
	served atomic.Bool // it has run something

	ordered  chan frame // frames that marks on the tape stand for
	greeting chan link.Ready
	exited   chan struct{} // closed when the process has ended; state is set
	ended    chan struct{} // closed when all that it wrote has been handed on, too
	reaped   chan struct{} // closed when the session has taken notice
	state    *os.ProcessState
	killed   atomic.Pointer[string] // why we killed it

	// mu guards what follows.
	mu      sync.Mutex
	last    int64
	pending map[int64]chan reply // requests by id
	trace   []byte               // chunks received since the last RecordReply
}

type frame struct {
	kind link.Kind
	body []byte
}

// reply is the answer to a request: the frame's body, and the trace that came before it.
type reply struct{ body, trace []byte }

var errEnded = errors.New("the session process has ended")

// startProcess starts a session process and waits for its greeting.
func startProcess(ctx context.Context, cfg *Config, background func() cell.Output, onComm func(link.Comm)) (*process, error) {
	args := cfg.Command
	if cfg.Workspace != nil {
		args = []string{cfg.Workspace.Binary}
	}
	if len(args) == 0 {
		return nil, errors.New("starting session process: no program is configured")
	}
	t, files, err := newTape()
	if err != nil {
		return nil, err
	}
	ours, theirs, err := socketPair()
	if err != nil {
		t.close()
		closeAll(files[:]...)
		return nil, err
	}
	crashR, crashW, err := os.Pipe()
	if err != nil {
		t.close()
		closeAll(append(files[:], ours, theirs)...)
		return nil, fmt.Errorf("starting session process: %w", err)
	}

	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = cfg.Dir
	cmd.Env = append(os.Environ(), cfg.Env...)
	cmd.Stdout, cmd.Stderr = files[0], files[1]
	cmd.ExtraFiles = []*os.File{theirs, files[2], crashW}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt of the front is not one of the process
	err = cmd.Start()
	closeAll(append(files[:], theirs, crashW)...) // or their other ends would never see the process end
	if err != nil {
		t.close()
		closeAll(ours, crashR)
		return nil, fmt.Errorf("starting session process: %w", err)
	}
	p := &process{
		cmd: cmd, conn: link.NewConn(ours), tape: t, born: time.Now(),
		ordered: make(chan frame, 256), greeting: make(chan link.Ready, 1),
		exited: make(chan struct{}), ended: make(chan struct{}), reaped: make(chan struct{}),
		pending: map[int64]chan reply{},
	}
	p.player = player{p: p, background: background, onComm: onComm}
	listened, crashed := make(chan struct{}), make(chan struct{})
	go func() { defer close(listened); p.listen() }()
	go func() { defer close(crashed); p.crash.read(crashR) }()
	go p.player.play()
	go p.reap(listened, crashed)

	select {
	case p.ready = <-p.greeting:
		return p, nil
	case <-p.ended:
		return nil, fmt.Errorf("starting session process %q: %s", args[0], p.describe().Message)
	case <-ctx.Done():
		p.kill("it was not wanted any more")
		<-p.ended
		return nil, fmt.Errorf("starting session process: %w", context.Cause(ctx))
	}
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// socketPair makes the link's two ends.
func socketPair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(pair[0])
		unix.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("making the session's link: %w", err)
	}
	unix.SetNonblock(pair[0], true) // so that the poller, not a thread, waits for it
	return os.NewFile(uintptr(pair[0]), "link"), os.NewFile(uintptr(pair[1]), "link"), nil
}

// listen sorts the frames of the link until it ends.
func (p *process) listen() {
	defer close(p.ordered)
	for {
		kind, body, err := p.conn.Receive()
		if err != nil {
			return
		}
		switch kind {
		case link.KindReady:
			var r link.Ready
			if json.Unmarshal(body, &r) == nil {
				select {
				case p.greeting <- r:
				default:
				}
			}
		case link.KindOutput, link.KindDone, link.KindInputRequest, link.KindComm:
			p.ordered <- frame{kind, body}
		case link.KindTrace:
			p.mu.Lock()
			p.trace = append(p.trace, body...)
			p.mu.Unlock()
		case link.KindVarsReply, link.KindRecordReply, link.KindStackReply:
			p.answer(kind, body)
		}
	}
}

func (p *process) answer(kind link.Kind, body []byte) {
	var id struct{ ID int64 }
	if json.Unmarshal(body, &id) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := reply{body: body}
	if kind == link.KindRecordReply {
		r.trace, p.trace = p.trace, nil
	}
	if c := p.pending[id.ID]; c != nil {
		c <- r
		delete(p.pending, id.ID)
	}
}

// ask sends a request and waits for its reply.
func (p *process) ask(ctx context.Context, kind link.Kind, body func(id int64) any) (reply, error) {
	c := make(chan reply, 1)
	p.mu.Lock()
	p.last++
	id := p.last
	p.pending[id] = c
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.pending, id)
		p.mu.Unlock()
	}()
	if err := p.conn.Send(kind, body(id)); err != nil {
		return reply{}, err
	}
	select {
	case r := <-c:
		return r, nil
	case <-p.ended:
		return reply{}, errEnded
	case <-ctx.Done():
		return reply{}, ctx.Err()
	}
}

// reap waits for the process to end, then for the goroutines that read what it left.
func (p *process) reap(listened, crashed chan struct{}) {
	p.cmd.Wait()
	p.state = p.cmd.ProcessState
	close(p.exited)
	// Its children go with it: their output has nowhere to go any more.
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	select {
	case <-listened:
	case <-time.After(2 * time.Second): // something has inherited the link
		p.conn.Close()
		<-listened
	}
	<-crashed
	p.tape.wake(wakeExit)
	<-p.ended
	p.conn.Close()
	p.tape.close()
}

// kill ends the process and its children at once. why is for describe.
func (p *process) kill(why string) {
	p.killed.CompareAndSwap(nil, &why)
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
}

// stop asks the process to end, and kills it when it does not.
func (p *process) stop() {
	why := "the session was closed"
	p.killed.CompareAndSwap(nil, &why)
	p.conn.Send(link.KindExit, link.Exit{})
	select {
	case <-p.exited:
	case <-time.After(500 * time.Millisecond):
		p.kill(why)
	}
	<-p.ended
}

// stack asks where the running unit is; "" when that cannot be learned soon.
func (p *process) stack() string {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	r, err := p.ask(ctx, link.KindStack, func(id int64) any { return link.Stack{ID: id} })
	if err != nil {
		return ""
	}
	var s link.StackReply
	json.Unmarshal(r.body, &s)
	return s.Stack
}
