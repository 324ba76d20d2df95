package render

// document is what the script of a report reads: its views and their parts. Texts in it are data; the script sets them
// as text, never as markup.
type document struct {
	Title  string      `json:"title"`
	Note   string      `json:"note"`
	Unit   string      `json:"unit,omitempty"` // "s", "ms" or "us": of all times in tables
	Views  []viewPart  `json:"views,omitempty"`
	Groups []groupPart `json:"groups,omitempty"` // one per trace, in place of Views
}

// groupPart is a document of its own in packed form.
type groupPart struct {
	Label string `json:"label"`
	Blob  int    `json:"blob"`
}

type viewPart struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Parts []any  `json:"parts"`
}

// partHead is common to all parts. K names the function of the script that draws it.
type partHead struct {
	K     string `json:"k"`
	Title string `json:"title,omitempty"`
	Note  string `json:"note,omitempty"`
	Half  bool   `json:"half,omitempty"` // two of them share a line where there is room
	Blob  *int   `json:"blob,omitempty"` // index of the packed data that belongs to it
}

type tilesPart struct {
	partHead
	Items []tile `json:"items"`
}

// tile is one figure with its name.
type tile struct {
	Label string   `json:"l"`
	Value string   `json:"v"`
	Help  string   `json:"h,omitempty"`
	Small string   `json:"s,omitempty"`
	Bar   *float64 `json:"bar,omitempty"` // 0 to 1
}

type stackPart struct {
	partHead
	Label  string      `json:"label"`
	Unit   Unit        `json:"unit"`
	Cats   []string    `json:"cats"`
	Colors []int       `json:"colors"`
	Labels []string    `json:"labels"`
	Data   [][]float64 `json:"data"` // per category, per label
}

type advicePart struct {
	partHead
	Items []adviceItem `json:"items"`
}

type adviceItem struct {
	Severity string      `json:"sev"`
	Title    string      `json:"title"`
	Text     string      `json:"text"`
	Remedy   string      `json:"remedy"`
	Seen     [][2]string `json:"seen"` // text, and a name to find in the timeline or ""
}

type notePart struct {
	partHead
	Text string `json:"text"`
}

type tablePart struct {
	partHead
	Label  string    `json:"label"`
	File   string    `json:"file,omitempty"` // name of a saved CSV
	Cols   []colPart `json:"cols"`
	Data   []any     `json:"data"` // per column: []string, or []*float64 with null for empty cells
	Sort   int       `json:"sort"`
	Find   int       `json:"find"` // column of names that the timeline knows, -1 for none
	Span   []int     `json:"span,omitempty"`
	Total  int       `json:"total,omitempty"`
	Height int       `json:"height,omitempty"`
}

type colPart struct {
	Name string `json:"n"`
	Unit Unit   `json:"u,omitempty"`
	Help string `json:"h,omitempty"`
	Heat bool   `json:"heat,omitempty"`
	Hide bool   `json:"hide,omitempty"`
}

type curvePart struct {
	partHead
	Label  string      `json:"label"`
	Unit   Unit        `json:"unit"`
	End    int64       `json:"end"`
	Height int         `json:"height,omitempty"`
	Series []curveMeta `json:"series"`
	Marks  [][1]int64  `json:"marks"`
}

type curveMeta struct {
	Name  string `json:"name"`
	Area  bool   `json:"area,omitempty"`
	Limit bool   `json:"limit,omitempty"`
}

type flamePart struct {
	partHead
	Label string     `json:"label"`
	Sets  []flameSet `json:"sets"`
}

type flameSet struct {
	Title   string   `json:"title"`
	Unit    Unit     `json:"unit"`
	Samples bool     `json:"samples,omitempty"`
	Names   []string `json:"names"`
	Name    []int32  `json:"name"`
	Parent  []int32  `json:"parent"`
	Self    []int64  `json:"self"`
	Count   []int64  `json:"count"`
}

type echartPart struct {
	partHead
	Label  string         `json:"label"`
	Lib    string         `json:"lib"`
	Height int            `json:"height,omitempty"`
	Option map[string]any `json:"option"`
}
