package session

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/session/link"
)

// TestTheProcessEndsWithItsFront cuts the link, as the death of the front would, while a cell is blocked.
func TestTheProcessEndsWithItsFront(t *testing.T) {
	s := open(t, nil)
	s.mu.Lock()
	p := s.proc
	s.mu.Unlock()
	go s.Run(context.Background(), unit("Tight"), &output{}, nil)
	time.Sleep(100 * time.Millisecond)
	p.conn.Close()
	select {
	case <-p.exited:
	case <-time.After(10 * time.Second):
		t.Error("the session process outlives its front")
	}
}

// TestTheChildrenEndWithTheFront does the same from a process that is killed itself, so that nobody else tidies up.
func TestTheChildrenEndWithTheFront(t *testing.T) {
	if _, err := built(); err != nil {
		t.Fatal(err)
	}
	front := exec.Command(os.Args[0])
	b, _ := built()
	front.Env = append(os.Environ(), "GANDER_TEST_FRONT="+b.w.Binary, "GANDER_TEST_PLUGIN="+b.plugin)
	pipe, err := front.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := front.Start(); err != nil {
		t.Fatal(err)
	}
	var child int
	if _, err := fmt.Fscan(pipe, &child); err != nil {
		t.Fatal(err)
	}
	front.Process.Kill()
	front.Wait()
	deadline := time.Now().Add(10 * time.Second)
	for ; syscall.Kill(child, 0) == nil && !isZombie(child); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			syscall.Kill(child, syscall.SIGKILL)
			t.Fatal("a child of the session process outlives the front")
		}
	}
}

func isZombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(b), ") Z ")
}

// frontToKill is the front of TestTheChildrenEndWithTheFront: it prints the pid that a cell shows.
func frontToKill() {
	s, err := Start(context.Background(), Config{Workspace: &Workspace{Binary: os.Getenv("GANDER_TEST_FRONT")}})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := link.Run{Unit: link.Unit{Engine: link.EngineNative, Plugins: []string{os.Getenv("GANDER_TEST_PLUGIN")}, Entry: "ChildPID"}}
	s.Run(context.Background(), r, printed{}, nil)
}

type printed struct{}

func (printed) Stream(_ cell.StreamName, s string) { fmt.Print(s) }
func (printed) Display(cell.Bundle)                {}
func (printed) Update(cell.Bundle)                 {}
func (printed) Clear(bool)                         {}
