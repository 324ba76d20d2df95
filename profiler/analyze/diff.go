package analyze

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/gander-go/gander/profiler/trace"
)

// DiffSide is one run's share of a row. Times are ns.
type DiffSide struct {
	Count      int64 `json:"count"`
	Host       int64 `json:"host"`
	HostSelf   int64 `json:"host_self"`
	Device     int64 `json:"device"`
	DeviceSelf int64 `json:"device_self"`
}

// DiffRow compares one name.
type DiffRow struct {
	Name      string   `json:"name"`
	Side      Side     `json:"-"`
	Device    string   `json:"device"`
	Base, New DiffSide `json:"-"`
	Status    string   `json:"status"` // "added", "deleted", "increased", "decreased" (calls), "unchanged"
}

// DiffNode is a pair of matched ranges, or of unmatched runs between them, in order.
type DiffNode struct {
	Name       string     `json:"name"`
	Base       int64      `json:"base"` // ns: device time, or host time where there is none
	New        int64      `json:"new"`
	Matched    bool       `json:"matched"` // a pair; else a run of ranges that only one side has, or in another order
	BaseSlices []int32    `json:"-"`
	NewSlices  []int32    `json:"-"`
	Children   []DiffNode `json:"children,omitempty"`
}

// DiffReport compares two traces.
type DiffReport struct {
	Rows      []DiffRow   `json:"rows"`      // largest change of self time first
	Tree      []DiffNode  `json:"tree"`      // aligned as the plugin's diff view
	BaseSpan  int64       `json:"base_span"` // ns
	NewSpan   int64       `json:"new_span"`
	BaseSteps *StepReport `json:"base_steps"`
	NewSteps  *StepReport `json:"new_steps"`
}

// Diff compares base with next by name and aligned.
func Diff(base, next *trace.Trace) *DiffReport { return DiffOf(Of(base), Of(next)) }

// DiffOf compares two analyses.
func DiffOf(base, next *Analysis) *DiffReport {
	r := &DiffReport{Rows: []DiffRow{}, Tree: []DiffNode{}}
	b, n := base.KeyAverages(KeyOptions{}), next.KeyAverages(KeyOptions{})
	r.BaseSpan, r.NewSpan = b.Span, n.Span
	r.BaseSteps, r.NewSteps = base.Steps(), next.Steps()
	type key struct {
		name string
		side Side
		user bool
	}
	rows := map[key]int{}
	row := func(a *Average) *DiffRow {
		k := key{a.Key, a.Side, a.User}
		i, ok := rows[k]
		if !ok {
			i = len(r.Rows)
			rows[k] = i
			r.Rows = append(r.Rows, DiffRow{Name: a.Key, Side: a.Side, Device: a.Device})
		}
		return &r.Rows[i]
	}
	side := func(a *Average) DiffSide {
		return DiffSide{Count: a.Count, Host: a.CPUTotal, HostSelf: a.SelfCPU, Device: a.DeviceTotal, DeviceSelf: a.SelfDevice}
	}
	for i := range b.Rows {
		row(&b.Rows[i]).Base = side(&b.Rows[i])
	}
	for i := range n.Rows {
		row(&n.Rows[i]).New = side(&n.Rows[i])
	}
	for i := range r.Rows {
		r.Rows[i].Status = status(r.Rows[i].Base.Count, r.Rows[i].New.Count)
	}
	slices.SortStableFunc(r.Rows, func(p, q DiffRow) int { return compareInt(q.change(), p.change()) })
	r.Tree = align(base, next)
	return r
}

func status(base, next int64) string {
	switch {
	case base == 0:
		return "added"
	case next == 0:
		return "deleted"
	case next > base:
		return "increased"
	case next < base:
		return "decreased"
	}
	return "unchanged"
}

// change is the size of the change of self time in ns.
func (r *DiffRow) change() int64 {
	d := r.New.HostSelf - r.Base.HostSelf
	if r.Side == SideDevice {
		d = r.New.DeviceSelf - r.Base.DeviceSelf
	}
	return max(d, -d)
}

// MarshalJSON writes both sides and their names in one object.
func (r DiffRow) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name   string   `json:"name"`
		Device string   `json:"device"`
		Status string   `json:"status"`
		Base   DiffSide `json:"base"`
		New    DiffSide `json:"new"`
	}{r.Name, r.Device, r.Status, r.Base, r.New})
}

// Text returns the rows as a table of at most limit rows; 0 or less is all.
func (r *DiffReport) Text(limit int) string {
	t := textTable{header: []string{"Name", "Device", "Calls", "new", "Host self", "new", "change", "Device total", "new", "change"}}
	n, more := limited(len(r.Rows), limit)
	delta := func(a, b int64) string {
		if a == 0 {
			return formatTime(float64(b-a), "")
		}
		return fmt.Sprintf("%s (%+.1f%%)", formatTime(float64(b-a), ""), float64(b-a)/float64(a)*100)
	}
	for i := range r.Rows[:n] {
		d := &r.Rows[i]
		t.add(d.Name, d.Device, strconv.FormatInt(d.Base.Count, 10), strconv.FormatInt(d.New.Count, 10),
			formatTime(float64(d.Base.HostSelf), ""), formatTime(float64(d.New.HostSelf), ""), delta(d.Base.HostSelf, d.New.HostSelf),
			formatTime(float64(d.Base.Device), ""), formatTime(float64(d.New.Device), ""), delta(d.Base.Device, d.New.Device))
	}
	return fmt.Sprintf("Whole: %s, new %s, change %s\n", formatTime(float64(r.BaseSpan), ""), formatTime(float64(r.NewSpan), ""), delta(r.BaseSpan, r.NewSpan)) +
		t.String() + more
}
