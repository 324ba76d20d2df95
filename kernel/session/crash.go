package session

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"

	"github.com/gander-go/gander/kernel/session/link"
)

// crashReport is what the Go runtime wrote when the process died: its crash output, and the same text from file 2 with the
// first lines, which the runtime does not write to the crash output.
type crashReport struct {
	// mu guards what follows.
	mu     sync.Mutex
	output []byte
	stderr []byte
}

// maxReport bounds what is kept of a report. The crashing goroutine comes first in it.
const maxReport = 256 << 10

// read collects the crash output until the process has ended.
func (c *crashReport) read(f *os.File) {
	defer f.Close()
	buf := make([]byte, 16<<10)
	for {
		n, err := f.Read(buf)
		c.mu.Lock()
		c.output = append(c.output, buf[:min(n, maxReport-len(c.output))]...)
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (c *crashReport) empty() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.output) == 0
}

func (c *crashReport) held(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stderr = b
}

// text is the fuller of the two forms.
func (c *crashReport) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.stderr) > 0 {
		return string(c.stderr)
	}
	return string(c.output)
}

// announcesCrash reports whether msg is how the Go runtime begins to say that it must end the process. The runtime
// writes its words piece by piece, so the beginning of a message is the beginning of a sentence.
func announcesCrash(msg []byte) bool {
	s := string(msg[:min(len(msg), 40)])
	for _, p := range []string{"panic: ", "fatal error: ", "fatal: ", "runtime: ", "SIG", "unexpected fault", "unexpected signal", "[signal "} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

const lost = "the session's variables and declarations are lost"

// describe says why the process ended. It must have.
func (p *process) describe() *link.Failure {
	why := p.killed.Load()
	report := p.crash.text()
	status, _ := p.state.Sys().(syscall.WaitStatus)
	switch {
	case why != nil:
		return &link.Failure{Kind: "died", Message: *why + "; " + lost}
	case report != "":
		head, stack := parseCrash(report)
		return &link.Failure{Kind: "died", Message: head + "\nThis ended the session process; " + lost + ".", Stack: stack, Code: status.ExitStatus()}
	case status.Signaled():
		msg := fmt.Sprintf("the session process was ended by signal %d (%v)", status.Signal(), status.Signal())
		if status.Signal() == syscall.SIGKILL {
			msg += ", perhaps because the machine ran out of memory"
		}
		return &link.Failure{Kind: "died", Message: msg + "; " + lost}
	}
	code := status.ExitStatus()
	call := fmt.Sprintf("os.Exit(%d)", code)
	if code == 1 {
		call += " or log.Fatal"
	}
	return &link.Failure{Kind: "exit", Message: "the cell called " + call + "; " + lost, Code: code}
}

// parseCrash splits the runtime's report into what happened and the crashing goroutine's stack, cut to the user's
// frames: those in cells, or where there are none, those outside the runtime.
func parseCrash(report string) (head, stack string) {
	report = strings.ReplaceAll(report, "\r\n", "\n")
	lines := strings.Split(strings.TrimSpace(report), "\n")
	first := len(lines)
	for i, l := range lines {
		if goroutineLine.MatchString(l) {
			first = i
			break
		}
	}
	head = crashHead(lines[:first])
	if first == len(lines) {
		return head, ""
	}
	end := first + 1
	for end < len(lines) && lines[end] != "" {
		end++
	}
	return head, cutStack(lines[first:end])
}

var (
	goroutineLine = regexp.MustCompile(`^goroutine \d+.*\[.*\]:$`)
	cellPosition  = regexp.MustCompile(`\bIn\[(\d+|#[0-9a-f]+)\]:\d+`) // with the number of a cell, or an engine's name for its text
	// What a report has besides when the fault was in C code.
	registers = regexp.MustCompile(` fp=0x[0-9a-f]+ sp=0x[0-9a-f]+ pc=0x[0-9a-f]+$`)
	pointers  = regexp.MustCompile(` gp=0x[0-9a-f]+ m=\S+( mp=0x[0-9a-f]+)?`)
	// Frames that are nobody's code.
	machinery = regexp.MustCompile(`^(runtime\.|panic\(|created by |github\.com/gander-go/gander/kernel/session/)`)
)

// maxHead and maxFrames bound a described crash.
const (
	maxHead   = 2 << 10
	maxFrames = 40
)

// crashHead keeps of the runtime's first words what tells users something.
func crashHead(lines []string) string {
	var keep []string
	for _, l := range lines {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "runtime stack:") {
			break
		}
		if l == "" || strings.HasPrefix(l, "runtime: sp=") || strings.HasPrefix(l, "stack=[") || strings.HasPrefix(l, "PC=") {
			continue
		}
		if strings.HasPrefix(l, "fatal error: ") { // before the runtime's own remarks on it
			keep = append([]string{l}, keep...)
		} else {
			keep = append(keep, l)
		}
	}
	head := strings.Join(keep, "\n")
	if len(head) > maxHead {
		head = strings.ToValidUTF8(head[:maxHead], "") + "…"
	}
	if head == "" {
		head = "the Go runtime ended the session process"
	}
	return head
}

// cutStack keeps the goroutine's title and the frames worth showing of the lines of one stack. A frame is two lines.
func cutStack(lines []string) string {
	var inCells, outside []string
	for i := 1; i+1 < len(lines); i++ {
		if !strings.HasPrefix(lines[i+1], "\t") {
			continue
		}
		pair := []string{lines[i], registers.ReplaceAllString(lines[i+1], "")}
		if cellPosition.MatchString(lines[i+1]) {
			inCells = append(inCells, pair...)
		}
		if !machinery.MatchString(lines[i]) {
			outside = append(outside, pair...)
		}
		i++
	}
	keep := inCells
	if len(keep) == 0 {
		keep = outside
	}
	if n := len(keep)/2 - maxFrames; n > 0 {
		keep = append(keep[:2*maxFrames], fmt.Sprintf("… %d more frames", n))
	}
	title := pointers.ReplaceAllString(lines[0], "")
	return strings.Join(append([]string{title}, keep...), "\n")
}

// blockedOn is what the runtime says a goroutine waits for: "chan receive" of "goroutine 7 [chan receive, 2 minutes]:";
// empty for one that runs.
func blockedOn(stack string) string {
	title, _, _ := strings.Cut(stack, "\n")
	_, state, ok := strings.Cut(title, "[")
	state, _, _ = strings.Cut(strings.TrimSuffix(state, "]:"), "]")
	if !ok || strings.HasPrefix(state, "running") || strings.HasPrefix(state, "runnable") {
		return ""
	}
	return state
}

// cutGoroutine is cutStack for a stack as text.
func cutGoroutine(stack string) string {
	if stack == "" {
		return ""
	}
	return cutStack(strings.Split(strings.TrimSpace(stack), "\n"))
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
