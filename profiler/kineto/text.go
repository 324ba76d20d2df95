package kineto

import (
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting of arguments that are kept; encoding/json, which readers of the text may use, stops at 10000.
const maxDepth = 512

// repairs says what had to be done to a text to make it valid.
type repairs uint8

const (
	fixedUTF8 repairs = 1 << iota
	fixedEscape
	fixedValue
	fixedDepth
)

// plain reports whether raw, the inside of a JSON string, means itself: no escapes and valid UTF-8.
func plain(raw []byte) bool {
	for _, c := range raw {
		if c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unescape appends to dst what raw, the inside of a JSON string, means. Unknown escapes keep their backslash, which is
// right for the Windows paths they come from; bytes that are no UTF-8 become U+FFFD.
func unescape(dst, raw []byte) ([]byte, repairs) {
	var fixed repairs
	for p := 0; p < len(raw); {
		c := raw[p]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(raw[p:])
			if r == utf8.RuneError && n == 1 {
				fixed |= fixedUTF8
			}
			dst = utf8.AppendRune(dst, r)
			p += n
			continue
		}
		if c != '\\' || p+1 == len(raw) {
			dst = append(dst, c)
			p++
			continue
		}
		p += 2
		switch e := raw[p-1]; e {
		case '"', '\\', '/':
			dst = append(dst, e)
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'u':
			r, ok := hex4(raw[p:])
			if !ok {
				dst = append(dst, '\\', 'u')
				fixed |= fixedEscape
				continue
			}
			p += 4
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if len(raw) >= p+6 && raw[p] == '\\' && raw[p+1] == 'u' {
					low, ok = hex4(raw[p+2:])
				}
				if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
					p += 6
				} else {
					r, fixed = utf8.RuneError, fixed|fixedUTF8
				}
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, '\\')
			p-- // the byte behind the backslash is read again, it may begin a longer character
			fixed |= fixedEscape
		}
	}
	return dst, fixed
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c-'0' < 10:
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// quote appends s as a JSON string, control characters and what is no UTF-8 escaped.
func quote(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for p := 0; p < len(s); {
		c := s[p]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' && c != 0x7f {
			p++
			continue
		}
		n := 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, n = utf8.DecodeRuneInString(s[p:]); (r != utf8.RuneError || n > 1) && r != 0x2028 && r != 0x2029 {
				p += n
				continue
			} else if n == 1 {
				dst = append(append(dst, s[from:p]...), `\ufffd`...)
			} else {
				dst = append(append(dst, s[from:p]...), '\\', 'u', '2', '0', '2', hex[r&15])
			}
		} else {
			dst = append(dst, s[from:p]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\t':
				dst = append(dst, '\\', 't')
			case '\r':
				dst = append(dst, '\\', 'r')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
		}
		p += n
		from = p
	}
	return append(append(dst, s[from:]...), '"')
}

// clean appends raw, one JSON value as the scanner delimits it, as valid JSON without white space. What is no JSON is
// repaired: bare words become strings, bad escapes and bytes are replaced, what nests too deep becomes null, and what
// is still no JSON then becomes one string.
func clean(dst, raw []byte) ([]byte, repairs) {
	n := len(dst)
	dst, fixed := tidy(dst, raw)
	if !json.Valid(dst[n:]) {
		text, _ := unescape(nil, raw)
		dst, fixed = quote(dst[:n], string(text)), fixed|fixedValue
	}
	return dst, fixed
}

// tidy is clean without the promise that the result is valid whatever raw is.
func tidy(dst, raw []byte) ([]byte, repairs) {
	var fixed repairs
	var open [maxDepth]byte
	depth := 0
	start := len(dst)
	for p := 0; p < len(raw); {
		switch c := raw[p]; {
		case c <= ' ':
			p++
		case c == '"':
			e := endOfString(raw, p)
			if e < 0 {
				e = len(raw) + 1 // unterminated: the rest is the string
			}
			var f repairs
			dst, f = cleanString(dst, raw[p+1:e-1])
			fixed |= f
			p = min(e, len(raw))
		case c == '{' || c == '[':
			if depth == maxDepth {
				e := endOfValue(raw, p)
				if e < 0 {
					e = len(raw)
				}
				dst = append(dst, "null"...)
				fixed |= fixedDepth
				p = e
				continue
			}
			open[depth] = c + 2 // '{'+2 is '}', '['+2 is ']'
			depth++
			dst = append(dst, c)
			p++
		case c == '}' || c == ']':
			if n := len(dst) - 1; n >= start && dst[n] == ',' { // a trailing comma
				dst = dst[:n]
				fixed |= fixedValue
			}
			if depth > 0 {
				depth--
				if open[depth] != c {
					fixed |= fixedValue
				}
				dst = append(dst, open[depth])
			}
			p++
		case c == ',' || c == ':':
			dst = append(dst, c)
			p++
		default:
			e := p
			for e < len(raw) && raw[e] > ' ' && raw[e] != ',' && raw[e] != '}' && raw[e] != ']' && raw[e] != ':' && raw[e] != '"' && raw[e] != '{' && raw[e] != '[' {
				e++
			}
			word := raw[p:e]
			if isLiteral(word) {
				dst = append(dst, word...)
			} else {
				dst, _ = cleanString(dst, word)
				fixed |= fixedValue
			}
			p = e
		}
	}
	for depth > 0 {
		depth--
		dst = append(dst, open[depth])
		fixed |= fixedValue
	}
	return dst, fixed
}

// cleanString appends raw, the inside of a JSON string, as a valid JSON string of the same meaning.
func cleanString(dst, raw []byte) ([]byte, repairs) {
	ok := true
	for _, c := range raw {
		if c == '\\' || c >= utf8.RuneSelf || c < ' ' || c == '"' {
			ok = false
			break
		}
	}
	if ok {
		dst = append(dst, '"')
		dst = append(dst, raw...)
		return append(dst, '"'), 0
	}
	text, fixed := unescape(nil, raw)
	return quote(dst, string(text)), fixed
}

// isLiteral reports whether word is a JSON number or one of its three words.
func isLiteral(word []byte) bool {
	switch string(word) {
	case "true", "false", "null":
		return true
	}
	p := 0
	if p < len(word) && word[p] == '-' {
		p++
	}
	digits := func() bool {
		from := p
		for p < len(word) && word[p]-'0' < 10 {
			p++
		}
		return p > from
	}
	from := p
	if !digits() || p-from > 1 && word[from] == '0' {
		return false
	}
	if p < len(word) && word[p] == '.' {
		if p++; !digits() {
			return false
		}
	}
	if p < len(word) && word[p]|0x20 == 'e' {
		if p++; p < len(word) && (word[p] == '+' || word[p] == '-') {
			p++
		}
		if !digits() {
			return false
		}
	}
	return p == len(word)
}
