package check

import (
	"go/token"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// text builds the file that stands for a cell out of parts of the cell, and knows where each byte came from.
type text struct {
	b     strings.Builder
	code  string
	n     int
	lines []int // offsets of the cell's lines
	edits []edit
	segs  []segment
}

// segment says that len bytes at out are those at in of the cell.
type segment struct{ out, in, len int }

func newText(n int, code string, edits []edit) *text {
	t := &text{code: code, n: n, edits: edits, lines: lineStarts(code)}
	sort.Slice(t.edits, func(i, j int) bool { return t.edits[i].off < t.edits[j].off })
	return t
}

func lineStarts(s string) []int {
	l := []int{0}
	for i := range len(s) {
		if s[i] == '\n' {
			l = append(l, i+1)
		}
	}
	return l
}

// lineCol is the line and column, from 1, of byte offset off.
func lineCol(lines []int, off int) (int, int) {
	i := sort.SearchInts(lines, off+1) - 1
	return i + 1, off - lines[i] + 1
}

// said is a line directive inside a line of a cell, which magics write where they wrap code: /*line :2:9*/.
var said = regexp.MustCompile(`/\*line :(\d+):(\d+)\*/`)

// cellPos is the line and column of byte offset off in a cell, as its line directives have them.
func cellPos(code string, lines []int, off int) (line, col int) {
	line, col = lineCol(lines, off)
	head := code[lines[line-1]:min(off, len(code))]
	if !strings.Contains(head, "/*line :") {
		return line, col
	}
	all := said.FindAllStringSubmatchIndex(head, -1)
	if len(all) == 0 {
		return line, col
	}
	m := all[len(all)-1]
	l, err := strconv.Atoi(head[m[2]:m[3]])
	c, err2 := strconv.Atoi(head[m[4]:m[5]])
	if err != nil || err2 != nil {
		return line, col
	}
	return l, c + len(head) - m[1]
}

func (t *text) raw(s string) { t.b.WriteString(s) }

// cell copies the cell's text from start to end, with the edits that lie in it.
func (t *text) cell(start, end int) {
	t.at(start)
	for _, e := range t.edits {
		if e.off < start || e.end > end {
			continue
		}
		t.copy(start, e.off)
		t.segs = append(t.segs, segment{t.b.Len(), e.off, len(e.text)})
		t.raw(e.text)
		t.at(e.end)
		start = e.end
	}
	t.copy(start, end)
}

func (t *text) at(off int) {
	l, c := lineCol(t.lines, off)
	t.raw(lineMark(t.n, l, c))
}

func (t *text) copy(start, end int) {
	if end > start {
		t.segs = append(t.segs, segment{t.b.Len(), start, end - start})
		t.raw(t.code[start:end])
	}
}

// origin is the offset in the cell of offset out in the built text; ok is false for text that is not the cell's.
func origin(segs []segment, out int) (in int, ok bool) {
	i := sort.Search(len(segs), func(i int) bool { return segs[i].out > out }) - 1
	if i < 0 || out > segs[i].out+segs[i].len {
		return 0, false
	}
	return segs[i].in + out - segs[i].out, true
}

// offset is the byte offset of pos in its file.
func offset(fset *token.FileSet, pos token.Pos) int { return fset.PositionFor(pos, false).Offset }
