// Package fakefront is a Jupyter front end for tests. It connects with zmq4's client sockets, signs and verifies by its
// own code, and holds every message it gets against the message specification and the rules of order: the first
// message of a subscriber is its welcome; what belongs to a request begins with busy and ends with idle; signatures are
// right and never repeated. A breach fails the test. It is not a model of any particular front end.
package fakefront

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gander-go/gander/kernel/wire"
	"github.com/go-zeromq/zmq4"
)

// Channel is one of the five sockets of a kernel.
type Channel string

// The channels.
const (
	Shell     Channel = "shell"
	Control   Channel = "control"
	Stdin     Channel = "stdin"
	IOPub     Channel = "iopub"
	Heartbeat Channel = "hb"
)

// Patience is how long a Front waits for what must come before it fails the test.
const Patience = 20 * time.Second

// Msg is a message of the kernel.
type Msg struct {
	Channel  Channel
	Topic    string // on IOPub
	Type     string
	Header   map[string]any
	Parent   map[string]any
	Metadata map[string]any
	Content  map[string]any
	Buffers  [][]byte
}

// ParentID is the msg_id of the request that m belongs to, empty for none.
func (m *Msg) ParentID() string { s, _ := m.Parent["msg_id"].(string); return s }

// Text returns the string at key of the content.
func (m *Msg) Text(key string) string { s, _ := m.Content[key].(string); return s }

// Int returns the integer at key of the content, -1 if there is none.
func (m *Msg) Int(key string) int {
	if f, ok := m.Content[key].(float64); ok {
		return int(f)
	}
	return -1
}

// Data returns the form of a display with the given MIME type.
func (m *Msg) Data(mime string) any {
	d, _ := m.Content["data"].(map[string]any)
	return d[mime]
}

// Front is a connected front end. Its methods are for the test's goroutine; failing ends the test.
type Front struct {
	t       testing.TB
	conn    wire.ConnectionInfo
	session string
	sockets map[Channel]zmq4.Socket
	cancel  context.CancelFunc
	wg      sync.WaitGroup

	// mu guards the fields below.
	mu      sync.Mutex
	changed *sync.Cond
	next    int
	sent    map[string]bool   // requests of this Front, which it has seen from the beginning
	replies map[string]*Msg   // by request
	outputs map[string][]*Msg // on IOPub, by request
	all     []*Msg            // on IOPub, in order
	asked   []*Msg            // on stdin
	beats   [][]byte
	wrong   []string
	seen    map[string]bool // signatures
	closing bool
}

// Option changes a Front before it connects.
type Option func(*Front)

// Session sets the session, which is also the ZeroMQ identity; two Fronts may share one.
func Session(s string) Option { return func(f *Front) { f.session = s } }

// Connect connects to all channels and waits for the welcome. The Front closes, and everything that was wrong is
// reported, when the test ends.
func Connect(t testing.TB, conn wire.ConnectionInfo, opts ...Option) *Front {
	t.Helper()
	f := &Front{
		t: t, conn: conn, session: wire.NewID(), sockets: map[Channel]zmq4.Socket{},
		replies: map[string]*Msg{}, outputs: map[string][]*Msg{}, seen: map[string]bool{}, sent: map[string]bool{},
	}
	for _, o := range opts {
		o(f)
	}
	f.changed = sync.NewCond(&f.mu)
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	quiet := zmq4.WithLogger(log.New(io.Discard, "", 0))
	id := zmq4.WithID(zmq4.SocketIdentity(f.session))
	for _, c := range []struct {
		ch   Channel
		port int
	}{{IOPub, conn.IOPubPort}, {Shell, conn.ShellPort}, {Control, conn.ControlPort}, {Stdin, conn.StdinPort}, {Heartbeat, conn.HBPort}} {
		var s zmq4.Socket
		if c.ch == IOPub {
			s = zmq4.NewSub(ctx, quiet)
			if err := s.SetOption(zmq4.OptionSubscribe, ""); err != nil {
				t.Fatalf("subscribing: %v", err)
			}
		} else {
			s = zmq4.NewDealer(ctx, id, quiet)
		}
		network, address := conn.Endpoint(c.port)
		if network == "unix" {
			network = "ipc"
		}
		if err := s.Dial(network + "://" + address); err != nil {
			t.Fatalf("connecting to %s: %v", c.ch, err)
		}
		f.sockets[c.ch] = s
		f.wg.Go(func() { f.read(c.ch, s) })
	}
	t.Cleanup(f.Close)
	f.wait("the welcome", func() bool { return len(f.all) > 0 })
	return f
}

// Close disconnects and reports what was wrong. It is idempotent.
func (f *Front) Close() {
	f.mu.Lock()
	if f.closing {
		f.mu.Unlock()
		return
	}
	f.closing = true
	f.mu.Unlock()
	f.cancel()
	for _, s := range f.sockets {
		s.Close()
	}
	f.wg.Wait()
	for _, w := range f.wrong {
		f.t.Errorf("protocol: %s", w)
	}
}

// read takes in what comes on a socket.
func (f *Front) read(ch Channel, s zmq4.Socket) {
	for {
		z, err := s.Recv()
		if err != nil {
			return
		}
		f.mu.Lock()
		f.take(ch, z.Frames)
		f.changed.Broadcast()
		f.mu.Unlock()
	}
}

// take files a message and notes what is wrong with it. mu is held.
func (f *Front) take(ch Channel, frames [][]byte) {
	bad := func(format string, args ...any) { f.wrong = append(f.wrong, fmt.Sprintf(format, args...)) }
	if ch == Heartbeat {
		f.beats = append(f.beats, frames...)
		return
	}
	m, err := f.decode(ch, frames)
	if err != nil {
		bad("%s: %v", ch, err)
		return
	}
	for _, p := range m.problems() {
		bad("%s on %s: %s", m.Type, ch, p)
	}
	id := m.ParentID()
	switch ch {
	case IOPub:
		if len(f.all) == 0 && m.Type != "iopub_welcome" {
			bad("the first message of a subscriber is %s", m.Type)
		}
		f.all = append(f.all, m)
		before := f.outputs[id]
		if f.sent[id] && len(before) == 0 && m.Text("execution_state") != "busy" {
			bad("the first message of a request is %s %s", m.Type, m.Text("execution_state"))
		}
		if n := len(before); n > 0 && m.Text("execution_state") == "idle" && before[n-1].Text("execution_state") == "idle" {
			bad("a request is idle twice")
		}
		f.outputs[id] = append(before, m)
	case Stdin:
		f.asked = append(f.asked, m)
	default:
		if f.replies[id] != nil {
			bad("%s came twice", m.Type)
		}
		f.replies[id] = m
	}
}

func (f *Front) decode(ch Channel, frames [][]byte) (*Msg, error) {
	at := -1
	for i, fr := range frames {
		if string(fr) == "<IDS|MSG>" {
			at = i
			break
		}
	}
	if at < 0 || len(frames) < at+6 {
		return nil, fmt.Errorf("%d frames are no message", len(frames))
	}
	m := &Msg{Channel: ch}
	if at > 0 {
		m.Topic = string(frames[0])
	}
	if ch != IOPub && at != 0 {
		return nil, fmt.Errorf("%d routing frames of somebody else", at)
	}
	sig := string(frames[at+1])
	if want := f.sign(frames[at+2 : at+6]); sig != want {
		return nil, fmt.Errorf("signature is %q, want %q", sig, want)
	}
	if sig != "" && f.seen[sig] {
		return nil, fmt.Errorf("signature %q was used before", sig)
	}
	f.seen[sig] = true
	for i, to := range []*map[string]any{&m.Header, &m.Parent, &m.Metadata, &m.Content} {
		if err := json.Unmarshal(frames[at+2+i], to); err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		if *to == nil {
			return nil, fmt.Errorf("part %d is null", i)
		}
	}
	m.Type, _ = m.Header["msg_type"].(string)
	m.Buffers = frames[at+6:]
	return m, nil
}

// sign is the signature by hmac-sha256, the only scheme a Front knows.
func (f *Front) sign(parts [][]byte) string {
	if f.conn.Key == "" {
		return ""
	}
	h := hmac.New(sha256.New, []byte(f.conn.Key))
	for _, p := range parts {
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// wait waits until ok, which is called with mu held, and fails the test when it takes too long.
func (f *Front) wait(what string, ok func() bool) {
	f.t.Helper()
	late := false
	timer := time.AfterFunc(Patience, func() {
		f.mu.Lock()
		late = true
		f.changed.Broadcast()
		f.mu.Unlock()
	})
	defer timer.Stop()
	f.mu.Lock()
	for !ok() && !late {
		f.changed.Wait()
	}
	done := ok()
	f.mu.Unlock()
	if !done {
		f.t.Fatalf("%s did not come within %v", what, Patience)
	}
}

// newID makes the id of a request.
func (f *Front) newID() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	id := f.session + "_" + strconv.Itoa(f.next)
	f.sent[id] = true
	return id
}
