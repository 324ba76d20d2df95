// Package reportdata makes the JSON object of `gander report --json`: everything the report shows, for scripts. It
// computes nothing itself.
//
// Its one invariant: all times are integers in nanoseconds and all sizes are integers in bytes; what else is not whole is a
// share (of 1), a percentage where the name of the figure says so in its package, or a mean of counts.
package reportdata

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/gander-go/gander/profiler/analyze"
	"github.com/gander-go/gander/profiler/trace"
)

// Report is the object for one trace. What a trace has nothing of is empty, never absent, save critical_path: that needs
// recorded synchronisation events.
type Report struct {
	Trace       TraceInfo                `json:"trace"`
	KeyAverages []analyze.Average        `json:"key_averages"`
	Steps       *analyze.StepReport      `json:"steps"`
	Overview    *analyze.OverviewReport  `json:"overview"`
	Operators   *analyze.OperatorReport  `json:"operators"`
	Kernels     *analyze.KernelReport    `json:"kernels"`
	Memory      *analyze.MemoryReport    `json:"memory"`
	Modules     *analyze.ModuleReport    `json:"modules"`
	Temporal    *analyze.TemporalReport  `json:"temporal"`
	Overlap     *analyze.OverlapReport   `json:"overlap"`
	Breakdown   *analyze.BreakdownReport `json:"kernel_breakdown"`
	Idle        *analyze.IdleReport      `json:"idle"`
	Launches    *analyze.LaunchReport    `json:"launches"`
	Queues      []analyze.Queue          `json:"queues"`
	Critical    *analyze.PathReport      `json:"critical_path,omitempty"`
	Functions   []analyze.FunctionReport `json:"functions"`  // of sampled profiles
	Goroutines  []analyze.Goroutines     `json:"goroutines"` // of execution traces
	Advice      []analyze.Advice         `json:"advice"`
}

// Job is the object for several traces: the ranks of one job.
type Job struct {
	Ranks       []*Report                  `json:"ranks"`
	Distributed *analyze.DistributedReport `json:"distributed"`
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

// Options choose what the key averages are grouped and ordered by, and whose arithmetic the views follow.
type Options struct {
	Keys  analyze.KeyOptions
	As    analyze.Convention
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
	c := o.As
	r := &Report{
		Trace: info(t), KeyAverages: rows, Steps: a.StepsAs(c), Overview: a.OverviewAs(c),
		Operators: a.Operators(analyze.OperatorOptions{Convention: c, ByShape: o.Keys.ByShape}), Kernels: a.KernelsAs(c),
		Memory: a.MemoryAs(analyze.MemoryOptions{}, c), Modules: a.ModulesAs(c), Temporal: a.Temporal(c), Overlap: a.Overlap(c),
		Breakdown: a.KernelBreakdown(analyze.BreakdownOptions{Convention: c}), Idle: a.Idle(analyze.IdleOptions{Convention: c}),
		Launches: a.Launches(analyze.LaunchOptions{Convention: c}), Queues: a.QueueLength(0, c), Critical: a.StepPath(c),
		Functions: a.Functions(), Goroutines: a.Goroutines(),
		Advice: a.AdviseAs(c),
	}
	fill(reflect.ValueOf(r).Elem())
	return r, nil
}

// OfJob makes the report of several traces.
func OfJob(ts []*trace.Trace, o Options) (*Job, error) {
	j := &Job{Distributed: analyze.DistributedAs(ts, o.As)}
	fill(reflect.ValueOf(j.Distributed))
	for _, t := range ts {
		r, err := Of(t, o)
		if err != nil {
			return nil, err
		}
		j.Ranks = append(j.Ranks, r)
	}
	return j, nil
}

func info(t *trace.Trace) TraceInfo {
	i := TraceInfo{Tool: t.Meta.Tool, Version: t.Meta.Version, Devices: []string{}, Span: t.Meta.End - t.Meta.Start, Events: map[string]int{}, Problems: []Problem{}}
	if t.Meta.Rank != trace.NoRank {
		i.Rank = &t.Meta.Rank
	}
	for _, d := range t.Devices {
		name := d.Name
		if name == "" || name == "?" {
			name = fmt.Sprintf("device %d", d.ID)
		}
		i.Devices = append(i.Devices, name)
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

// fill makes every list below v that is nil an empty one, so that scripts need not tell null from [].
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem())
		}
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		if k := v.Type().Elem().Kind(); k == reflect.Struct || k == reflect.Pointer || k == reflect.Slice {
			for i := range v.Len() {
				fill(v.Index(i))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() && v.Type().Field(i).Tag.Get("json") != "-" {
				fill(f)
			}
		}
	}
}

// WriteDiff writes the comparison of two traces as indented JSON.
func WriteDiff(w io.Writer, d *analyze.DiffReport) error {
	fill(reflect.ValueOf(d))
	return Write(w, d)
}

// Write writes v, a *Report or a *Job, as indented JSON.
func Write(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
