package worker

import (
	"bytes"
	"runtime"
	"strings"

	"github.com/gander-go/gander/display"
	"github.com/gander-go/gander/kernel/session/link"
	"github.com/gander-go/gander/kernel/session/rt"
)

// sendStack tells where the run's goroutine is, so that the front can say what a cell hangs on.
func (p *process) sendStack(m *link.Stack) {
	p.state.mu.Lock()
	name := p.state.goroutine
	p.state.mu.Unlock()
	p.conn.Send(link.KindStackReply, link.StackReply{ID: m.ID, Stack: goroutineStack(name)})
}

// goroutineStack finds the section of the goroutine called name ("goroutine 7") in a dump of all goroutines.
func goroutineStack(name string) string {
	if name == "" {
		return ""
	}
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	for _, section := range bytes.Split(buf, []byte("\n\n")) {
		if bytes.HasPrefix(section, []byte(name+" [")) {
			return string(section)
		}
	}
	return ""
}

// blockedStates are what the runtime calls the waits of a goroutine that does nothing until another one or a timer wakes
// it, or input comes.
var blockedStates = []string{"chan receive", "chan send", "select", "sleep", "sync.", "semacquire", "IO wait"}

// waitState is what the goroutine of a stack waits for ("chan receive, 2 minutes"); empty when it may be at work.
func waitState(stack string) string {
	title, _, _ := strings.Cut(stack, "\n")
	_, state, _ := strings.Cut(title, "[")
	state, _, _ = strings.Cut(state, "]")
	for _, s := range blockedStates {
		if strings.HasPrefix(state, s) {
			return state
		}
	}
	return ""
}

// sendVars lists session variables. It runs between units, so that nothing changes them meanwhile but goroutines
// that earlier units left behind; a value that cannot be read is listed without one.
func (p *process) sendVars(m *link.Vars) {
	want := map[string]bool{}
	for _, n := range m.Names {
		want[n] = true
	}
	vars := []link.VarValue{}
	for _, v := range rt.Variables() {
		if len(want) > 0 && !want[v.Name] || strings.HasPrefix(v.Name, "_") && !want[v.Name] {
			continue
		}
		r := link.VarValue{Name: v.Name, Type: rt.PlainText(v.Type.String()), Len: -1}
		rt.Do(-1, func() { r.Value, r.Bytes, r.Len = display.Summary(v.Value()) })
		r.Value = rt.PlainText(r.Value)
		vars = append(vars, r)
	}
	p.conn.Send(link.KindVarsReply, link.VarsReply{ID: m.ID, Vars: vars})
}
