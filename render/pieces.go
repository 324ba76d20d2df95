package render

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

// Mark is a named stretch of time, such as a step. End is 0 when it ends where the next one starts.
type Mark struct {
	Time, End int64 // ns
	Name      string
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
