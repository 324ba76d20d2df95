package analyze

import "github.com/gander-go/gander/profiler/trace"

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
	Base, New  int64      `json:"-"` // ns: device time, or host time where there is none
	Matched    bool       `json:"matched"`
	BaseSlices []int32    `json:"-"`
	NewSlices  []int32    `json:"-"`
	Children   []DiffNode `json:"children,omitempty"`
}

// DiffReport compares two traces.
type DiffReport struct {
	Rows                []DiffRow   `json:"rows"` // largest change of self time first
	Tree                []DiffNode  `json:"tree"` // aligned as the plugin's diff view
	BaseSpan, NewSpan   int64       `json:"-"`    // ns
	BaseSteps, NewSteps *StepReport `json:"-"`
}

// Diff compares base with next by name and aligned.
func Diff(base, next *trace.Trace) *DiffReport { return DiffOf(Of(base), Of(next)) }

// DiffOf compares two analyses.
func DiffOf(base, next *Analysis) *DiffReport { return &DiffReport{} }

// Text returns the rows as a table of at most limit rows; 0 or less is all.
func (r *DiffReport) Text(limit int) string { return "" }
