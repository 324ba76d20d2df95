package session

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/session/link"
)

// Messages of the front to itself on the tape.
const (
	wakeExit byte = iota // the process has ended; nothing of it comes after this
	wakeHold             // time to look at text that was held back
)

const (
	maxHeld   = 256 << 10
	holdFor   = 300 * time.Millisecond
	batchText = 32 << 10
)

// player hands on what a session process shows, in the order of the tape.
//
// Text of the Go runtime that announces the end of the process is held back, so that a crash is told once, by the
// cell's error, and not also as raw text. When the process then lives on, the text was the user's and is shown.
type player struct {
	p          *process
	background func() cell.Output
	onComm     func(link.Comm)

	// mu guards run.
	mu  sync.Mutex
	run *run

	// The rest belongs to play.
	batch   strings.Builder // text not handed on yet, of one stream to one output
	to      cell.Output
	stream  cell.StreamName
	partial [2][]byte // incomplete characters at the end of files 1 and 2
	held    []byte
	holding bool
}

// run is a unit that has been handed to the process.
type run struct {
	id         int64
	out        cell.Output
	in         cell.Input
	done       chan *link.Done
	interrupts chan struct{}
}

func (pl *player) set(r *run) {
	pl.mu.Lock()
	pl.run = r
	pl.mu.Unlock()
}

// target is where output of run id goes; 0 or less is whatever runs.
func (pl *player) target(id int64) cell.Output {
	pl.mu.Lock()
	r := pl.run
	pl.mu.Unlock()
	if r != nil && (id <= 0 || id == r.id) {
		return r.out
	}
	return pl.background()
}

// play runs until the process has ended and everything is handed on.
func (pl *player) play() {
	defer close(pl.p.ended)
	for {
		s, msg, err := pl.p.tape.receive()
		for {
			if err != nil || pl.message(s, msg) {
				pl.finish()
				return
			}
			if pl.batch.Len() >= batchText {
				break
			}
			var ok bool
			if s, msg, ok = pl.p.tape.poll(); !ok {
				break
			}
		}
		pl.flush()
	}
}

// message handles one message of the tape and reports whether it is the last.
func (pl *player) message(s source, msg []byte) (last bool) {
	switch s {
	case fromStdout:
		pl.text(0, cell.Stdout, 0, msg)
	case fromStderr:
		switch {
		case pl.holding:
			pl.hold(msg)
		case announcesCrash(msg):
			pl.holding = true
			pl.hold(msg)
			time.AfterFunc(holdFor, func() { pl.p.tape.wake(wakeHold) })
		default:
			pl.text(0, cell.Stderr, 1, msg)
		}
	case fromWorker:
		if run, text, ok := parseText(msg); ok {
			if msg[0] == tagStdout {
				pl.text(run, cell.Stdout, 0, text)
			} else {
				pl.text(run, cell.Stderr, 1, text)
			}
		} else if len(msg) > 0 && msg[0] == tagMark {
			if f, ok := <-pl.p.ordered; ok {
				pl.frame(f)
			}
		}
	case fromFront:
		if len(msg) > 0 && msg[0] == wakeExit {
			return true
		}
		if pl.holding && pl.p.crash.empty() {
			pl.release()
		}
	}
	return false
}

// text adds to the batch; file is 0 for standard output, 1 for standard error.
func (pl *player) text(run int64, name cell.StreamName, file int, b []byte) {
	out := pl.target(run)
	if out == nil {
		return
	}
	if pl.batch.Len() > 0 && (out != pl.to || name != pl.stream) {
		pl.flush()
	}
	pl.to, pl.stream = out, name
	if rest := pl.partial[file]; len(rest) > 0 {
		pl.batch.Write(rest)
		pl.partial[file] = nil
	}
	pl.batch.Write(b)
	if n := partialRune(b); n > 0 {
		s := pl.batch.String()
		pl.partial[file] = []byte(s[len(s)-n:])
		pl.batch.Reset()
		pl.batch.WriteString(s[:len(s)-n])
	}
}

func (pl *player) flush() {
	if pl.batch.Len() > 0 {
		pl.to.Stream(pl.stream, pl.batch.String())
		pl.batch.Reset()
	}
}

// settle hands on incomplete characters too: nothing that completes them can come.
func (pl *player) settle() {
	for i, name := range []cell.StreamName{cell.Stdout, cell.Stderr} {
		if rest := pl.partial[i]; len(rest) > 0 {
			pl.partial[i] = nil
			if out := pl.target(0); out != nil {
				pl.flush()
				out.Stream(name, string(rest))
			}
		}
	}
	pl.flush()
}

func (pl *player) hold(b []byte) {
	pl.held = append(pl.held, b[:min(len(b), maxHeld-len(pl.held))]...)
}

func (pl *player) release() {
	pl.holding = false
	b := pl.held
	pl.held = nil
	pl.text(0, cell.Stderr, 1, b)
}

// frame handles a frame that is in order with text.
func (pl *player) frame(f frame) {
	pl.flush()
	switch f.kind {
	case link.KindOutput:
		var m link.Output
		if json.Unmarshal(f.body, &m) == nil {
			if out := pl.target(m.Run); out != nil {
				show(out, &m)
			}
		}
	case link.KindInputRequest:
		var m link.InputRequest
		if json.Unmarshal(f.body, &m) == nil {
			pl.mu.Lock()
			r := pl.run
			pl.mu.Unlock()
			go pl.input(r, &m)
		}
	case link.KindComm:
		var m link.Comm
		if json.Unmarshal(f.body, &m) == nil && pl.onComm != nil {
			pl.onComm(m)
		}
	case link.KindDone:
		var m link.Done
		if json.Unmarshal(f.body, &m) != nil {
			return
		}
		pl.settle()
		pl.mu.Lock()
		r := pl.run
		if r != nil && r.id == m.ID {
			pl.run = nil
		}
		pl.mu.Unlock()
		if r != nil && r.id == m.ID {
			r.done <- &m
		}
	}
}

func (pl *player) input(r *run, m *link.InputRequest) {
	reply := link.InputReply{ID: m.ID}
	if r == nil || r.in == nil {
		reply.Err = "there is nobody to ask"
	} else if text, err := r.in.Ask(m.Prompt, m.Password); err != nil {
		reply.Err = err.Error()
	} else {
		reply.Text = text
	}
	pl.p.conn.Send(link.KindInputReply, reply)
}

// finish hands on what is left when the process has ended.
func (pl *player) finish() {
	<-pl.p.exited
	for f := range pl.p.ordered {
		pl.frame(f)
	}
	if pl.holding {
		if pl.p.crash.empty() && pl.p.state.Exited() && !strings.Contains(string(pl.held), "\ngoroutine ") {
			pl.release() // the user's own words before os.Exit
		} else {
			pl.p.crash.held(pl.held)
		}
	}
	pl.settle()
	pl.set(nil)
}

// show hands one display message on.
func show(out cell.Output, m *link.Output) {
	switch m.Op {
	case "clear":
		out.Clear(m.Wait)
	case "display":
		out.Display(fromLink(m.Bundle))
	case "update":
		out.Update(fromLink(m.Bundle))
	}
}

// fromLink converts a bundle from the link's form.
func fromLink(l *link.Bundle) cell.Bundle {
	b := cell.Bundle{Data: map[string]any{}}
	if l == nil {
		return b
	}
	for k, v := range l.Text {
		b.Data[k] = v
	}
	for k, v := range l.B64 {
		b.Data[k] = v
	}
	for k, v := range l.JSON {
		b.Data[k] = v
	}
	b.Metadata, b.DisplayID = l.Metadata, l.DisplayID
	return b
}
