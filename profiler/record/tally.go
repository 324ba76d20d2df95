package record

import (
	"sync"
	"sync/atomic"
)

// tinyCalls counts the calls of one name by goroutine and step.
type tinyCalls struct {
	slots [shardCount]tinySlot

	// mu guards the rest.
	mu    sync.Mutex
	past  []pastTally // of steps that are over
	loose int64       // calls that no event tells of
}

// tinySlot is what goroutines whose ids are equal modulo shardCount count in. The one that comes first has it without a lock.
type tinySlot struct {
	first tally

	// mu guards more, and the beginning and closing of tallies.
	mu   sync.Mutex
	more map[int64]*tally // of other goroutines

	_ [128 - 48]byte // keeps slots off each other's pair of cache lines
}

// tally is how often a goroutine called a function during a step, after the call that e records. Only that goroutine writes it.
type tally struct {
	goid atomic.Int64 // 0 while nobody has it
	step uint32       // of Recorder.step; nobody else reads it
	n    atomic.Int64
	e    atomic.Pointer[event]
}

// pastTally is a tally of a step that is over.
type pastTally struct {
	n int64
	e *event
}

// maxTallies bounds the tallies of one recording: 32 bytes each, and a place in a map.
const maxTallies = 1 << 17

// count counts a call of goroutine g. It returns a tally when the call is the first of the goroutine in this step: it is to be
// recorded, and its event to be noted there.
func (c *tinyCalls) count(r *Recorder, g int64) *tally {
	s := &c.slots[g&(shardCount-1)]
	if t := &s.first; t.goid.Load() == g && t.step == r.step.Load() {
		t.n.Add(1)
		return nil
	}
	return c.find(r, s, g)
}

// find is count for a goroutine that has no tally, not this slot's first, or one of an earlier step.
func (c *tinyCalls) find(r *Recorder, s *tinySlot, g int64) *tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &s.first
	if have := t.goid.Load(); have != 0 && have != g {
		if t = s.more[g]; t == nil {
			if r.tallies.Add(1) > maxTallies {
				r.tallies.Add(-1)
				c.put(1, nil)
				return nil
			}
			if s.more == nil {
				s.more = make(map[int64]*tally)
			}
			t = new(tally)
			s.more[g] = t
		}
	}
	step := r.step.Load()
	if t.goid.Load() == g && t.step == step {
		t.n.Add(1)
		return nil
	}
	c.close(r, t)
	t.step = step
	t.goid.Store(g)
	return t
}

// close puts away what t counted in a step that is over.
func (c *tinyCalls) close(r *Recorder, t *tally) {
	e := t.e.Swap(nil)
	n := t.n.Swap(0)
	if n == 0 {
		return
	}
	if e != nil && r.tallies.Add(1) > maxTallies {
		r.tallies.Add(-1)
		e = nil
	}
	c.put(n, e)
}

// put keeps n calls of which event e tells, or nothing does.
func (c *tinyCalls) put(n int64, e *event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e == nil {
		c.loose += n
		return
	}
	c.past = append(c.past, pastTally{n, e})
}

// each calls f for every tally that counted something; e is nil for calls that no event tells of.
func (c *tinyCalls) each(f func(e *event, n int64)) {
	c.mu.Lock()
	for _, t := range c.past {
		f(t.e, t.n)
	}
	if c.loose > 0 {
		f(nil, c.loose)
	}
	c.mu.Unlock()
	now := func(t *tally) {
		if n := t.n.Load(); n > 0 {
			f(t.e.Load(), n)
		}
	}
	for i := range c.slots {
		s := &c.slots[i]
		s.mu.Lock()
		now(&s.first)
		for _, t := range s.more {
			now(t)
		}
		s.mu.Unlock()
	}
}

// total is how many calls were counted.
func (c *tinyCalls) total() (sum int64) {
	c.each(func(_ *event, n int64) { sum += n })
	return sum
}
