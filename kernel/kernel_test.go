package kernel_test

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gander-go/gander/internal/fakeengine"
	"github.com/gander-go/gander/internal/fakefront"
	"github.com/gander-go/gander/kernel"
	"github.com/gander-go/gander/kernel/wire"
)

// fixture is a kernel over the fake engine, running until the test ends.
type fixture struct {
	engine *fakeengine.Engine
	kernel *kernel.Kernel
	conn   kernel.ConnectionInfo
	ended  chan error
}

// start runs a kernel on free ports.
func start(t testing.TB, change ...func(*kernel.ConnectionInfo, *kernel.Options)) *fixture {
	t.Helper()
	conn := kernel.ConnectionInfo{Transport: "tcp", IP: "127.0.0.1", SignatureScheme: "hmac-sha256", Key: "a key"}
	opts := kernel.Options{
		Version: "1.2.3", HistoryFile: filepath.Join(t.TempDir(), "history.jsonl"), OverflowDir: t.TempDir(), ParentPID: -1,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	for _, c := range change {
		c(&conn, &opts)
	}
	f := &fixture{engine: &fakeengine.Engine{}, ended: make(chan error, 1)}
	k, err := kernel.New(f.engine, conn, opts)
	if err != nil {
		t.Fatal(err)
	}
	f.kernel, f.conn = k, k.Connection()
	ctx, cancel := context.WithCancel(context.Background())
	go func() { f.ended <- k.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		f.waitEnd(t)
	})
	return f
}

// waitEnd waits until the kernel has ended in order.
func (f *fixture) waitEnd(t testing.TB) {
	t.Helper()
	select {
	case err := <-f.ended:
		if err != nil {
			t.Errorf("Run: %v", err)
		}
		f.ended <- err
	case <-time.After(fakefront.Patience):
		t.Error("the kernel did not end")
	}
}

// startFront runs a kernel and connects to it.
func startFront(t testing.TB, change ...func(*kernel.ConnectionInfo, *kernel.Options)) (*fixture, *fakefront.Front) {
	t.Helper()
	f := start(t, change...)
	return f, fakefront.Connect(t, f.conn)
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func equalTypes(t testing.TB, got []*fakefront.Msg, want ...string) {
	t.Helper()
	if types := fakefront.Types(got); !slices.Equal(types, want) {
		t.Errorf("messages: got %v, want %v", types, want)
	}
}

type fields = map[string]any

func TestKernelInfoOnShellAndControl(t *testing.T) {
	_, front := startFront(t)
	for _, ch := range []fakefront.Channel{fakefront.Shell, fakefront.Control, fakefront.Shell} {
		reply, out := front.Request(ch, "kernel_info_request", fields{})
		equalTypes(t, out, "busy", "idle")
		equal(t, "channel", reply.Channel, ch)
		equal(t, "version", reply.Text("implementation_version"), "1.2.3")
		equal(t, "protocol", reply.Text("protocol_version"), wire.ProtocolVersion)
		lang := reply.Content["language_info"].(map[string]any)
		equal(t, "language", lang["name"], any("go"))
		equal(t, "language version", lang["version"], any("1.26.0"))
	}
}

func TestStartingReachesTheFirstSubscriberOnce(t *testing.T) {
	f := start(t)
	first := fakefront.Connect(t, f.conn)
	first.Await("", "starting", fakefront.IsStatus("starting"))
	second := fakefront.Connect(t, f.conn)
	second.Request(fakefront.Shell, "kernel_info_request", fields{})
	if slices.ContainsFunc(second.All(), fakefront.IsStatus("starting")) {
		t.Error("a second subscriber was told that the kernel starts")
	}
	equalTypes(t, first.All()[:2], "iopub_welcome", "starting")
}

func TestHeartbeatEchoes(t *testing.T) {
	f, front := startFront(t)
	other := fakefront.Connect(t, f.conn)
	front.Beat("one")
	other.Beat("two")
	front.Beat("three")
}

func TestIPC(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "k")
	_, front := startFront(t, func(c *kernel.ConnectionInfo, _ *kernel.Options) {
		c.Transport, c.IP = "ipc", prefix
		c.ShellPort, c.IOPubPort, c.StdinPort, c.ControlPort, c.HBPort = 1, 2, 3, 4, 5
	})
	equal(t, "output", front.Execute("print hello").Stream("stdout"), "hello\n")
}

func TestNoKeyMeansNoSignature(t *testing.T) {
	_, front := startFront(t, func(c *kernel.ConnectionInfo, _ *kernel.Options) { c.Key = "" })
	equal(t, "output", front.Execute("print hello").Stream("stdout"), "hello\n")
}

func TestConnectAndUsage(t *testing.T) {
	f, front := startFront(t)
	reply, _ := front.Request(fakefront.Control, "connect_request", fields{})
	equal(t, "shell port", reply.Int("shell_port"), f.conn.ShellPort)
	reply, _ = front.Request(fakefront.Shell, "connect_request", fields{})
	equal(t, "hb port", reply.Int("hb_port"), f.conn.HBPort)
	for range 2 {
		reply, out := front.Request(fakefront.Control, "usage_request", fields{})
		equalTypes(t, out, "busy", "idle")
		if reply.Int("kernel_memory") < 1<<20 {
			t.Errorf("kernel_memory: got %v", reply.Content["kernel_memory"])
		}
	}
}

func TestShutdown(t *testing.T) {
	for _, ch := range []fakefront.Channel{fakefront.Control, fakefront.Shell} {
		for _, restart := range []bool{false, true} {
			f, front := startFront(t)
			id := front.Send(fakefront.Shell, "execute_request", fakefront.Code("sleep 1h"))
			front.Await(id, "execute_input", func(m *fakefront.Msg) bool { return m.Type == "execute_input" })
			reply, out := front.Request(ch, "shutdown_request", fields{"restart": restart})
			equal(t, "restart", reply.Content["restart"], any(restart))
			equalTypes(t, out, "busy", "shutdown_reply", "idle")
			equal(t, "running cell", front.Reply(id).Text("ename"), "Interrupted")
			f.waitEnd(t)
			again, err := kernel.New(&fakeengine.Engine{}, f.conn, kernel.Options{HistoryFile: "-"})
			if err != nil {
				t.Fatalf("binding the same ports again: %v", err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if err := again.Run(ctx); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestShutdownDeliversWhatIsQueued checks that the end of the process waits for the clients, not for a while.
func TestShutdownDeliversWhatIsQueued(t *testing.T) {
	f, front := startFront(t, func(_ *kernel.ConnectionInfo, o *kernel.Options) { o.OutputCap = 64 << 20 })
	id := front.Send(fakefront.Shell, "execute_request", fakefront.Code("spam 6000000\nprint end"))
	down := front.Send(fakefront.Shell, "execute_request", fakefront.Code("print last"))
	front.Reply(down)
	front.Send(fakefront.Control, "shutdown_request", fields{"restart": false})
	f.waitEnd(t)
	c := fakefront.Cell{Outputs: front.Outputs(id)}
	if n := len(c.Stream("stdout")); n < 5_999_000 {
		t.Errorf("%d bytes arrived", n)
	}
	last := fakefront.Cell{Outputs: front.Outputs(down)}
	equal(t, "output of the last cell", last.Stream("stdout"), "last\n")
}

func TestEndOfContextEndsKernel(t *testing.T) {
	conn := kernel.ConnectionInfo{Transport: "tcp", IP: "127.0.0.1"}
	k, err := kernel.New(&fakeengine.Engine{}, conn, kernel.Options{HistoryFile: "-", ParentPID: -1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := k.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestPortInUseIsAnError(t *testing.T) {
	f := start(t)
	if _, err := kernel.New(&fakeengine.Engine{}, f.conn, kernel.Options{HistoryFile: "-"}); err == nil {
		t.Fatal("a second kernel bound the same ports")
	}
}
