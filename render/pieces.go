package render

import "github.com/gander-go/gander/profiler/trace"

// Unit says how the numbers of a column or a curve are written.
type Unit string

const (
	UnitNone    Unit = ""    // text
	UnitCount   Unit = "n"   // integer with thousands separators
	UnitNumber  Unit = "f"   // any number
	UnitTime    Unit = "ns"  // nanoseconds, shown as s, ms, µs or ns
	UnitBytes   Unit = "B"   // shown with 1024-based prefixes
	UnitPercent Unit = "%"   // 0 to 100
	UnitFlops   Unit = "F"   // shown with 1000-based prefixes
	UnitRate    Unit = "B/s" // bytes per second, 1000-based prefixes
)

// Column describes one column of a Grid.
type Column struct {
	Name string
	Help string // what the number means, shown on hover
	Unit Unit
	Heat bool // draw a bar behind the number
	Hide bool // not shown until the reader asks for it
}

// Grid is a table: rows of strings (text columns) and float64 or int64 (others). A nil cell is empty.
type Grid struct {
	Title string
	Note  string
	Cols  []Column
	Rows  [][]any
	Sort  int // column to sort by at first, descending for numbers; -1 for the order of Rows
	Total int // rows that exist, when Rows holds only the first of them; 0 otherwise
}

// Series is one curve. It holds its value from one point to the next. Times are ns.
type Series struct {
	Name   string
	Times  []int64
	Values []float64
	Area   bool
	Limit  bool // a capacity line, dashed
}

// Graph is one chart of curves over a common time axis.
type Graph struct {
	Title  string
	Note   string
	Unit   Unit
	Series []Series
	Marks  []Mark // vertical lines, such as the starts of steps
}

// Mark is a named time.
type Mark struct {
	Time int64
	Name string
}

// Flames is a tree of call paths in a columnar form. Node 0 is the root; a node's parent comes before it.
type Flames struct {
	Title  string
	Note   string
	Unit   Unit // UnitTime, UnitBytes or UnitCount
	Names  []string
	Name   []int32 // per node: index into Names
	Parent []int32 // per node: its parent, -1 for the root
	Self   []int64 // per node: weight of the node itself
	Count  []int64 // per node: calls or samples
}

// Table draws one table. It never fails.
func Table(g Grid, o Options) Bundle { return Bundle{} }

// Curve draws one chart of curves.
func Curve(g Graph, o Options) Bundle { return Bundle{} }

// Flame draws one flame graph.
func Flame(f Flames, o Options) Bundle { return Bundle{} }

// Timeline draws the events of one trace on their tracks.
func Timeline(t *trace.Trace, o Options) Bundle { return Bundle{} }

// EChart is what a chart of go-echarts offers. Only its options are used, never its HTML.
type EChart interface {
	Validate()
	JSON() map[string]any
}

// Chart draws a chart of go-echarts. Functions in its options are refused: only data passes.
func Chart(c EChart, o Options) (Bundle, error) { return Bundle{}, nil }

// Library remembers for one notebook whether the chart library was already sent. It is safe for concurrent use.
type Library struct{ sent bool }

// Reset makes the next output with charts carry the library again: after a restart, or when its cell was deleted.
func (l *Library) Reset() { l.sent = false }
