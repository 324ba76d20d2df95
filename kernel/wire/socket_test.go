package wire

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

const patience = 20 * time.Second

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// dial connects to a socket with zmq4's own connection, as the other side of the protocol.
func dial(t testing.TB, addr net.Addr, typ zmq4.SocketType, id string) *zmq4.Conn {
	t.Helper()
	c, err := net.Dial(addr.Network(), addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	z, err := zmq4.Open(c, nullSecurity{}, typ, zmq4.SocketIdentity(id), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func send(t testing.TB, c *zmq4.Conn, frames ...string) {
	t.Helper()
	if err := c.SendMsg(zmq4.NewMsgFromString(frames)); err != nil {
		t.Fatal(err)
	}
}

func receive(t testing.TB, c *zmq4.Conn) []string {
	t.Helper()
	m, err := c.RecvMsg()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(m.Frames))
	for i, f := range m.Frames {
		out[i] = string(f)
	}
	return out
}

func newRouter(t testing.TB, lim Limits) *Router {
	t.Helper()
	r, err := ListenRouter("shell", "tcp", "127.0.0.1:0", lim, quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func newPublisher(t testing.TB, lim Limits) *Publisher {
	t.Helper()
	p, err := ListenPublisher("iopub", "tcp", "127.0.0.1:0", lim, quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func greet(topic []byte) [][][]byte { return [][][]byte{{[]byte("welcome to " + string(topic))}} }

// TestWelcomeComesFirst subscribes again and again while another goroutine publishes without a pause: what a subscriber
// gets begins with its welcome, and goes on without a gap.
func TestWelcomeComesFirst(t *testing.T) {
	p := newPublisher(t, Limits{})
	p.Serve(greet)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				p.Publish([][]byte{fmt.Appendf(nil, "%d", n)})
				if n%100 == 0 {
					time.Sleep(time.Millisecond) // leaves the subscribers a chance to keep up
				}
			}
		}
	})
	for range 20 {
		c := dial(t, p.Addr(), zmq4.Sub, "")
		send(t, c, "\x01")
		if got := receive(t, c)[0]; got != "welcome to " {
			t.Fatalf("the first message is %q", got)
		}
		var first int
		fmt.Sscan(receive(t, c)[0], &first)
		for n := first + 1; n < first+200; n++ {
			if got := receive(t, c)[0]; got != fmt.Sprint(n) {
				t.Fatalf("got %s after %d", got, n-1)
			}
		}
		c.Close()
	}
	close(stop)
	wg.Wait()
}

func TestTopics(t *testing.T) {
	p := newPublisher(t, Limits{})
	p.Serve(greet)
	c := dial(t, p.Addr(), zmq4.Sub, "")
	step := func(message string, want ...string) {
		t.Helper()
		send(t, c, message)
		for _, w := range want {
			if got := receive(t, c)[0]; got != w {
				t.Fatalf("after %q: got %q, want %q", message, got, w)
			}
		}
	}
	publish := func(topics ...string) {
		for _, topic := range topics {
			p.Publish([][]byte{[]byte(topic)})
		}
	}
	step("\x00never subscribed")
	step("\x01a", "welcome to a")
	step("\x01a") // twice is once
	step("\x01b", "welcome to b")
	publish("xa", "apple", "c", "bean")
	for _, want := range []string{"apple", "bean"} {
		if got := receive(t, c)[0]; got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	step("\x00b")
	step("\x01c", "welcome to c") // the answer shows that the unsubscription has arrived
	publish("bean", "apple")
	if got := receive(t, c)[0]; got != "apple" {
		t.Fatalf("got %q", got)
	}
	step("\x00a")
	step("\x01d", "welcome to d")
	publish("apple", "date") // it was subscribed twice
	if got := receive(t, c)[0]; got != "apple" {
		t.Fatalf("got %q", got)
	}
}

func TestHold(t *testing.T) {
	p := newPublisher(t, Limits{})
	p.Serve(greet)
	p.Hold([][]byte{[]byte("held")})
	c := dial(t, p.Addr(), zmq4.Sub, "")
	send(t, c, "\x01")
	receive(t, c)
	if got := receive(t, c)[0]; got != "held" {
		t.Fatalf("got %q", got)
	}
	p.Hold([][]byte{[]byte("at once")})
	if got := receive(t, c)[0]; got != "at once" {
		t.Fatalf("got %q", got)
	}
	late := newPublisher(t, Limits{})
	late.Serve(greet)
	late.Hold([][]byte{[]byte("forgotten")})
	late.Publish([][]byte{[]byte("nobody hears")})
	c = dial(t, late.Addr(), zmq4.Sub, "")
	send(t, c, "\x01")
	receive(t, c)
	late.Publish([][]byte{[]byte("next")})
	if got := receive(t, c)[0]; got != "next" {
		t.Fatalf("got %q", got)
	}
}

func TestWhatComesWithAWelcome(t *testing.T) {
	p := newPublisher(t, Limits{})
	p.Serve(func(topic []byte) [][][]byte { return [][][]byte{{[]byte("welcome")}, {[]byte("state")}} })
	c := dial(t, p.Addr(), zmq4.Sub, "")
	for _, tt := range []struct{ topic, want string }{{"x", "welcome"}, {"st", "welcome"}, {"", "state"}, {"", "welcome"}, {"", "state"}} {
		if tt.topic != "" || tt.want == "welcome" {
			send(t, c, "\x01"+tt.topic)
		}
		if got := receive(t, c)[0]; got != tt.want {
			t.Fatalf("topic %q: got %q, want %q", tt.topic, got, tt.want)
		}
	}
}

func TestRouterAnswersTheConnectionThatAsked(t *testing.T) {
	r := newRouter(t, Limits{})
	r.Serve(func(p *Peer, frames [][]byte) {
		r.Send(p, append([][]byte{[]byte(p.ID())}, frames...))
	})
	a, b := dial(t, r.Addr(), zmq4.Dealer, "same"), dial(t, r.Addr(), zmq4.Dealer, "same")
	for n := range 100 {
		send(t, a, "from a", fmt.Sprint(n))
		send(t, b, "from b", fmt.Sprint(n))
		for c, name := range map[*zmq4.Conn]string{a: "from a", b: "from b"} {
			got := receive(t, c)
			if len(got) != 3 || got[0] != "same" || got[1] != name || got[2] != fmt.Sprint(n) {
				t.Fatalf("%s got %q", name, got)
			}
		}
	}
	if p := r.Peer("same"); p == nil {
		t.Error("the identity is not known")
	}
	if p := r.Peer("other"); p != nil {
		t.Error("an identity that nobody has is known")
	}
	x, y := dial(t, r.Addr(), zmq4.Dealer, ""), dial(t, r.Addr(), zmq4.Req, "")
	send(t, x, "who")
	send(t, y, "", "who")
	if i, j := receive(t, x)[0], receive(t, y)[0]; i == j || i == "" {
		t.Errorf("two without an identity were named %q and %q", i, j)
	}
}

// TestCloseDelivers closes right after sending what fills all buffers on the way, to a client that takes its time.
func TestCloseDelivers(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		address := "127.0.0.1:0"
		if network == "unix" {
			address = filepath.Join(t.TempDir(), "s")
		}
		p, err := ListenPublisher("iopub", network, address, Limits{Drain: patience}, quiet)
		if err != nil {
			t.Fatal(err)
		}
		p.Serve(greet)
		c := dial(t, p.Addr(), zmq4.Sub, "")
		send(t, c, "\x01")
		receive(t, c)
		const messages = 200
		big := make([]byte, 100_000)
		for n := range messages {
			binary.BigEndian.PutUint32(big, uint32(n))
			p.Publish([][]byte{append([]byte(nil), big...)})
		}
		closed := make(chan struct{})
		go func() {
			p.Close()
			close(closed)
		}()
		time.Sleep(20 * time.Millisecond)
		select {
		case <-closed:
			t.Errorf("%s: Close returned before the subscriber had read anything", network)
		default:
		}
		for n := range messages {
			if got := binary.BigEndian.Uint32([]byte(receive(t, c)[0])); got != uint32(n) {
				t.Fatalf("%s: got message %d, want %d", network, got, n)
			}
		}
		if _, err := c.RecvMsg(); err == nil {
			t.Errorf("%s: there is more", network)
		}
		c.Close()
		<-closed
	}
}

func TestCloseWaitsNoLongerThanDrain(t *testing.T) {
	p := newPublisher(t, Limits{Drain: 50 * time.Millisecond})
	p.Serve(greet)
	c := dial(t, p.Addr(), zmq4.Sub, "")
	send(t, c, "\x01")
	receive(t, c)
	for range 200 {
		p.Publish([][]byte{make([]byte, 100_000)})
	}
	done := make(chan struct{})
	go func() {
		p.Close()
		p.Close()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("Close waits for a subscriber that does not read")
	}
}

// TestSettle has a receiver that is slow: everything that was sent before Settle must have reached it when Settle returns.
func TestSettle(t *testing.T) {
	r := newRouter(t, Limits{})
	var got atomic.Int64
	entered := make(chan struct{}, 1000)
	r.Serve(func(p *Peer, frames [][]byte) {
		entered <- struct{}{}
		time.Sleep(time.Millisecond)
		got.Add(1)
	})
	c := dial(t, r.Addr(), zmq4.Dealer, "")
	send(t, c, "first")
	<-entered
	const messages = 100
	for range messages - 1 {
		send(t, c, "a", "b", "c")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r.Settle(ctx)
	if n := got.Load(); n != messages {
		t.Errorf("%d of %d messages were handed over", n, messages)
	}
	r.Settle(ctx) // of a quiet socket
	c.Close()
	r.Settle(ctx)
	if ctx.Err() != nil {
		t.Error("Settle waited for a peer that is gone")
	}
}

func TestPingIsAnswered(t *testing.T) {
	r := newRouter(t, Limits{})
	r.Serve(func(p *Peer, frames [][]byte) { p.Send(frames) })
	c := dial(t, r.Addr(), zmq4.Dealer, "")
	if err := c.SendCmd(zmq4.CmdPing, []byte{0, 10, 'c', 't', 'x'}); err != nil {
		t.Fatal(err)
	}
	cmd, err := c.RecvCmd()
	if err != nil || cmd.Name != zmq4.CmdPong || string(cmd.Body) != "ctx" {
		t.Fatalf("got %q %q, %v", cmd.Name, cmd.Body, err)
	}
	send(t, c, "message")
	if got := receive(t, c); got[0] != "message" {
		t.Errorf("got %q", got)
	}
}

func TestIPCFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close() // its file stays, as after a crash
	r, err := ListenRouter("shell", "unix", path, Limits{}, quiet)
	if err != nil {
		t.Fatalf("in the place of a stale socket: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode: %v, %v", info.Mode(), err)
	}
	if _, err := ListenRouter("shell", "unix", path, Limits{}, quiet); err == nil {
		t.Error("bound a path that is in use")
	}
	r.Serve(func(p *Peer, frames [][]byte) {})
	r.Close()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("after Close: %v", err)
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ListenRouter("shell", "unix", path, Limits{}, quiet); err == nil {
		t.Error("replaced a file that is no socket")
	}
}

func BenchmarkRouterEcho(b *testing.B) {
	r := newRouter(b, Limits{})
	r.Serve(func(p *Peer, frames [][]byte) { p.Send(frames) })
	c := dial(b, r.Addr(), zmq4.Dealer, "")
	b.ReportAllocs()
	for b.Loop() {
		send(b, c, "1", "2", "3", "4", "5", "6")
		receive(b, c)
	}
}
