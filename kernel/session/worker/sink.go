package worker

import (
	"github.com/gander-go/gander/display"
	"github.com/gander-go/gander/kernel/session/link"
	"github.com/gander-go/gander/kernel/session/rt"
)

// sink hands to the front what package display shows.
type sink struct{ p *process }

func (s sink) Show(id display.ID, b display.Bundle)   { s.output("display", id, b) }
func (s sink) Update(id display.ID, b display.Bundle) { s.output("update", id, b) }

func (s sink) output(op string, id display.ID, b display.Bundle) {
	l := toLink(b)
	l.DisplayID = string(id)
	run := s.p.current()
	if err := s.p.tape.send(link.KindOutput, link.Output{Run: run, Op: op, Bundle: l}); err != nil { // as for a value
		s.p.tape.write(tapeStderr, run, []byte("display: "+err.Error()+"\n"))
	}
}

func (s sink) Clear(wait bool) {
	s.p.tape.send(link.KindOutput, link.Output{Run: s.p.current(), Op: "clear", Wait: wait})
}

func (s sink) Ask(prompt string, password bool) (string, error) {
	return s.p.input.ask(prompt, password)
}

// current is the run that the calling goroutine belongs to, or the running one when that is not known.
func (p *process) current() int64 {
	if run := rt.Current(); run > 0 {
		return run
	}
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	return p.state.run
}
