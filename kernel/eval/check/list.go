package check

import (
	"go/doc/comment"
	"slices"
	"strings"
)

// Listed is a variable of the session.
type Listed struct {
	Name, Type string
	Cell       int
}

// Vars lists the session's variables.
func (s *Session) Vars() (out []Listed) {
	st := s.snapshot()
	for _, it := range st.items {
		if it.kind == VarSymbol && st.names.syms[it.syms[0].Key()] == it.syms[0] {
			out = append(out, Listed{it.syms[0].Name, it.typeText(st.names), it.syms[0].Cell})
		}
	}
	return out
}

// typeText is the type of a variable as its user would write it.
func (it *item) typeText(ns names) string {
	if it.typ != "" {
		return it.typ
	}
	text := it.src[it.defs[0].end+1:]
	shift := it.defs[0].end + 1
	var b strings.Builder
	at := 0
	refs := slices.Clone(it.refs)
	slices.SortFunc(refs, func(a, b ref) int { return a.off - b.off })
	for _, r := range refs {
		b.WriteString(text[at : r.off-shift])
		if r.pkg != "" {
			b.WriteString(baseName(r.pkg))
		} else {
			b.WriteString(r.sym.Name)
		}
		at = r.end - shift
	}
	b.WriteString(text[at:])
	return b.String()
}

// baseName is what the package of that path is most likely called.
func baseName(path string) string {
	parts := strings.Split(path, "/")
	last := parts[len(parts)-1]
	if n := len(parts); n > 1 && len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		last = parts[n-2]
	}
	return last
}

// VarsOfPackage names the variables whose types are written with a type of the package.
func (s *Session) VarsOfPackage(path string) (out []string) {
	st := s.snapshot()
	for _, it := range st.items {
		if it.kind != VarSymbol || st.names.syms[it.syms[0].Key()] != it.syms[0] {
			continue
		}
		if slices.ContainsFunc(it.refs, func(r ref) bool { return r.pkg == path }) {
			out = append(out, it.syms[0].Name)
		}
	}
	return out
}

// DocMarkdown is a doc comment as Markdown.
func DocMarkdown(doc string) string {
	var p comment.Parser
	pr := comment.Printer{HeadingLevel: 4}
	return string(pr.Markdown(p.Parse(doc)))
}

// DocHTML is a doc comment as HTML.
func DocHTML(doc string) string {
	var p comment.Parser
	pr := comment.Printer{HeadingLevel: 4}
	return string(pr.HTML(p.Parse(doc)))
}
