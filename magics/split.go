package magics

import (
	"regexp"
	"strings"
)

// magicHelp is a question about a magic.
var magicHelp = regexp.MustCompile(`^(\?{1,2}%{1,2}\w+|%{1,2}\w+\?{1,2})$`)

// segmentKind says who runs a segment of a cell.
type segmentKind uint8

const (
	goCode    segmentKind = iota
	lineMagic             // %name args
	shell                 // !command
	help                  // expr? or ?expr
	source                // expr?? or ??expr
)

// segment is a run of whole lines of a cell that one party handles.
type segment struct {
	kind segmentKind
	line int    // line of the cell on which it starts, from 1
	text string // for magics the text behind the mark, with continuation lines joined
}

// split cuts the text of a cell without cell magic into runs of Go code and the magic lines between them.
//
// A line whose first character is '%' is a magic when it does not stand inside a string or comment: no Go statement
// can begin with '%', and none can be continued by it. A line is a shell command when '!' is its very first character,
// no bracket is open, and the line before it ends a statement, because '!' also begins an operand. A line that ends
// with '?' outside strings and comments asks for help, or with "??" for the source; '?' is no Go token.
func split(code string) []segment {
	var out []segment
	var s scanState
	lines := strings.SplitAfter(code, "\n")
	var run strings.Builder
	start := 1
	flush := func(next int) {
		if strings.TrimSpace(run.String()) != "" {
			out = append(out, segment{goCode, start, run.String()})
		}
		run.Reset()
		start = next
	}
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], "\r\n")
		kind, text, ok := s.magic(line)
		if !ok {
			run.WriteString(lines[i])
			s.feed(lines[i])
			continue
		}
		flush(i + 2)
		seg := segment{kind, i + 1, text}
		for kind < help && strings.HasSuffix(seg.text, `\`) && i+1 < len(lines) {
			i++
			seg.text = strings.TrimSuffix(seg.text, `\`) + " " + strings.TrimSpace(lines[i])
		}
		start = i + 2
		seg.text = strings.TrimSpace(seg.text)
		out = append(out, seg)
	}
	flush(0)
	return out
}

// scanState is where in Go text a line begins: inside what string or comment, how deep in brackets, and after what.
type scanState struct {
	inside byte // '`' in a raw string, '*' in a block comment, 0 in code
	depth  int
	last   byte // last significant byte of code, 0 at the start
}

func (s *scanState) magic(line string) (segmentKind, string, bool) {
	if s.inside != 0 {
		return 0, "", false
	}
	trimmed := strings.TrimSpace(line)
	switch {
	case magicHelp.MatchString(trimmed):
		return question(trimmed)
	case strings.HasPrefix(trimmed, "%") && len(trimmed) > 1 && isNameByte(trimmed[1]):
		return lineMagic, trimmed[1:], true
	case strings.HasPrefix(line, "!") && len(trimmed) > 1 && s.depth == 0 && s.endsStatement():
		return shell, line[1:], true
	case s.depth == 0 && s.endsStatement() && strings.HasPrefix(trimmed, "?") && len(trimmed) > 1:
		return question(trimmed)
	case s.depth == 0 && s.endsStatement() && strings.HasSuffix(trimmed, "?") && len(trimmed) > 1:
		probe := *s
		probe.feed(line)
		if probe.last == '?' {
			return question(trimmed)
		}
	}
	return 0, "", false
}

// question takes the marks off a line that asks for help; two of them ask for the source, too.
func question(line string) (segmentKind, string, bool) {
	kind := help
	if strings.HasPrefix(line, "??") || strings.HasSuffix(line, "??") {
		kind = source
	}
	return kind, strings.Trim(line, "?"), true
}

// endsStatement reports whether a newline at this point would end the statement.
func (s *scanState) endsStatement() bool {
	switch s.last {
	case 0, ';', ')', ']', '}', '"', '`', '\'':
		return true
	}
	return isNameByte(s.last) || s.last >= 0x80
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// feed moves the state over text.
func (s *scanState) feed(text string) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case s.inside == '`':
			if c == '`' {
				s.inside, s.last = 0, '`'
			}
		case s.inside == '*':
			if c == '*' && i+1 < len(text) && text[i+1] == '/' {
				s.inside = 0
				i++
			}
		case c == '/' && i+1 < len(text) && text[i+1] == '/':
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case c == '/' && i+1 < len(text) && text[i+1] == '*':
			s.inside = '*'
			i++
		case c == '`':
			s.inside = '`'
		case c == '"' || c == '\'':
			for i++; i < len(text) && text[i] != c && text[i] != '\n'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			s.last = c
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		default:
			switch c {
			case '(', '[', '{':
				s.depth++
			case ')', ']', '}':
				s.depth--
			}
			s.last = c
		}
	}
}

// cellMagic recognises a cell that begins with %%name and returns the name, the rest of its line, and the body with the
// number of the line it starts on.
func cellMagic(code string) (name, args, body string, bodyLine int, ok bool) {
	lines := 1
	for {
		line, rest, more := strings.Cut(code, "\n")
		trimmed := strings.TrimSpace(line)
		if trimmed == "" && more {
			code = rest
			lines++
			continue
		}
		if !strings.HasPrefix(trimmed, "%%") || len(trimmed) < 3 || !isNameByte(trimmed[2]) || magicHelp.MatchString(trimmed) {
			return "", "", "", 0, false
		}
		for strings.HasSuffix(trimmed, `\`) && more {
			var next string
			next, rest, more = strings.Cut(rest, "\n")
			trimmed = strings.TrimSuffix(trimmed, `\`) + " " + strings.TrimSpace(next)
			lines++
		}
		name, args, _ = strings.Cut(trimmed[2:], " ")
		return name, strings.TrimSpace(args), rest, lines + 1, true
	}
}
