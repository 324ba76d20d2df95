package kernel

import (
	"context"
	"errors"
	"sync"
)

// errInterrupted is the cause of a cell's context when the user interrupts it, errShutdown when the kernel ends.
var (
	errInterrupted = errors.New("interrupted")
	errShutdown    = errors.New("the kernel is shutting down")
)

// maxQueue bounds what waits in a queue; a client that sends more is not read until there is room.
const maxQueue = 1 << 16

// cellQueue holds execute requests until their turn, and knows the one that runs.
type cellQueue struct {
	// mu guards the fields below.
	mu      sync.Mutex
	changed *sync.Cond
	waiting []queuedCell
	last    uint64 // number of the newest request
	abort   uint64 // requests up to this number are not run
	closed  bool

	cancel      context.CancelCauseFunc // of the cell that runs; nil between cells
	interrupted int                     // how often that cell was interrupted
}

type queuedCell struct {
	*request
	n      uint64
	before <-chan struct{} // closed when what must come before has happened
}

func newCellQueue() *cellQueue {
	q := &cellQueue{}
	q.changed = sync.NewCond(&q.mu)
	return q
}

func (q *cellQueue) push(r *request, before <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) >= maxQueue && !q.closed {
		q.changed.Wait()
	}
	q.last++
	q.waiting = append(q.waiting, queuedCell{r, q.last, before})
	q.changed.Broadcast()
}

// next returns the next request, whether it is to be run or only to be answered as aborted, and its context. ok is
// false when the queue is closed and empty. The caller calls done when it has replied.
func (q *cellQueue) next(parent context.Context) (c queuedCell, ctx context.Context, run, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 && !q.closed {
		q.changed.Wait()
	}
	if len(q.waiting) == 0 {
		return queuedCell{}, nil, false, false
	}
	c = q.waiting[0]
	q.waiting[0] = queuedCell{}
	q.waiting = q.waiting[1:]
	q.changed.Broadcast()
	ctx, q.cancel = context.WithCancelCause(parent)
	q.interrupted = 0
	return c, ctx, c.n > q.abort, true
}

// done ends what next began.
func (q *cellQueue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.cancel(nil)
	q.cancel = nil
	q.changed.Broadcast()
}

// interrupt cancels the cell that runs and aborts those that wait. It returns how often that cell was interrupted by now, 0
// when none runs.
func (q *cellQueue) interrupt() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.abort = q.last
	if q.cancel == nil {
		return 0
	}
	q.cancel(errInterrupted)
	q.interrupted++
	return q.interrupted
}

// wasInterrupted reports whether the cell that runs was interrupted.
func (q *cellQueue) wasInterrupted() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.interrupted > 0
}

// abortWaiting aborts all requests that wait.
func (q *cellQueue) abortWaiting() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.abort = q.last
}

// wait blocks until no cell runs and none waits.
func (q *cellQueue) wait() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.cancel != nil || len(q.waiting) > 0 {
		q.changed.Wait()
	}
}

// close cancels the cell that runs, and aborts those that wait or come later.
func (q *cellQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.abort = ^uint64(0)
	if q.cancel != nil {
		q.cancel(errShutdown)
	}
	q.changed.Broadcast()
}

// workQueue runs functions one after the other.
type workQueue struct {
	// mu guards the fields below.
	mu      sync.Mutex
	changed *sync.Cond
	waiting []func()
	running bool
	closed  bool
}

func newWorkQueue() *workQueue {
	q := &workQueue{}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// push adds f. After close it does nothing.
func (q *workQueue) push(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) >= maxQueue && !q.closed {
		q.changed.Wait()
	}
	if q.closed {
		return
	}
	q.waiting = append(q.waiting, f)
	q.changed.Broadcast()
}

var passed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// barrier returns a channel that is closed once everything pushed so far has run.
func (q *workQueue) barrier() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 && !q.running || q.closed {
		return passed
	}
	c := make(chan struct{})
	q.waiting = append(q.waiting, func() { close(c) })
	q.changed.Broadcast()
	return c
}

// run runs what is pushed until close, and then what is left.
func (q *workQueue) run() {
	for {
		q.mu.Lock()
		q.running = false
		for len(q.waiting) == 0 && !q.closed {
			q.changed.Wait()
		}
		if len(q.waiting) == 0 {
			q.mu.Unlock()
			return
		}
		f := q.waiting[0]
		q.waiting[0] = nil
		q.waiting = q.waiting[1:]
		q.running = true
		q.changed.Broadcast()
		q.mu.Unlock()
		f()
	}
}

func (q *workQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
}
