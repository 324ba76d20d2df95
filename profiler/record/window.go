package record

// Window is a stretch of record time that a trace shows. Times of the trace are record times minus Epoch.
type Window struct {
	Epoch      int64 // record time at which the trace has its zero
	Start, End int64 // record times
}

// Time converts a record time to the time of the trace.
func (w Window) Time(t int64) int64 { return t - w.Epoch }

// Holds reports whether the record time t lies in the window.
func (w Window) Holds(t int64) bool { return t >= w.Start && t <= w.End }

// Goroutine returns the id of the calling goroutine.
func Goroutine() int64 { return goroutine() }
