package check

import (
	"fmt"
	"go/types"
	"maps"
	"slices"
	"sort"
	"strings"
)

// mark separates the parts of internal names. It is a letter that nobody types, so that internal names are identifiers
// and never meet a user's.
const mark = "ꞏ"

// item is one declaration that the session keeps: a function, method, type, group of constants, or a variable. Items are
// immutable.
type item struct {
	kind SymbolKind
	syms []*Symbol
	defs []span // where src declares syms; empty for a method, whose name never changes
	recv *Symbol

	src    string // the declaration; for a variable "var x T"
	prefix int    // bytes of src that are not in the cell's text
	cell   int
	line   int // of src[prefix] in the cell
	col    int
	body   int // offset of the function body in src, 0 for none

	refs []ref  // sorted by offset
	typ  string // how a variable's type is shown that src does not name
	doc  string
	norm string // src without comments and layout, to recognise a repetition
}

type span struct{ off, end int }

// ref is an identifier in an item's text that means a symbol of the session or an imported package.
type ref struct {
	span
	sym *Symbol // or:
	pkg string  // import path
	dot bool    // the identifier is a member of pkg, from a dot import
}

// uses reports whether the item refers to a symbol of set, and whether its type does.
func (it *item) uses(set map[*Symbol]bool) (any, inType bool) {
	for _, r := range it.refs {
		if r.sym != nil && set[r.sym] {
			any = true
			if it.body == 0 || r.off < it.body {
				return true, true
			}
		}
	}
	return any, false
}

// rebind copies the item with new symbols and its references replaced.
func (it *item) rebind(fresh map[*Symbol]*Symbol) *item {
	c := *it
	c.syms = slices.Clone(it.syms)
	for i, s := range c.syms {
		if n := fresh[s]; n != nil {
			c.syms[i] = n
		}
	}
	if n := fresh[c.recv]; n != nil {
		c.recv = n
	}
	c.refs = slices.Clone(it.refs)
	for i := range c.refs {
		if n := fresh[c.refs[i].sym]; n != nil {
			c.refs[i].sym = n
		}
	}
	return &c
}

// names is a namespace: what every name means, symbols by Symbol.Key.
type names struct {
	syms    map[string]*Symbol
	imports map[string]string // name to path
	dots    []string          // paths imported with a dot, the latest first
}

func (n names) clone() names {
	return names{maps.Clone(n.syms), maps.Clone(n.imports), slices.Clone(n.dots)}
}

// spell is the name that s has in text that is checked under n. Variables that are called like something predeclared
// always go by their internal name, so that max := max(a, b) can be told apart.
func (n names) spell(s *Symbol) string {
	if s.Kind == MethodSymbol || n.syms[s.Name] == s && (s.Kind != VarSymbol || types.Universe.Lookup(s.Name) == nil) {
		return s.Name
	}
	return fmt.Sprintf("%s%s%d", s.Name, mark, s.ID)
}

// alias is the name under which generated text imports path.
func alias(path string) string {
	return mark + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r > 127 {
			return r
		}
		return []rune(mark)[0]
	}, path)
}

// lineMark is a comment that says where in which cell the following text stands.
func lineMark(cell, line, col int) string {
	return fmt.Sprintf("/*line In[%d]:%d:%d*/", cell, line, col)
}

// place is the line and column, from 1, of a byte offset in text that starts at line and col.
func place(text string, off, line, col int) (int, int) {
	if n := strings.Count(text[:off], "\n"); n > 0 {
		return line + n, off - strings.LastIndexByte(text[:off], '\n')
	}
	return line, col + off
}

// edit replaces a span of text.
type edit struct {
	span
	text string
}

// render writes the item as a Go file of its own.
func (it *item) render(ns names) string {
	var b strings.Builder
	b.WriteString("package cell;")
	var edits []edit
	seen := map[string]bool{}
	for _, r := range it.refs {
		switch {
		case r.pkg != "":
			if !seen[r.pkg] {
				seen[r.pkg] = true
				fmt.Fprintf(&b, "import %s %q;", alias(r.pkg), r.pkg)
			}
			t := alias(r.pkg)
			if r.dot {
				t += "." + it.src[r.off:r.end]
			}
			edits = append(edits, edit{r.span, t})
		default:
			edits = append(edits, edit{r.span, ns.spell(r.sym)})
		}
	}
	for i, d := range it.defs {
		edits = append(edits, edit{d, ns.spell(it.syms[i])})
	}
	sort.SliceStable(edits, func(i, j int) bool { return edits[i].off < edits[j].off })
	b.WriteString(it.src[:it.prefix])
	b.WriteString(lineMark(it.cell, it.line, it.col))
	at := it.prefix
	for _, e := range edits {
		if e.off < at || it.src[e.off:e.end] == e.text {
			continue
		}
		b.WriteString(it.src[at:e.off])
		b.WriteString(e.text)
		l, c := place(it.src[it.prefix:], e.end-it.prefix, it.line, it.col)
		b.WriteString(lineMark(it.cell, l, c))
		at = e.end
	}
	b.WriteString(it.src[at:])
	b.WriteString("\n")
	return b.String()
}
