package bind

import "strings"

// word is a word, a number, or one character of punctuation ("::" being one).
type word struct {
	text string
	line int
}

func (w word) isName() bool { return w.text != "" && isLetter(w.text[0]) }

func isLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// tokenize cuts source into tokens, without comments and preprocessor lines. Texts of strings and characters become "". Object-like macros
// that stand for one or more words are returned by name, because types are named by them.
func tokenize(src string) (tokens []word, macros map[string]string) {
	macros = map[string]string{}
	line, start := 1, true // start: only white space so far on this line
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == '\n':
			line, start = line+1, true
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f':
			i++
			continue
		case c == '#' && start:
			n := directive(src[i:])
			define(src[i:i+n], macros)
			line += strings.Count(src[i:i+n], "\n")
			i += n
			continue
		case strings.HasPrefix(src[i:], "//"):
			for i < len(src) && src[i] != '\n' {
				i++
			}
			continue
		case strings.HasPrefix(src[i:], "/*"):
			n := len(src) - i
			if end := strings.Index(src[i+2:], "*/"); end >= 0 {
				n = end + 4
			}
			line += strings.Count(src[i:i+n], "\n")
			i += n
			continue
		case c == '"' || c == '\'':
			n := quoted(src[i:])
			tokens = append(tokens, word{`""`, line})
			line += strings.Count(src[i:i+n], "\n")
			i += n
		case strings.HasPrefix(src[i:], `R"`):
			n := raw(src[i:])
			tokens = append(tokens, word{`""`, line})
			line += strings.Count(src[i:i+n], "\n")
			i += n
		case isLetter(c) || isDigit(c):
			n := 1
			for i+n < len(src) && (isLetter(src[i+n]) || isDigit(src[i+n])) {
				n++
			}
			tokens = append(tokens, word{src[i : i+n], line})
			i += n
		case strings.HasPrefix(src[i:], "::"):
			tokens = append(tokens, word{"::", line})
			i += 2
		default:
			tokens = append(tokens, word{src[i : i+1], line})
			i++
		}
		start = false
	}
	return tokens, macros
}

// directive is the length of a preprocessor line with its continuations, up to its newline.
func directive(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' && (i == 0 || s[i-1] != '\\' && !(s[i-1] == '\r' && i > 1 && s[i-2] == '\\')) {
			return i
		}
	}
	return len(s)
}

// define notes a macro without parameters.
func define(line string, macros map[string]string) {
	line, _, _ = strings.Cut(line, "//")
	f := strings.Fields(strings.TrimPrefix(line, "#"))
	if len(f) >= 3 && f[0] == "define" && !strings.Contains(f[1], "(") {
		macros[f[1]] = strings.Join(f[2:], " ")
	}
}

// quoted is the length of a string or character.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		case '\n':
			return i
		}
	}
	return len(s)
}

// raw is the length of R"delimiter( … )delimiter".
func raw(s string) int {
	open := strings.IndexByte(s, '(')
	if open < 0 || open > 20 {
		return 2
	}
	if end := strings.Index(s[open:], ")"+s[2:open]+`"`); end >= 0 {
		return open + end + open // ) + delimiter + " is as long as R + " + delimiter, less one for (
	}
	return len(s)
}
