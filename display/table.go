package display

import (
	"fmt"
	"html"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of a table.
const (
	maxRows = 100
	maxCols = 30
	maxCell = 200 // bytes
)

// table is what is shown of rows and columns, cut to the limits.
type table struct {
	head  []string
	rows  [][]string
	right []bool // columns of numbers
	note  string
}

// tableBundle makes a table of v where it can.
func tableBundle(v any) Bundle {
	r := reflect.ValueOf(v)
	if m, ok := v.(matrix); ok {
		if t := matrixTable(m); t != nil {
			return t.bundle()
		}
	}
	switch r.Kind() {
	case reflect.Map:
		return mapTable(r).bundle()
	case reflect.Slice, reflect.Array:
		if t := autoTable(r); t != nil {
			return t.bundle()
		}
		return listTable(r).bundle()
	}
	return Render(v)
}

// autoTable makes a table of a slice of structs, of pointers to them, or of maps with text as keys; nil for any other
// value, and where elements print themselves.
func autoTable(v reflect.Value) *table {
	if v.Kind() != reflect.Slice && v.Kind() != reflect.Array || v.Len() == 0 {
		return nil
	}
	elem := v.Type().Elem()
	if elem.Implements(stringerType) || elem.Implements(errorType) {
		return nil
	}
	if elem.Kind() == reflect.Pointer {
		elem = elem.Elem()
	}
	switch {
	case elem.Kind() == reflect.Struct:
		return structTable(v, elem)
	case elem.Kind() == reflect.Map && elem.Key().Kind() == reflect.String:
		return mapsTable(v)
	}
	return nil
}

var (
	stringerType = reflect.TypeFor[fmt.Stringer]()
	errorType    = reflect.TypeFor[error]()
)

func structTable(v reflect.Value, elem reflect.Type) *table {
	var fields []int
	for i := range elem.NumField() {
		if elem.Field(i).IsExported() {
			fields = append(fields, i)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	all := len(fields)
	fields = fields[:min(all, maxCols)]
	t := newTable(v.Len(), all)
	for _, i := range fields {
		t.head = append(t.head, elem.Field(i).Name)
		t.right = append(t.right, isNumber(elem.Field(i).Type))
	}
	for r := range min(v.Len(), maxRows) {
		e := reflect.Indirect(v.Index(r))
		row := make([]string, len(fields))
		for c, i := range fields {
			if e.IsValid() {
				row[c] = cellText(e.Field(i))
			} else {
				row[c] = "<nil>"
			}
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func mapsTable(v reflect.Value) *table {
	union := reflect.MakeMap(reflect.MapOf(reflect.TypeFor[string](), reflect.TypeFor[bool]()))
	shown := min(v.Len(), maxRows)
	for r := range shown {
		e := reflect.Indirect(v.Index(r))
		if !e.IsValid() {
			continue
		}
		for _, k := range e.MapKeys() {
			union.SetMapIndex(reflect.ValueOf(k.String()), reflect.ValueOf(true))
		}
	}
	keys := someKeys(union)
	t := newTable(v.Len(), union.Len())
	for _, k := range keys[:min(len(keys), maxCols)] {
		t.head = append(t.head, k.String())
		t.right = append(t.right, true)
	}
	for r := range shown {
		e := reflect.Indirect(v.Index(r))
		row := make([]string, len(t.head))
		for c, name := range t.head {
			if !e.IsValid() {
				continue
			}
			x := e.MapIndex(reflect.ValueOf(name).Convert(e.Type().Key()))
			if !x.IsValid() {
				continue
			}
			row[c] = cellText(x)
			if x.Kind() == reflect.Interface {
				x = x.Elem()
			}
			if x.IsValid() && !isNumber(x.Type()) {
				t.right[c] = false
			}
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// listTable makes a table of any slice: a row for each element, a column for each element of that.
func listTable(v reflect.Value) *table {
	cols := 1
	nested := v.Type().Elem().Kind() == reflect.Slice || v.Type().Elem().Kind() == reflect.Array
	if nested {
		cols = 0
		for r := range min(v.Len(), maxRows) {
			cols = max(cols, v.Index(r).Len())
		}
	}
	t := newTable(v.Len(), cols)
	t.head = []string{""}
	t.right = []bool{true}
	for c := range min(cols, maxCols) {
		if nested {
			t.head = append(t.head, strconv.Itoa(c))
			t.right = append(t.right, isNumber(v.Type().Elem().Elem()))
		} else {
			t.head = append(t.head, "value")
			t.right = append(t.right, isNumber(v.Type().Elem()))
		}
	}
	for r := range min(v.Len(), maxRows) {
		row := make([]string, len(t.head))
		row[0] = strconv.Itoa(r)
		for c := 1; c < len(row); c++ {
			switch e := v.Index(r); {
			case !nested:
				row[c] = cellText(e)
			case c-1 < e.Len():
				row[c] = cellText(e.Index(c - 1))
			}
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func mapTable(v reflect.Value) *table {
	t := newTable(v.Len(), 2)
	t.head = []string{"key", "value"}
	t.right = []bool{isNumber(v.Type().Key()), isNumber(v.Type().Elem())}
	for _, k := range someKeys(v) {
		t.rows = append(t.rows, []string{cellText(k), cellText(v.MapIndex(k))})
	}
	return t
}

// matrix is what gonum's matrices and vectors offer.
type matrix interface {
	Dims() (r, c int)
	At(i, j int) float64
}

// matrixTable shows the head of a matrix; nil for one that does not give its elements.
func matrixTable(m matrix) (t *table) {
	defer func() {
		if recover() != nil {
			t = nil
		}
	}()
	const side = 12
	rows, cols := m.Dims()
	t = &table{head: []string{""}, right: []bool{true}, note: fmt.Sprintf("%d×%d matrix", rows, cols)}
	if rows > side || cols > side {
		t.note += fmt.Sprintf(", the first %d×%d shown", min(rows, side), min(cols, side))
	}
	for c := range min(cols, side) {
		t.head = append(t.head, strconv.Itoa(c))
		t.right = append(t.right, true)
	}
	for r := range min(rows, side) {
		row := []string{strconv.Itoa(r)}
		for c := range min(cols, side) {
			row = append(row, strconv.FormatFloat(m.At(r, c), 'g', 6, 64))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func newTable(rows, cols int) *table {
	t := &table{}
	var parts []string
	if rows > maxRows {
		parts = append(parts, fmt.Sprintf("%d more rows", rows-maxRows))
	}
	if cols > maxCols {
		parts = append(parts, fmt.Sprintf("%d more columns", cols-maxCols))
	}
	if len(parts) > 0 {
		t.note = "… " + strings.Join(parts, ", ")
	}
	return t
}

func isNumber(t reflect.Type) bool {
	switch k := t.Kind(); {
	case t.Implements(stringerType):
		return false
	case k >= reflect.Int && k <= reflect.Float64:
		return true
	}
	return false
}

func cellText(v reflect.Value) string {
	if !v.CanInterface() {
		return "?"
	}
	s := text(v.Interface())
	if len(s) > maxCell {
		s = cut(s, maxCell)
	}
	return s
}

// bundle renders the table as HTML and as aligned text.
func (t *table) bundle() Bundle {
	return Bundle{Data: map[string]any{mimeHTML: t.html(), mimeText: t.text()}}
}

// html needs no style sheet: alignment is by attribute, which every front end's sanitizer keeps.
func (t *table) html() string {
	var b strings.Builder
	b.WriteString("<table>\n<thead><tr>")
	row := func(tag string, cells []string) {
		for c, s := range cells {
			align := ""
			if t.right[c] {
				align = ` align="right"`
			}
			fmt.Fprintf(&b, "<%s%s>%s</%s>", tag, align, html.EscapeString(s), tag)
		}
		b.WriteString("</tr>")
	}
	row("th", t.head)
	b.WriteString("</thead>\n<tbody>\n")
	for _, r := range t.rows {
		b.WriteString("<tr>")
		row("td", r)
		b.WriteByte('\n')
	}
	b.WriteString("</tbody>\n</table>")
	if t.note != "" {
		b.WriteString("<p>" + html.EscapeString(t.note) + "</p>")
	}
	return b.String()
}

func (t *table) text() string {
	const widest = 40
	clean := func(s string) string {
		s = strings.Map(func(r rune) rune {
			if r < ' ' {
				return ' '
			}
			return r
		}, s)
		if r := []rune(s); len(r) > widest {
			s = string(r[:widest-1]) + "…"
		}
		return s
	}
	all := append([][]string{t.head}, t.rows...)
	width := make([]int, len(t.head))
	for _, r := range all {
		for c, s := range r {
			width[c] = max(width[c], utf8.RuneCountInString(clean(s)))
		}
	}
	var b strings.Builder
	for _, r := range all {
		var line strings.Builder
		for c, s := range r {
			s = clean(s)
			pad := strings.Repeat(" ", width[c]-utf8.RuneCountInString(s))
			if c > 0 {
				line.WriteString("  ")
			}
			if t.right[c] {
				line.WriteString(pad + s)
			} else {
				line.WriteString(s + pad)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	if t.note != "" {
		b.WriteString(t.note + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
