package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/gander-go/gander/profiler/trace"
)

const (
	notebookBudget = 2 << 20  // bytes of base64 that a timeline in a notebook may take
	pageBudget     = 12 << 20 // the same on a page
)

// timelinePart is what the page's timeline reads; the events come in the blob.
type timelinePart struct {
	partHead
	Label   string              `json:"label"` // what the picture shows, for those who cannot see it
	End     int64               `json:"end"`   // ns from the first to the last moment
	Names   []string            `json:"names"`
	Cls     []int               `json:"cls"` // per name: index into Classes
	Classes []string            `json:"classes"`
	Args    []map[string]string `json:"args"` // index 0 is nil
	Tracks  []timelineTrack     `json:"tracks"`
	Marks   [][3]any            `json:"marks"`          // steps: start, end, name
	Path    []uint32            `json:"path,omitempty"` // events of the critical path, each as its distance from the one before
}

type timelineTrack struct {
	Name   string `json:"name"`
	Proc   string `json:"proc"`
	Kind   string `json:"kind"` // "host" or "device"
	Rows   int    `json:"rows"`
	Nested bool   `json:"nested"` // row n+1 holds what row n called
	Shut   bool   `json:"shut"`   // shown as one row at first
}

type nameKey struct {
	name  string
	class trace.Class
}

// timelineBuilder turns a trace into the part and its packed events.
type timelineBuilder struct {
	t      *trace.Trace
	base   int64 // time zero of the picture
	names  map[nameKey]uint32
	ids    map[[2]uint32]uint32 // string id and category to name, to avoid hashing text per event
	args   map[string]uint32
	perArg map[[2]uint32]uint32 // kind and index of a side table
	path   []int32              // slices of the critical path
	part   timelinePart
}

// buildTimeline lays out and packs the events of t within budget bytes of base64, made coarser as far as that takes.
// The note of the part says what was done. steps are drawn as a band of their own; path is the slices of the critical path.
func buildTimeline(t *trace.Trace, budget int, steps []Mark, path []int32) (*timelinePart, []*rowTrack, string, error) {
	b := &timelineBuilder{t: t, base: t.Meta.Start, path: path, names: map[nameKey]uint32{}, ids: map[[2]uint32]uint32{}, args: map[string]uint32{"": 0}, perArg: map[[2]uint32]uint32{}}
	b.part.K, b.part.Args = "timeline", []map[string]string{nil}
	b.part.Classes = classNames[:]
	rows, crowded := layRows(t, b.name, b.arg, b.instant)
	b.part.End = max(1, t.Meta.End-t.Meta.Start)
	b.describeTracks(rows)
	b.part.Marks = [][3]any{}
	for i, s := range steps {
		end := b.part.End
		if i+1 < len(steps) {
			end = steps[i+1].Time - b.base
		}
		if s.End > 0 {
			end = s.End - b.base
		}
		b.part.Marks = append(b.part.Marks, [3]any{s.Time - b.base, end, s.Name})
	}
	blob, err := b.fit(rows, budget)
	if err != nil {
		return nil, nil, "", err
	}
	if crowded > 0 {
		b.part.Note = strings.TrimSpace(fmt.Sprintf("%s %s below row %d of their track are not drawn.", b.part.Note, plural(int64(crowded), "event"), maxRows))
	}
	n := 0
	for _, rt := range rows {
		for _, r := range rt.rows {
			n += len(r)
		}
	}
	b.part.Label = fmt.Sprintf("Timeline of %s on %s over %s.", plural(int64(n), "event"), plural(int64(len(rows)), "track"), formatTime(float64(b.part.End)))
	return &b.part, rows, blob, nil
}

// fit packs rows, coarser and coarser until the text is within budget: first times in steps of 100 ns, then without
// arguments, then with short neighbours merged.
func (b *timelineBuilder) fit(rows []*rowTrack, budget int) (string, error) {
	args := b.part.Args
	var least int64
	hidden := 0
	var notes []string
	for try := 0; ; try++ {
		tick := uint32(1)
		if try > 0 {
			tick = 100
		}
		if try == 2 && len(args) > 1 {
			b.part.Args = []map[string]string{nil}
			for _, rt := range rows {
				for _, r := range rt.rows {
					for i := range r {
						r[i].args = 0
					}
				}
			}
		}
		if try > 2 {
			if least == 0 {
				least = max(1000, b.part.End/1_000_000)
			} else {
				least *= 4
			}
			hidden += merge(rows, least, b.nameOf("(short events, merged)", trace.ClassOther))
		}
		text, err := squeeze(b.pack(rows, tick).bytes(), gzip.BestSpeed+4)
		if err != nil {
			return "", err
		}
		meta, err := json.Marshal(b.part.Args)
		if err != nil {
			return "", fmt.Errorf("writing timeline arguments: %w", err)
		}
		if len(text)+len(meta)/8 > budget && try < 20 {
			continue
		}
		if try > 0 {
			notes = append(notes, "times are in steps of 100 ns")
		}
		if try > 1 && len(args) > 1 {
			notes = append(notes, "arguments are left out")
		}
		if hidden > 0 {
			notes = append(notes, fmt.Sprintf("%s shorter than %s are merged with their neighbours", plural(int64(hidden), "event"), formatTime(float64(least))))
		}
		if len(notes) > 0 {
			b.part.Note = "To keep this view small, " + strings.Join(notes, ", ") + ". An exported trace file has everything."
		}
		return text, nil
	}
}

func (b *timelineBuilder) pack(rows []*rowTrack, tick uint32) *packedTimeline {
	p := &packedTimeline{Tick: tick}
	at := make([]int32, len(b.t.Slices)) // slice to its index in the packed form plus one; 0 for none
	for _, rt := range rows {
		for _, row := range rt.rows {
			p.Rows = append(p.Rows, len(row))
			for _, e := range row {
				if e.slice >= 0 {
					at[e.slice] = int32(len(p.Start) + 1)
				}
				p.Start, p.End = append(p.Start, max(0, e.start-b.base)), append(p.End, max(0, e.end-b.base))
				p.Name, p.Args = append(p.Name, e.name), append(p.Args, e.args)
			}
		}
	}
	for i := range b.t.Flows {
		f := &b.t.Flows[i]
		if f.From < 0 || f.To < 0 {
			continue
		}
		if x, y := at[f.From], at[f.To]; x > 0 && y > 0 {
			p.Flows = append(p.Flows, [2]uint32{uint32(x - 1), uint32(y - 1)})
		}
	}
	b.part.Path = b.packPath(at)
	slices.SortFunc(p.Flows, func(x, y [2]uint32) int { return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1])) })
	return p
}

// maxPath bounds the events of a critical path that are marked.
const maxPath = 200_000

// packPath turns the slices of the path into distances between packed events; at has each slice's event plus one.
func (b *timelineBuilder) packPath(at []int32) []uint32 {
	if len(b.path) > maxPath {
		return nil
	}
	var out []uint32
	for _, i := range b.path {
		if at[i] > 0 {
			out = append(out, uint32(at[i]-1))
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	for k := len(out) - 1; k > 0; k-- {
		out[k] -= out[k-1]
	}
	return out
}

func (b *timelineBuilder) name(s *trace.Slice) uint32 {
	k := [2]uint32{uint32(s.Name), uint32(s.Cat)}
	if id, ok := b.ids[k]; ok {
		return id
	}
	id := b.nameOf(b.t.Name(s), b.t.Class(s))
	b.ids[k] = id
	return id
}

func (b *timelineBuilder) instant(e *trace.Instant) uint32 {
	c := trace.ClassOther
	if int(e.Cat) < len(b.t.Categories) {
		c = b.t.Categories[e.Cat].Class
	}
	return b.nameOf(b.t.Strings.Get(e.Name), c)
}

func (b *timelineBuilder) nameOf(name string, c trace.Class) uint32 {
	if c >= trace.NumClasses {
		c = trace.ClassOther
	}
	k := nameKey{name, c}
	id, ok := b.names[k]
	if !ok {
		id = uint32(len(b.part.Names))
		b.names[k] = id
		if name == "" {
			name = "(no name)"
		}
		b.part.Names = append(b.part.Names, strings.ToValidUTF8(name, "\uFFFD"))
		b.part.Cls = append(b.part.Cls, int(c))
	}
	return id
}

func (b *timelineBuilder) describeTracks(rows []*rowTrack) {
	// The tracks with the most events are open at first, as far as about thirty rows go.
	order := slices.Clone(rows)
	slices.SortStableFunc(order, func(x, y *rowTrack) int { return cmp.Compare(y.events(), x.events()) })
	room, open := 30-len(rows), map[*rowTrack]bool{}
	for _, rt := range order {
		if n := len(rt.rows) - 1; n <= room || len(open) == 0 {
			open[rt] = true
			room -= n
		}
	}
	b.part.Tracks = []timelineTrack{}
	for _, rt := range rows {
		tr := &b.t.Tracks[rt.id]
		kind := "host"
		if tr.Kind == trace.TrackStream {
			kind = "device"
		}
		b.part.Tracks = append(b.part.Tracks, timelineTrack{trackName(b.t, rt.id), processName(b.t, tr.Process), kind, len(rt.rows), nests(tr.Kind), !open[rt]})
	}
}

func trackName(t *trace.Trace, k trace.TrackID) string {
	if k < 0 || int(k) >= len(t.Tracks) {
		return ""
	}
	tr := &t.Tracks[k]
	switch {
	case tr.Name != "":
		return strings.TrimSpace(strings.ToValidUTF8(tr.Name, ""))
	case tr.Key != "":
		return strings.ToValidUTF8(tr.Key, "")
	case tr.Kind == trace.TrackGoroutine:
		return fmt.Sprintf("goroutine %d", tr.ID)
	case tr.Kind == trace.TrackStream:
		return fmt.Sprintf("stream %d", tr.ID)
	}
	return fmt.Sprintf("thread %d", tr.ID)
}

func processName(t *trace.Trace, p trace.ProcessID) string {
	if p < 0 || int(p) >= len(t.Processes) {
		return ""
	}
	pr := &t.Processes[p]
	name := pr.Name
	if pr.Device >= 0 && int(pr.Device) < len(t.Devices) {
		return fmt.Sprintf("GPU %d", t.Devices[pr.Device].ID)
	}
	if pr.Labels != "" && pr.Labels != name {
		name = strings.TrimSpace(name + " " + pr.Labels)
	}
	if name == "" {
		name = pr.Key
	}
	if name == "" && pr.PID != 0 {
		name = fmt.Sprintf("process %d", pr.PID)
	}
	return strings.ToValidUTF8(name, "")
}
