package kernel_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/gander-go/gander/internal/bug"
	"github.com/gander-go/gander/internal/fakefront"
	"github.com/gander-go/gander/kernel"
)

// TestEnginePanicFailsTheCellOnly checks that a mistake of ours costs a cell and not the kernel.
func TestEnginePanicFailsTheCellOnly(t *testing.T) {
	t.Setenv("GANDER_BUGS", "report")
	_, front := startFront(t)
	before := bug.Count()
	c := front.Execute("print a\npanic\nprint b")
	equalTypes(t, c.Outputs, "busy", "execute_input", "stream", "error", "idle")
	equal(t, "ename", c.Reply.Text("ename"), "InternalError")
	equal(t, "reports", bug.Count()-before, 1)
	serves(t, front)
}

// TestManyCells looks for what grows with the number of cells.
func TestManyCells(t *testing.T) {
	_, front := startFront(t)
	count := func() (goroutines, descriptors int) {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skipf("SKIPPED: descriptors cannot be counted: %v", err)
		}
		return runtime.NumGoroutine(), len(fds)
	}
	run := func(n int) {
		for range n {
			id := front.Send(fakefront.Shell, "execute_request", fakefront.Code("print x\nvalue 3"))
			front.Reply(id)
		}
	}
	run(100)
	goroutines, descriptors := count()
	run(1000)
	g, d := count()
	if g > goroutines+5 || d > descriptors {
		t.Errorf("goroutines %d -> %d, descriptors %d -> %d", goroutines, g, descriptors, d)
	}
	equal(t, "count", front.Execute("value 1").Reply.Int("execution_count"), 1101)
}

// BenchmarkCell measures a trivial cell from the request to idle.
func BenchmarkCell(b *testing.B) {
	_, front := startFront(b, func(_ *kernel.ConnectionInfo, o *kernel.Options) { o.HistoryFile = "-" })
	front.Execute("print x")
	for b.Loop() {
		front.Outputs(front.Send(fakefront.Shell, "execute_request", fakefront.Code("print x")))
	}
}

// BenchmarkKernelInfo measures the shortest request there is.
func BenchmarkKernelInfo(b *testing.B) {
	_, front := startFront(b)
	for b.Loop() {
		front.Reply(front.Send(fakefront.Shell, "kernel_info_request", fields{}))
	}
}

// BenchmarkStart measures from New to the first reply, connecting included.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		_, front := startFront(b)
		front.Reply(front.Send(fakefront.Shell, "kernel_info_request", fields{}))
		front.Close()
	}
}

// BenchmarkStream measures output in lines of 64 bytes.
func BenchmarkStream(b *testing.B) {
	_, front := startFront(b, func(_ *kernel.ConnectionInfo, o *kernel.Options) { o.OutputCap = 1 << 40; o.HistoryFile = "-" })
	b.SetBytes(6_400_000)
	for b.Loop() {
		front.Outputs(front.Send(fakefront.Shell, "execute_request", fakefront.Code("spam 6400000")))
	}
}
