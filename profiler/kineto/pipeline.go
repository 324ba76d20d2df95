package kineto

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// unitBytes is how much text a worker scans at a time: enough to make the handing over cheap, little enough to stay in
// the caches that the workers share.
const unitBytes = 1 << 20

// unit is a part of the text that is believed to begin with an element of traceEvents.
type unit struct {
	text []byte
	out  batch
	at   int // where scanning stopped, and why
	why  stop
	own  *translation
	done chan struct{}
}

// pipeline cuts the input into units and scans them ahead of the reader, which takes them in order.
type pipeline struct {
	in    *input
	order chan *unit
	jobs  chan *unit
	free  chan *unit
	quit  chan struct{}
	idle  atomic.Bool // set when the events have ended: units are only text from then on
	once  sync.Once
	wait  sync.WaitGroup

	// panicked is set by the first worker that panicked, read after close.
	mu       sync.Mutex // guards panicked
	panicked error
}

// start begins with text, which has been read already.
func (d *reader) start(text []byte) *pipeline {
	n := d.opt.Workers
	p := &pipeline{
		in: d.in, order: make(chan *unit, 2*n), jobs: make(chan *unit, 2*n), free: make(chan *unit, 3*n+2), quit: make(chan struct{}),
	}
	p.wait.Add(n + 1)
	go p.cut(append([]byte(nil), text...), d.opt.MaxEventBytes)
	for range n {
		go p.work(newScanner(&d.opt, d.classes), new(translation))
	}
	return p
}

// close ends all goroutines and waits for them.
func (p *pipeline) close() {
	p.once.Do(func() { close(p.quit) })
	p.wait.Wait()
}

// cut reads the input and hands out units.
func (p *pipeline) cut(carry []byte, limit int) {
	defer p.wait.Done()
	defer close(p.order)
	defer close(p.jobs)
	size := 64 << 10 // small files need no large units
	for more := true; more; size = min(2*size, unitBytes) {
		var u *unit
		select {
		case u = <-p.free:
		default:
			u = &unit{}
		}
		u.done = make(chan struct{})
		u.text = append(u.text[:0], carry...)
		want := size
		split := -1
		for {
			if u.text, more = p.in.more(u.text, want); !more {
				split = len(u.text)
				break
			}
			if split = lastBoundary(u.text); split > 0 {
				break
			}
			if len(u.text) > limit {
				split = len(u.text)
				break
			}
			want = max(want, len(u.text)/2)
		}
		carry = append(carry[:0], u.text[split:]...)
		u.text = u.text[:split]
		for _, to := range []chan *unit{p.order, p.jobs} {
			select {
			case to <- u:
			case <-p.quit:
				return
			}
		}
	}
}

// work scans units. What own translates is the ids of s; only the reader touches it.
func (p *pipeline) work(s *scanner, own *translation) {
	defer p.wait.Done()
	for u := range p.jobs {
		u.own = own
		p.scan(s, u)
		close(u.done)
	}
}

func (p *pipeline) scan(s *scanner, u *unit) {
	defer func() {
		if r := recover(); r != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.panicked == nil {
				p.panicked = fmt.Errorf("internal error: %v\n%s", r, debug.Stack())
			}
		}
	}()
	s.begin(&u.out)
	u.at, u.why = 0, stopEnd
	if !p.idle.Load() {
		u.at, u.why = s.elements(u.text, 0)
	}
	s.end()
}

// next returns the next unit when it has been scanned, nil at the end.
func (p *pipeline) next() *unit {
	u, ok := <-p.order
	if !ok {
		return nil
	}
	<-u.done
	return u
}

// raw appends the text of the next unit to b. What its scanner has learnt must be learnt here as well, whether or not
// the events count.
func (p *pipeline) raw(b []byte, m *merger) ([]byte, bool) {
	u := p.next()
	if u == nil {
		return b, false
	}
	m.learn(&u.out, u.own)
	b = append(b, u.text...)
	p.recycle(u)
	return b, true
}

func (p *pipeline) recycle(u *unit) {
	if cap(u.text) > 4*unitBytes {
		return
	}
	select {
	case p.free <- u:
	default:
	}
}
