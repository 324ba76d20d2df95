package kernel_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gander-go/gander/internal/fakefront"
	"github.com/gander-go/gander/kernel"
	"github.com/gander-go/gander/kernel/wire"
)

// rawDial connects to a socket of the kernel as a stranger.
func rawDial(t testing.TB, port int) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", fmt.Sprint(port)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// hello is a ZMTP greeting with the NULL mechanism.
func hello() []byte {
	b := make([]byte, 64)
	b[0], b[9], b[10] = 0xff, 0x7f, 3
	copy(b[12:], "NULL")
	return b
}

// ready is the READY command of a socket type.
func ready(typ, identity string) []byte {
	body := []byte("\x05READY")
	for _, p := range [][2]string{{"Socket-Type", typ}, {"Identity", identity}} {
		body = append(append(body, byte(len(p[0]))), p[0]...)
		body = binary.BigEndian.AppendUint32(body, uint32(len(p[1])))
		body = append(body, p[1]...)
	}
	return append([]byte{4, byte(len(body))}, body...)
}

// rawPeer connects and shakes hands, and then leaves everything to the test.
func rawPeer(t testing.TB, port int, typ, identity string) net.Conn {
	t.Helper()
	c := rawDial(t, port)
	c.Write(append(hello(), ready(typ, identity)...))
	reply := make([]byte, 64+2)
	if _, err := io.ReadFull(c, reply); err != nil {
		t.Fatalf("shaking hands: %v", err)
	}
	if _, err := io.CopyN(io.Discard, c, int64(reply[65])); err != nil {
		t.Fatalf("shaking hands: %v", err)
	}
	return c
}

func frame(flags byte, body []byte) []byte {
	if len(body) < 256 {
		return append([]byte{flags, byte(len(body))}, body...)
	}
	return append(binary.BigEndian.AppendUint64([]byte{flags | 2}, uint64(len(body))), body...)
}

// hangsUp reports whether the kernel ends the connection.
func hangsUp(c net.Conn) bool {
	c.SetReadDeadline(time.Now().Add(fakefront.Patience))
	_, err := io.Copy(io.Discard, c)
	return err == nil || strings.Contains(err.Error(), "reset")
}

// serves checks that a good client is served as if nothing were.
func serves(t testing.TB, front *fakefront.Front) {
	t.Helper()
	equal(t, "output", front.Execute("print hello").Stream("stdout"), "hello\n")
	front.Request(fakefront.Control, "kernel_info_request", fields{})
	front.Beat(wire.NewID())
}

func ports(c kernel.ConnectionInfo) []int {
	return []int{c.ShellPort, c.ControlPort, c.StdinPort, c.HBPort, c.IOPubPort}
}

func TestHalfOpenConnections(t *testing.T) {
	f := start(t)
	for _, port := range ports(f.conn) {
		for i := range 100 {
			c := rawDial(t, port)
			c.Write(hello()[:i%64]) // and then nothing
		}
	}
	serves(t, fakefront.Connect(t, f.conn))
}

func TestSilentPeersAreDropped(t *testing.T) {
	f := start(t, func(_ *kernel.ConnectionInfo, o *kernel.Options) { o.Limits.Handshake = 50 * time.Millisecond })
	for _, port := range ports(f.conn) {
		for _, said := range [][]byte{nil, hello()[:10], hello(), append(hello(), ready("DEALER", "x")[:5]...)} {
			c := rawDial(t, port)
			c.Write(said)
			if !hangsUp(c) {
				t.Errorf("port %d: a peer that said %d bytes is still connected", port, len(said))
			}
		}
	}
	serves(t, fakefront.Connect(t, f.conn))
}

// TestMalformedPeers sends what breaks zmq4 when nothing stands in front of it, and more.
func TestMalformedPeers(t *testing.T) {
	f, front := startFront(t, func(_ *kernel.ConnectionInfo, o *kernel.Options) { o.Limits.Handshake = 500 * time.Millisecond })
	meta := func(body string) []byte { return append(hello(), frame(4, []byte("\x05READY"+body))...) }
	handshakes := map[string][]byte{
		"http":                   []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" + strings.Repeat("x", 64)),
		"tls":                    append([]byte{0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3}, make([]byte, 64)...),
		"zeroes":                 make([]byte, 4096),
		"other mechanism":        bytes.Replace(hello(), []byte("NULL"), []byte("CURV"), 1),
		"message for READY":      append(hello(), frame(0, []byte("hello"))...),
		"long frame for READY":   append(hello(), 6, 0x40, 0, 0, 0, 0, 0, 0, 0),
		"empty command":          append(hello(), 4, 0),
		"name beyond the frame":  append(hello(), 4, 2, 200, 'x'),
		"property without value": meta("\x0bSocket-Type"),
		"property beyond frame":  meta("\xff"),
		"value beyond the frame": meta("\x0bSocket-Type\xff\xff\xff\xffx"),
		"unknown socket type":    meta("\x0bSocket-Type\x00\x00\x00\x05HELLO"),
		"wrong socket type":      append(hello(), ready("PULL", "")...),
		"no metadata":            meta(""),
		"reserved flags":         append(hello(), 0xf8, 1, 0),
	}
	for name, said := range handshakes {
		for _, port := range ports(f.conn) {
			c := rawDial(t, port)
			c.Write(said)
			if !hangsUp(c) {
				t.Errorf("%s on port %d: still connected", name, port)
			}
		}
	}
	serves(t, front)

	messages := map[string][]byte{
		"frame of 2^62 bytes":       {2, 0x40, 0, 0, 0, 0, 0, 0, 0},
		"frame of 2^64-1 bytes":     {2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"message over the limit":    append([]byte{1, 1, 'x'}, 2, 0, 0, 0, 0, 0x20, 0, 0, 0),
		"reserved flags":            {8, 0},
		"command inside message":    {1, 1, 'x', 4, 1, 0},
		"command that goes on":      {5, 1, 0},
		"long command":              {6, 0, 0, 0, 0, 1, 0, 0, 0},
		"empty command":             {4, 0},
		"endless message of frames": bytes.Repeat([]byte{1, 0}, 5000),
	}
	for name, said := range messages {
		for i, port := range ports(f.conn) {
			typ := "DEALER"
			if i == 4 {
				typ = "SUB"
			}
			c := rawPeer(t, port, typ, "stranger")
			c.Write(said)
			if !hangsUp(c) {
				t.Errorf("%s on port %d: still connected", name, port)
			}
		}
	}
	serves(t, front)
}

// TestAnnouncedLengthsCostNothing announces more than the machine has, and sends none of it.
func TestAnnouncedLengthsCostNothing(t *testing.T) {
	f, front := startFront(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		c := rawPeer(t, f.conn.ShellPort, "DEALER", "")
		c.Write([]byte{2, 0, 0, 0, 0, 0x1f, 0, 0, 0}) // 496 MiB, below the limit
		c.Write(make([]byte, 1000))
	}
	serves(t, front)
	runtime.ReadMemStats(&after)
	if grown := int64(after.Sys) - int64(before.Sys); grown > 128<<20 {
		t.Errorf("memory grew by %d bytes", grown)
	}
}

func TestGarbageMessages(t *testing.T) {
	f, front := startFront(t)
	for i, port := range ports(f.conn)[:4] {
		c := rawPeer(t, port, "DEALER", fmt.Sprint("garbage", i))
		go io.Copy(io.Discard, c) // the heartbeat echoes
		var b []byte
		for n := range 10_000 {
			b = append(b, frame(byte(n&1), bytes.Repeat([]byte{byte(n)}, n%300))...)
		}
		if _, err := c.Write(b); err != nil {
			t.Errorf("port %d: %v", port, err)
		}
	}
	sub := rawPeer(t, f.conn.IOPubPort, "SUB", "")
	for n := range 10_000 {
		sub.Write(frame(byte(n&1), []byte{byte(n), 'x', byte(n >> 8)}))
	}
	serves(t, front)
}

// TestForgedMessages sends messages that are wrong in one respect each. None is answered or acted on.
func TestForgedMessages(t *testing.T) {
	f, front := startFront(t)
	forge := func(change func(frames [][]byte) [][]byte) {
		_, frames := front.Frames("execute_request", fakefront.Code("print never"))
		front.SendFrames(fakefront.Shell, change(frames))
	}
	with := func(at int, b string) func([][]byte) [][]byte {
		return func(fr [][]byte) [][]byte { fr[at] = []byte(b); return fr }
	}
	forge(with(1, ""))
	forge(with(1, strings.Repeat("0", 64)))
	forge(with(1, strings.Repeat("z", 64)))
	forge(with(1, strings.Repeat("0", 128)))
	forge(with(0, "<IDS|NOT>"))
	forge(with(5, `{"code":"print never"}`))
	forge(func(fr [][]byte) [][]byte { fr[1] = bytes.ToUpper(fr[1]); fr[5] = []byte("{}"); return fr })
	forge(func(fr [][]byte) [][]byte { return fr[:5] })
	forge(func(fr [][]byte) [][]byte { return fr[:1] })
	forge(func(fr [][]byte) [][]byte { return [][]byte{{}} })

	forger := fakefront.Connect(t, f.conn) // its own signatures are right
	_, replayed := forger.Frames("execute_request", fakefront.Code("print once"))
	forger.SendFrames(fakefront.Shell, replayed)
	forger.SendFrames(fakefront.Shell, replayed)
	front.SendFrames(fakefront.Shell, replayed)

	for _, typ := range []string{"no_such_request", "execute_reply", "status", "debug_request", "create_subshell_request", ""} {
		front.Send(fakefront.Shell, typ, fields{})
		front.Send(fakefront.Control, typ, fields{})
		front.Send(fakefront.Stdin, typ, fields{})
	}
	front.Send(fakefront.Control, "execute_request", fakefront.Code("print never")) // not of this channel
	serves(t, front)
	once := 0
	for _, code := range f.engine.Log() {
		if strings.Contains(code, "never") {
			t.Errorf("%q ran", code)
		}
		if code == "print once" {
			once++
		}
	}
	equal(t, "runs of a replayed message", once, 1)
	for _, m := range front.All() {
		if m.Parent["msg_type"] == "no_such_request" {
			t.Errorf("an unknown request was answered by %s", m.Type)
		}
	}
}

// TestStalledSubscriber has one subscriber that never reads while a cell writes far more than sockets hold.
func TestStalledSubscriber(t *testing.T) {
	f, front := startFront(t, func(_ *kernel.ConnectionInfo, o *kernel.Options) {
		o.OutputCap = 1 << 30
		o.Limits.Queue = 2 << 20
		o.Limits.Drain = 100 * time.Millisecond
	})
	stalled := rawPeer(t, f.conn.IOPubPort, "SUB", "")
	stalled.(*net.TCPConn).SetReadBuffer(4096)
	stalled.Write(frame(0, []byte{1}))
	for range 10 {
		c := front.Execute("spam 2000000")
		if n := len(c.Stream("stdout")); n < 1_999_000 {
			t.Fatalf("the good subscriber got %d bytes", n)
		}
	}
	if !hangsUp(stalled) {
		t.Error("the subscriber that does not read is still connected")
	}
	serves(t, fakefront.Connect(t, f.conn))
}

// TestStalledClient has a client that asks and never reads the answers.
func TestStalledClient(t *testing.T) {
	f, front := startFront(t, func(_ *kernel.ConnectionInfo, o *kernel.Options) {
		o.Limits.Queue = 1 << 20
		o.Limits.Drain = 100 * time.Millisecond
	})
	c := rawPeer(t, f.conn.HBPort, "DEALER", "")
	c.(*net.TCPConn).SetReadBuffer(4096)
	ping := frame(0, make([]byte, 100_000))
	for range 1000 {
		c.SetWriteDeadline(time.Now().Add(fakefront.Patience))
		if _, err := c.Write(ping); err != nil {
			break // dropped
		}
	}
	serves(t, front)
}

func TestDuplicateIdentities(t *testing.T) {
	f := start(t)
	first := fakefront.Connect(t, f.conn, fakefront.Session("same"))
	// A connection of the same identity that does not read, as a dead websocket leaves behind.
	dead := rawPeer(t, f.conn.ShellPort, "DEALER", "same")
	serves(t, first)
	second := fakefront.Connect(t, f.conn, fakefront.Session("same"))
	a := first.Send(fakefront.Shell, "execute_request", fakefront.Code("print a"))
	first.Reply(a) // and not the other, which would complain that it was sent twice
	dead.Close()
	first.Close()

	id := second.Send(fakefront.Shell, "execute_request", fakefront.Code("ask who?", fields{"allow_stdin": true}))
	second.Answer(second.Asked(0), "me")
	equal(t, "reply", second.Reply(id).Text("status"), "ok")
}

// TestReplyFollowsAReconnect loses the connection that asked while the cell runs.
func TestReplyFollowsAReconnect(t *testing.T) {
	f := start(t)
	first := fakefront.Connect(t, f.conn, fakefront.Session("tab"))
	watcher := fakefront.Connect(t, f.conn)
	id := first.Send(fakefront.Shell, "execute_request", fakefront.Code("sleep 300ms\nprint done"))
	watcher.Await(id, "busy", fakefront.IsStatus("busy"))
	first.Close()
	second := fakefront.Connect(t, f.conn, fakefront.Session("tab"))
	equal(t, "reply", second.Reply(id).Text("status"), "ok")
}

func TestManyConnections(t *testing.T) {
	f, front := startFront(t, func(_ *kernel.ConnectionInfo, o *kernel.Options) { o.Limits.Peers = 20 })
	front.Execute("print x") // it is known by a right signature now
	for range 100 {
		rawPeer(t, f.conn.ShellPort, "DEALER", "")
	}
	serves(t, front)
}

// TestOutOfFileDescriptors takes away all descriptors for a moment, and watches the processor meanwhile.
func TestOutOfFileDescriptors(t *testing.T) {
	f, front := startFront(t)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Skipf("SKIPPED: the limit of descriptors is not known: %v", err)
	}
	fd, err := syscall.Dup(0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.Close(fd)
	// The connection is made by a descriptor from before; the kernel's Accept then finds none.
	s, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(s)
	tight := old
	tight.Cur = uint64(s + 1)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &tight); err != nil {
		t.Skipf("SKIPPED: the limit of descriptors cannot be set: %v", err)
	}
	restore := func() { syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old) }
	defer restore()
	err = syscall.Connect(s, &syscall.SockaddrInet4{Port: f.conn.ShellPort, Addr: [4]byte{127, 0, 0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	before := processorTime(t)
	front.Execute("sleep 300ms")
	used := processorTime(t) - before
	restore()
	if used > 200*time.Millisecond {
		t.Errorf("accepting without descriptors used %v of 300 ms", used)
	}
	serves(t, fakefront.Connect(t, f.conn))
}

func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestNothingIsLeft runs and ends kernels with all kinds of peers, and counts goroutines and descriptors.
func TestNothingIsLeft(t *testing.T) {
	count := func() (int, int) {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skipf("SKIPPED: descriptors cannot be counted: %v", err)
		}
		return runtime.NumGoroutine(), len(fds)
	}
	cycle := func() {
		t.Run("", func(t *testing.T) {
			f := start(t, func(_ *kernel.ConnectionInfo, o *kernel.Options) { o.Limits.Drain = 50 * time.Millisecond })
			for _, port := range ports(f.conn)[:4] {
				rawDial(t, port)
				rawPeer(t, port, "DEALER", "")
			}
			c := rawPeer(t, f.conn.ShellPort, "DEALER", "")
			c.Close()
		})
	}
	cycle()
	goroutines, fds := count()
	for range 10 {
		cycle()
	}
	deadline := time.Now().Add(fakefront.Patience)
	for {
		g, d := count()
		if g <= goroutines+2 && d <= fds+2 {
			return
		}
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Fatalf("goroutines %d -> %d, descriptors %d -> %d\n%s", goroutines, g, fds, d, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(10 * time.Millisecond)
	}
}
