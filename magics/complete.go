package magics

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/gander-go/gander/kernel/cell"
)

// Complete implements kernel.Engine: magics, their flags, file names behind those that take one, and Go.
func (e *Engine) Complete(ctx context.Context, code string, cursor int) cell.Completion {
	cursor = max(0, min(cursor, len(code)))
	start := strings.LastIndexByte(code[:cursor], '\n') + 1
	line := code[start:cursor]
	trimmed := strings.TrimLeft(line, " \t")
	if strings.HasPrefix(trimmed, "%") || strings.HasPrefix(line, "!") {
		if c, ok := e.completeMagic(line, start, cursor); ok {
			return c
		}
	}
	return qualified(code, e.lang.Complete(ctx, goAround(code, cursor), cursor))
}

// goAround is goOnly with the Go code on the magic's line that cursor is in, if it is in one.
func goAround(code string, cursor int) string {
	start := strings.LastIndexByte(code[:cursor], '\n') + 1
	line, _, _ := strings.Cut(code[start:], "\n")
	text := goOnly(code)
	if at, ok := goOfMagic(line); ok && cursor >= start+at {
		text = text[:start+at] + line[at:] + text[start+len(line):]
	}
	return text
}

// goOfMagic finds the Go code on the line of a magic that takes some.
func goOfMagic(line string) (at int, ok bool) {
	name, args, found := strings.Cut(strings.TrimLeft(line, " \t%"), " ")
	m := registry[name]
	if !found || m == nil || !m.takesGo || !strings.HasPrefix(strings.TrimSpace(line), "%") {
		return 0, false
	}
	fs := newFlags(name)
	if m.flags != nil {
		fs = m.flags()
	}
	_, rest, err := cutFlags(fs, args)
	return len(line) - len(rest), err == nil
}

// qualified makes completions of a member hold what stands before it ("strings.HasPrefix", not "HasPrefix"), as front
// ends are used to from IPython.
func qualified(code string, c cell.Completion) cell.Completion {
	if c.Start < 1 || c.Start > len(code) || code[c.Start-1] != '.' || len(c.Items) == 0 {
		return c
	}
	at := c.Start - 1
	for at > 0 && isNameByte(code[at-1]) {
		at--
	}
	if at == c.Start-1 || at > 0 && (code[at-1] == '.' || code[at-1] == ')' || code[at-1] == ']' || code[at-1] >= 0x80) {
		return c // what stands before is no plain name
	}
	prefix := code[at:c.Start]
	items := make([]cell.CompletionItem, len(c.Items))
	for i, it := range c.Items {
		it.Text = prefix + it.Text
		items[i] = it
	}
	c.Start, c.Items = at, items
	return c
}

// completeMagic completes on a magic's line; ok is false where Go code follows the magic.
func (e *Engine) completeMagic(line string, start, cursor int) (c cell.Completion, ok bool) {
	c = cell.Completion{Start: cursor, End: cursor}
	wordStart := strings.LastIndexAny(line, " \t") + 1
	word := line[wordStart:]
	c.Start = start + wordStart
	trimmed := strings.TrimLeft(line, " \t")
	mark := strings.TrimRight(trimmed[:min(2, len(trimmed))], "abcdefghijklmnopqrstuvwxyz_")
	if strings.HasPrefix(word, "%") {
		for _, n := range names() {
			m := registry[n]
			if strings.HasPrefix(mark+n, word) && (mark == "%" && m.line != nil || mark == "%%" && m.cell != nil) {
				c.Items = append(c.Items, cell.CompletionItem{Text: mark + n, Type: "magic", Signature: m.help})
			}
		}
		return c, true
	}
	name, _, _ := strings.Cut(strings.TrimLeft(trimmed, "%"), " ")
	m := registry[name]
	if m != nil && strings.HasPrefix(word, "-") && m.flags != nil {
		for _, f := range flagNames(m.flags()) {
			if strings.HasPrefix(f, word) {
				c.Items = append(c.Items, cell.CompletionItem{Text: f, Type: "keyword"})
			}
		}
		return c, true
	}
	if _, goes := goOfMagic(line); goes {
		return c, false
	}
	c.Items = e.files(word)
	return c, true
}

// files lists the files whose path begins with word.
func (e *Engine) files(word string) []cell.CompletionItem {
	e.mu.Lock()
	dir := e.dir
	e.mu.Unlock()
	folder, prefix := filepath.Split(word)
	at := folder
	if !filepath.IsAbs(folder) {
		at = filepath.Join(dir, folder)
	}
	entries, _ := os.ReadDir(at)
	var items []cell.CompletionItem
	for _, en := range entries {
		if !strings.HasPrefix(en.Name(), prefix) || prefix == "" && strings.HasPrefix(en.Name(), ".") {
			continue
		}
		text := folder + en.Name()
		if en.IsDir() {
			text += "/"
		}
		items = append(items, cell.CompletionItem{Text: text, Type: "path"})
	}
	return items
}

// Inspect implements kernel.Engine.
func (e *Engine) Inspect(ctx context.Context, code string, cursor int, detail int) *cell.Bundle {
	cursor = max(0, min(cursor, len(code)))
	start := strings.LastIndexByte(code[:cursor], '\n') + 1
	if line, _, _ := strings.Cut(code[start:], "\n"); strings.HasPrefix(strings.TrimSpace(line), "%") {
		name, _, _ := strings.Cut(strings.TrimLeft(strings.TrimSpace(line), "%"), " ")
		if m := registry[name]; m != nil && cursor-start <= strings.Index(line, name)+len(name) {
			b := cell.Text(m.describe())
			return &b
		}
	}
	return e.lang.Inspect(ctx, goAround(code, cursor), cursor, detail)
}

// IsComplete implements kernel.Engine. A cell with a cell magic is complete once a blank line ends it, as in IPython.
func (e *Engine) IsComplete(code string) cell.Completeness {
	if _, _, body, _, ok := cellMagic(code); ok {
		if strings.HasSuffix(code, "\n") && (strings.TrimSpace(body) != "" || strings.HasSuffix(code, "\n\n")) {
			return cell.Completeness{Status: "complete"}
		}
		return cell.Completeness{Status: "incomplete"}
	}
	rest := goOnly(code)
	if strings.TrimSpace(rest) == "" && strings.TrimSpace(code) != "" {
		return cell.Completeness{Status: "complete"}
	}
	return e.lang.IsComplete(rest)
}

// goOnly blanks everything in code that is no Go, keeping all offsets.
func goOnly(code string) string {
	if _, _, body, _, ok := cellMagic(code); ok {
		shift := len(code) - len(body)
		return blank(code[:shift]) + goOnly(body)
	}
	var b strings.Builder
	at := 0
	lines := strings.SplitAfter(code, "\n")
	for _, s := range split(code) {
		if s.kind != goCode {
			continue
		}
		from := 0
		for i := 0; i < s.line-1 && i < len(lines); i++ {
			from += len(lines[i])
		}
		b.WriteString(blank(code[at:from]))
		b.WriteString(s.text)
		at = from + len(s.text)
	}
	b.WriteString(blank(code[at:]))
	return b.String()
}

// blank replaces every byte but line ends by a space.
func blank(s string) string {
	b := []byte(s)
	for i := range b {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
	return string(b)
}
