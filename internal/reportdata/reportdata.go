// Package reportdata makes the JSON object of `gander report --json`: everything the report shows, for scripts. It
// computes nothing itself.
//
// All times are integers in nanoseconds and all sizes bytes.
package reportdata

import (
	"encoding/json"
	"io"

	"github.com/gander-go/gander/profiler/analyze"
	"github.com/gander-go/gander/profiler/trace"
)

// Report is the object for one trace.
type Report struct {
	Trace       TraceInfo               `json:"trace"`
	KeyAverages []analyze.Average       `json:"key_averages"`
	Steps       *analyze.StepReport     `json:"steps"`
	Overview    *analyze.OverviewReport `json:"overview"`
	Operators   *analyze.OperatorReport `json:"operators"`
	Kernels     *analyze.KernelReport   `json:"kernels"`
	Memory      *analyze.MemoryReport   `json:"memory"`
	Idle        *analyze.IdleReport     `json:"idle"`
	Launches    *analyze.LaunchReport   `json:"launches"`
	Advice      []analyze.Advice        `json:"advice"`
}

// TraceInfo describes the trace itself.
type TraceInfo struct {
	Tool     string         `json:"tool"`
	Version  string         `json:"version,omitempty"`
	Rank     *int           `json:"rank,omitempty"`
	Devices  []string       `json:"devices"`
	Span     int64          `json:"span"`   // ns
	Events   map[string]int `json:"events"` // slices by category
	Problems []Problem      `json:"problems"`
}

// Problem is a loss or repair.
type Problem struct {
	Kind   string `json:"kind"`
	Count  int64  `json:"count"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

// Options choose what the key averages are grouped and ordered by.
type Options struct {
	Keys  analyze.KeyOptions
	Sort  string // empty keeps the order of appearance
	Limit int    // rows of key averages, 0 and negative for all
}

// Of makes the report of t.
func Of(t *trace.Trace, o Options) (*Report, error) {
	a := analyze.Of(t)
	keys := a.KeyAverages(o.Keys)
	if o.Sort != "" {
		if err := keys.Sort(o.Sort); err != nil {
			return nil, err
		}
	}
	rows := keys.Rows
	if o.Limit > 0 && o.Limit < len(rows) {
		rows = rows[:o.Limit]
	}
	return &Report{
		Trace: info(t), KeyAverages: notNil(rows), Steps: a.Steps(), Overview: a.Overview(), Operators: a.Operators(analyze.OperatorOptions{}),
		Kernels: a.Kernels(), Memory: a.Memory(analyze.MemoryOptions{}), Idle: a.Idle(analyze.IdleOptions{}),
		Launches: a.Launches(analyze.LaunchOptions{}), Advice: notNil(a.Advise()),
	}, nil
}

func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func info(t *trace.Trace) TraceInfo {
	i := TraceInfo{Tool: t.Meta.Tool, Version: t.Meta.Version, Devices: []string{}, Span: t.Meta.End - t.Meta.Start, Events: map[string]int{}, Problems: []Problem{}}
	if t.Meta.Rank != trace.NoRank {
		i.Rank = &t.Meta.Rank
	}
	for _, d := range t.Devices {
		i.Devices = append(i.Devices, d.Name)
	}
	counts := make([]int, len(t.Categories))
	for k := range t.Slices {
		counts[t.Slices[k].Cat]++
	}
	for k, n := range counts {
		if n > 0 {
			i.Events[t.Categories[k].Name] += n
		}
	}
	for _, p := range t.Problems {
		i.Problems = append(i.Problems, Problem(p))
	}
	return i
}

// Write writes v, a *Report or a list of them, as indented JSON.
func Write(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
