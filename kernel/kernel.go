// Package kernel is the Jupyter side of Gander: it serves the messaging protocol 5.5 over an Engine that knows the language.
// Every request has its own file, named after it; dispatch.go says which there are and what each may wait for.
//
// What runs where:
//
//	a reader per connection  verifies and decodes, and hands a request to one of the following
//	cells                    one goroutine, one cell at a time, in the order they came (queue.go, execute.go)
//	comms                    one goroutine, so that the messages of a comm stay in order
//	control                  one goroutine, never behind a cell
//	everything else          a goroutine for each request: a completion is answered while a cell runs
//
// It is not the place of magics, of checking or of running Go: those are behind Engine. Its invariant: each request that is
// known and well signed gets busy, what it asks for, its reply on the socket it came from, and idle, in this order; all
// output of a cell is on its way before the cell's idle; and nothing a client sends ends the process but a shutdown.
package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"os/user"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gander-go/gander/internal/bug"
	"github.com/gander-go/gander/kernel/history"
	"github.com/gander-go/gander/kernel/wire"
)

// Kernel is one running kernel: its sockets, its queue of cells and its history.
type Kernel struct {
	engine   Engine
	conn     ConnectionInfo
	opts     Options
	log      *slog.Logger
	codec    *wire.Codec
	session  string // of this process, in every header it sends
	username string

	shell, control, stdin, heartbeat *wire.Router
	iopub                            *wire.Publisher

	ctx    context.Context // of everything that runs; ends with the kernel
	cancel context.CancelFunc
	slots  chan struct{} // holds a token for each request that has a goroutine of its own

	cells    *cellQueue
	comms    *workQueue
	controls *workQueue
	status   statusBoard
	asking   asking
	open     openComms
	history  *history.Store
	usage    usageMeter

	count   int                    // the execution count; touched by the cells goroutine only
	latest  atomic.Pointer[output] // of the last cell that was not silent
	rejects atomic.Int64           // frames that were no message for us
	signals chan os.Signal

	shutdown sync.Once     // guards the end of the engine
	stop     sync.Once     // guards the closing of stopped
	stopped  chan struct{} // closed when the reply to a shutdown request was sent, or there is none to send
	ended    chan struct{} // closed when the engine has shut down
}

// maxConcurrent bounds the requests that are answered at once beside cells, comms and control.
const maxConcurrent = 64

// New binds the sockets that conn names and prepares a kernel over engine. Run serves it. Signals that Options ask for are
// taken from here on.
func New(engine Engine, conn ConnectionInfo, opts Options) (*Kernel, error) {
	signer, err := wire.NewSigner(conn.SignatureScheme, conn.Key)
	if err != nil {
		return nil, fmt.Errorf("preparing kernel: %w", err)
	}
	k := &Kernel{
		engine: engine, conn: conn, opts: opts, log: opts.Log,
		codec: wire.NewCodec(signer), session: wire.NewID(), username: opts.Username,
		slots: make(chan struct{}, maxConcurrent), asking: asking{turn: make(chan struct{}, 1)},
		cells: newCellQueue(), comms: newWorkQueue(), controls: newWorkQueue(),
		stopped: make(chan struct{}), ended: make(chan struct{}),
	}
	if k.log == nil {
		k.log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	if k.username == "" {
		k.username = username()
	}
	if k.opts.OutputCap <= 0 {
		k.opts.OutputCap = defaultOutputCap
	}
	if err := k.bind(); err != nil {
		return nil, err
	}
	if k.history, err = openHistory(opts.HistoryFile); err != nil {
		k.log.Warn("history is kept in memory only", "err", err)
		k.history = history.InMemory()
	}
	if opts.Signals {
		k.signals = make(chan os.Signal, 8)
		signal.Notify(k.signals, os.Interrupt, syscall.SIGTERM)
		if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
			signal.Notify(k.signals, syscall.SIGHUP)
		}
	}
	return k, nil
}

func openHistory(file string) (*history.Store, error) {
	if file == "-" {
		return history.InMemory(), nil
	}
	if file == "" {
		var err error
		if file, err = history.DefaultFile(); err != nil {
			return nil, err
		}
	}
	return history.Open(file)
}

func username() string {
	for _, v := range []string{"USER", "LOGNAME", "USERNAME"} {
		if u := os.Getenv(v); u != "" {
			return u
		}
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "username"
}

// bind binds the five sockets, or none.
func (k *Kernel) bind() error {
	routers := []struct {
		name string
		port *int
		to   **wire.Router
	}{
		{"shell", &k.conn.ShellPort, &k.shell}, {"control", &k.conn.ControlPort, &k.control},
		{"stdin", &k.conn.StdinPort, &k.stdin}, {"hb", &k.conn.HBPort, &k.heartbeat},
	}
	for _, r := range routers {
		network, address := k.conn.Endpoint(*r.port)
		s, err := wire.ListenRouter(r.name, network, address, k.opts.Limits, k.log)
		if err != nil {
			k.closeSockets()
			return err
		}
		*r.to = s
		*r.port = port(s.Addr(), *r.port)
	}
	network, address := k.conn.Endpoint(k.conn.IOPubPort)
	pub, err := wire.ListenPublisher("iopub", network, address, k.opts.Limits, k.log)
	if err != nil {
		k.closeSockets()
		return err
	}
	k.iopub = pub
	k.conn.IOPubPort = port(pub.Addr(), k.conn.IOPubPort)
	return nil
}

// port is the port that a socket was given when it asked for any.
func port(a net.Addr, asked int) int {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.Port
	}
	return asked
}

// Connection is where the kernel listens. It has the ports that were chosen in place of ports that were asked for as 0.
func (k *Kernel) Connection() ConnectionInfo { return k.conn }

// closeSockets delivers what is queued and closes all sockets that are bound, side by side.
func (k *Kernel) closeSockets() {
	var wg sync.WaitGroup
	for _, r := range []*wire.Router{k.shell, k.control, k.stdin, k.heartbeat} {
		if r != nil {
			wg.Go(r.Close)
		}
	}
	if k.iopub != nil {
		wg.Go(k.iopub.Close)
	}
	wg.Wait()
}

// Run serves until a client asks for shutdown, ctx ends or the parent process is gone. What was sent has reached the
// clients, as far as they take it, when it returns. It returns nil for every orderly end, and may be called once.
func (k *Kernel) Run(ctx context.Context) error {
	k.ctx, k.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer k.cancel()
	k.engine.Background(background{k})

	k.iopub.Serve(k.welcome)
	k.hold("status", statusContent{"starting"})
	k.heartbeat.Serve(func(p *wire.Peer, frames [][]byte) { p.Send(frames) })
	k.stdin.Serve(k.receiveStdin)
	k.control.Serve(k.receiver(k.control, controlHandlers))
	k.shell.Serve(k.receiver(k.shell, shellHandlers))

	var loops sync.WaitGroup
	loops.Go(k.runCells)
	loops.Go(func() { k.comms.run() })
	loops.Go(func() { k.controls.run() })

	k.waitForEnd(ctx)

	k.beginShutdown()
	<-k.ended
	k.comms.close()
	k.controls.close()
	within(time.Second, func() {
		loops.Wait()
		for range maxConcurrent { // no request is being answered any more, and none will be
			k.slots <- struct{}{}
		}
	})
	k.cancel()
	k.closeSockets()
	if k.signals != nil {
		signal.Stop(k.signals)
	}
	return k.history.Close()
}

// waitForEnd handles signals until there is a reason to end.
func (k *Kernel) waitForEnd(ctx context.Context) {
	orphaned := watchParent(k.ctx, k.opts.ParentPID)
	for {
		select {
		case <-k.stopped:
			return
		case <-ctx.Done():
			return
		case <-orphaned:
			k.log.Warn("the process that started this kernel is gone; shutting down")
			return
		case s := <-k.signals:
			if s != os.Interrupt {
				return
			}
			k.Interrupt()
		}
	}
}

// within runs f and returns when it has ended or d is over.
func within(d time.Duration, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}

// header makes the header of a message of ours.
func (k *Kernel) header(typ string) wire.Header {
	return wire.Header{
		MsgID: wire.NewID(), Session: k.session, Username: k.username, Date: wire.Date(time.Now()),
		Type: typ, Version: wire.ProtocolVersion,
	}
}

// message encodes a message of ours. parent is the raw header of the request it belongs to, nil for none. Content that
// cannot be encoded is our mistake; nil is returned.
func (k *Kernel) message(typ string, routing [][]byte, parent json.RawMessage, content any, x extras) [][]byte {
	return k.messageWith(k.header(typ), routing, parent, content, x)
}

func (k *Kernel) messageWith(h wire.Header, routing [][]byte, parent json.RawMessage, content any, x extras) [][]byte {
	body, err := marshal(content)
	if err != nil {
		bug.Reportf("encoding content of %q: %w", h.Type, err)
		return nil
	}
	frames, err := k.codec.Encode(&wire.Message{
		Routing: routing, Header: h, Parent: parent, Metadata: x.metadata, Content: body, Buffers: x.buffers,
	})
	if err != nil {
		bug.Reportf("encoding message: %w", err)
		return nil
	}
	return frames
}

// extras are the parts of a message that few have.
type extras struct {
	metadata json.RawMessage
	buffers  [][]byte
}
