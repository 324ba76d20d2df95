package analyze

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// Goroutines is what the goroutines that run one function did. Times are ns, summed over them.
type Goroutines struct {
	Function  string `json:"function"` // their entry function, or what they are called where it was not recorded
	Count     int64  `json:"count"`
	Running   int64  `json:"running"`
	Runnable  int64  `json:"runnable"` // ready, without a processor
	Waiting   int64  `json:"waiting"`
	Syscall   int64  `json:"syscall"`
	LongestOn string `json:"longest_on"` // what most of Waiting was for
}

// Goroutines sums up recorded states of goroutines by function, most running time first; empty when none were recorded.
func (a *Analysis) Goroutines() []Goroutines {
	x, t := a.index(), a.Trace
	type row struct {
		Goroutines
		waits map[string]int64
	}
	rows := map[string]*row{}
	seen := map[trace.TrackID]bool{}
	for i, class := range x.class {
		s := &t.Slices[i]
		if class != trace.ClassState || s.Track < 0 || int(s.Track) >= len(t.Tracks) || !strings.HasPrefix(t.Tracks[s.Track].Name, "goroutine ") {
			continue
		}
		name := entryFunction(t.Tracks[s.Track].Name)
		r := rows[name]
		if r == nil {
			r = &row{Goroutines: Goroutines{Function: name}, waits: map[string]int64{}}
			rows[name] = r
		}
		if !seen[s.Track] {
			seen[s.Track] = true
			r.Count++
		}
		state := t.Name(s)
		switch base, reason, _ := strings.Cut(state, " ("); base {
		case "running":
			r.Running += s.Dur
		case "runnable":
			r.Runnable += s.Dur
		case "syscall":
			r.Syscall += s.Dur
		case "waiting":
			r.Waiting += s.Dur
			r.waits[strings.TrimSuffix(reason, ")")] += s.Dur
		}
	}
	out := make([]Goroutines, 0, len(rows))
	for _, r := range rows {
		most := int64(0)
		for reason, ns := range r.waits {
			if ns > most || ns == most && reason < r.LongestOn {
				most, r.LongestOn = ns, reason
			}
		}
		out = append(out, r.Goroutines)
	}
	slices.SortFunc(out, func(p, q Goroutines) int {
		return cmp.Or(cmp.Compare(q.Running, p.Running), cmp.Compare(q.Runnable, p.Runnable), cmp.Compare(q.Waiting, p.Waiting), cmp.Compare(p.Function, q.Function))
	})
	return out
}

// entryFunction takes "main.work" out of "goroutine 7 main.work states"; a goroutine without a known function keeps its number.
func entryFunction(track string) string {
	name := strings.TrimSuffix(track, " states")
	if _, function, ok := strings.Cut(strings.TrimPrefix(name, "goroutine "), " "); ok {
		return function
	}
	return name
}
