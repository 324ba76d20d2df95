package analyze

import "github.com/gander-go/gander/profiler/trace"

// Severity orders advice.
type Severity uint8

const (
	Info Severity = iota
	Warning
	Severe
)

// String returns "info", "warning" or "severe".
func (s Severity) String() string { return [...]string{"info", "warning", "severe"}[s] }

// MarshalText makes JSON hold the name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Evidence is one thing that advice rests on.
type Evidence struct {
	Text  string `json:"text"`
	Slice int32  `json:"slice"` // example in Trace.Slices, NoSlice when there is none
	Time  int64  `json:"time"`  // ns it accounts for, 0 when time is not the measure
	Count int64  `json:"count"`
}

// Advice is one finding with what to do about it.
type Advice struct {
	Kind     string     `json:"kind"`  // stable identifier: "low-gpu-utilization"
	Title    string     `json:"title"` // a few words
	Text     string     `json:"text"`  // what was found, with its figures
	Remedy   string     `json:"remedy"`
	Severity Severity   `json:"severity"`
	Share    float64    `json:"share"`  // of the steps' time at stake, 0 when that is not the measure
	Time     int64      `json:"time"`   // ns at stake over the recording
	Plugin   bool       `json:"plugin"` // one of the TensorBoard plugin's seven
	Evidence []Evidence `json:"evidence"`
}

// Advise returns what is worth doing about t, most severe first, larger shares first.
func Advise(t *trace.Trace) []Advice { return Of(t).Advise() }

// Advise returns what is worth doing, most severe first, larger shares first.
func (a *Analysis) Advise() []Advice { return nil }
