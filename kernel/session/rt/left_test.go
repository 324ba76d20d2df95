package rt

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestLeftBehind leaves a run that sleeps, and sees it end at its first check while the next run goes on.
func TestLeftBehind(t *testing.T) {
	asleep, wake, ended := make(chan bool), make(chan bool), make(chan *Failure, 1)
	go func() {
		ended <- Do(101, func() {
			close(asleep)
			<-wake
			Show("of the run that was left")
			for {
				if atomic.LoadUint32(StopFlag) != 0 {
					Halt()
				}
			}
		})
	}()
	<-asleep
	Leave(101)
	TakeShown()
	f := Do(102, func() {
		for start := time.Now(); time.Since(start) < 50*time.Millisecond; {
			if atomic.LoadUint32(StopFlag) != 0 {
				Halt()
			}
		}
		close(wake)
		if f := <-ended; f == nil || !f.Interrupted() {
			t.Errorf("the run that was left ended with %+v", f)
		}
		Show("of the next run")
	})
	if f != nil {
		t.Errorf("the next run ended with %+v", f)
	}
	if v, ok := TakeShown(); !ok || len(v) != 1 || v[0] != "of the next run" {
		t.Errorf("shown: %v", v)
	}
	Left(101)
	for deadline := time.Now().Add(10 * time.Second); atomic.LoadUint32(StopFlag) != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the flag stays up when nothing is left")
		}
	}
}

// BenchmarkHalt is what a check of the running cell costs while a run is left behind.
func BenchmarkHalt(b *testing.B) {
	Do(103, func() {
		for b.Loop() {
			Halt()
		}
	})
}
