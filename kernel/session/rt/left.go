package rt

import (
	"sync"
	"sync/atomic"
	"time"
)

// Runs that were interrupted while their goroutine was blocked (a channel, a lock, a sleep) are left behind: the session
// goes on without waiting for them. When such a goroutine wakes it must not go on as if nothing had happened, so StopFlag
// stays up for a while, and later for a moment every now and then, until the goroutine's next check has ended it. A check of
// the running cell's own goroutine then costs some nanoseconds more.
var left struct {
	n atomic.Int32
	// mu guards runs, and every change of StopFlag.
	mu   sync.Mutex
	runs map[int64]bool
}

const (
	steadyFor   = 10 * time.Second
	pulseEvery  = 20 * time.Millisecond
	pulseLength = time.Millisecond
)

// Leave leaves run behind. Its values are not shown any more, and its code ends at its next check.
func Leave(run int64) {
	left.mu.Lock()
	defer left.mu.Unlock()
	if left.runs == nil {
		left.runs = map[int64]bool{}
	}
	left.runs[run] = true
	runs.main.Store(0)
	if left.n.Store(int32(len(left.runs))); len(left.runs) == 1 {
		go pulse()
	}
}

// Left is told when the goroutine of a run that was left behind has ended after all.
func Left(run int64) {
	left.mu.Lock()
	defer left.mu.Unlock()
	delete(left.runs, run)
	left.n.Store(int32(len(left.runs)))
}

func isLeft(run int64) bool {
	if left.n.Load() == 0 {
		return false
	}
	left.mu.Lock()
	defer left.mu.Unlock()
	return left.runs[run]
}

// pulse keeps StopFlag up for steadyFor and then raises it now and then, until no run is left behind.
func pulse() {
	for start := time.Now(); raise(); time.Sleep(pulseLength) {
		if time.Since(start) > steadyFor {
			lower()
			time.Sleep(pulseEvery - pulseLength)
		}
	}
	lower()
}

// raise raises StopFlag and reports whether any run is left behind.
func raise() bool {
	left.mu.Lock()
	defer left.mu.Unlock()
	if len(left.runs) == 0 {
		return false
	}
	atomic.StoreUint32(&Stopping, 1)
	return true
}

// lower lowers StopFlag unless there is an interrupt.
func lower() {
	left.mu.Lock()
	defer left.mu.Unlock()
	if runs.stop.Load() == 0 {
		atomic.StoreUint32(&Stopping, 0)
	}
}
