package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gander-go/gander/internal/golden"
)

// TestParseCrash checks what is kept of reports of the runtime, one file each.
func TestParseCrash(t *testing.T) {
	files, err := filepath.Glob("testdata/crash/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no reports: ", err)
	}
	for _, f := range files {
		report, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		head, stack := parseCrash(string(report))
		golden.Check(t, strings.TrimSuffix(f, ".txt")+".golden", []byte(head+"\n--\n"+stack+"\n"))
	}
}

func FuzzParseCrash(f *testing.F) {
	f.Add("panic: x\n\ngoroutine 1 [running]:\nmain.f()\n\tIn[3]:4 +0x1\n")
	f.Add("fatal error: y\n")
	f.Add("goroutine 1 [running]:")
	f.Fuzz(func(t *testing.T, s string) {
		head, stack := parseCrash(s)
		if head == "" || len(head) > maxHead+8 {
			t.Errorf("head of %d bytes", len(head))
		}
		if n := strings.Count(stack, "\n"); n > 2*maxFrames+2 {
			t.Errorf("stack of %d lines", n)
		}
	})
}

func TestBlockedOn(t *testing.T) {
	for stack, want := range map[string]string{
		"": "", "goroutine 7 [running]:\nmain.f()": "", "goroutine 7 [chan receive, 2 minutes]:": "chan receive, 2 minutes", "goroutine 1 [select (no cases)]:": "select (no cases)", "nonsense": "",
	} {
		if got := blockedOn(stack); got != want {
			t.Errorf("%q: %q, want %q", stack, got, want)
		}
	}
}

func TestAnnouncesCrash(t *testing.T) {
	for msg, want := range map[string]bool{"panic: ": true, "fatal error: ": true, "runtime: goroutine stack exceeds ": true, "SIGSEGV: segmentation violation": true, "a panic: ": false, "": false, "hello\n": false} {
		if announcesCrash([]byte(msg)) != want {
			t.Errorf("%q: %v", msg, !want)
		}
	}
}
