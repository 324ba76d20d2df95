package kineto

import "bytes"

// Positions returned by the scanning functions below. They do not validate: whatever lies between two delimiters is the
// value, so that one odd value does not cost the event around it.
const (
	short = -1 // the input ends before the thing does
	bad   = -2 // what stands there is no JSON
)

// space returns the position of the first byte at or after p that is not white space, len(b) when there is none.
func space(b []byte, p int) int {
	for p < len(b) && b[p] <= ' ' && (b[p] == ' ' || b[p] == '\n' || b[p] == '\r' || b[p] == '\t') {
		p++
	}
	return p
}

// endOfString returns the position behind the closing quote of the string whose opening quote is at p. Raw control
// characters and unknown escapes are part of the string.
func endOfString(b []byte, p int) int {
	p++
	for {
		i := bytes.IndexByte(b[p:], '"')
		if i < 0 {
			return short
		}
		q := p + i
		n := 0
		for k := q - 1; k >= p && b[k] == '\\'; k-- {
			n++
		}
		if n&1 == 0 {
			return q + 1
		}
		p = q + 1
	}
}

// endOfValue returns the position behind the value that starts at p. Nesting takes no memory, whatever its depth.
func endOfValue(b []byte, p int) int {
	if p >= len(b) {
		return short
	}
	switch c := b[p]; c {
	case '"':
		return endOfString(b, p)
	case '{', '[':
		depth := 0
		for p < len(b) {
			switch b[p] {
			case '"':
				if p = endOfString(b, p); p < 0 {
					return p
				}
				// A stray quote turns strings and what is between them around. It shows right here.
				if q := space(b, p); q < len(b) && b[q] != ',' && b[q] != ':' && b[q] != '}' && b[q] != ']' {
					return bad
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return p + 1
				}
			}
			p++
		}
		return short
	case ',', ':', '}', ']':
		return bad
	default:
		if c <= ' ' {
			return bad // every value is at least one byte long, so that who reads values one by one gets on
		}
	}
	for ; p < len(b); p++ {
		// A bare word or number, possibly none that JSON knows (NaN, N/A), ends at a delimiter or white space.
		switch c := b[p]; {
		case c == ',' || c == '}' || c == ']' || c <= ' ':
			return p
		case c == '"' || c == '{' || c == '[':
			return bad
		}
	}
	return short
}

// eventKeys are the keys by which the start of an event is recognised.
func isEventKey(key []byte) bool {
	switch string(key) {
	case "ph", "name", "cat", "ts", "pid", "tid", "args", "id", "dur", "s", "bp", "cname":
		return true
	}
	return false
}

// startsEvent reports whether the brace at p opens an object whose first key is one of an event's, and how far it
// looked. The keys of arguments overlap with those of events, so this is a guess for callers that can check it.
func startsEvent(b []byte, p int) bool {
	q := space(b, p+1)
	if q >= len(b) || b[q] != '"' {
		return false
	}
	end := min(len(b), q+8)
	k := bytes.IndexByte(b[q+1:end], '"')
	return k >= 0 && isEventKey(b[q+1:q+1+k])
}

// endsArray reports whether the bracket at p can be the one that ends the events: what follows is a key of the object
// around, the end of that object or of the text, or another document.
func endsArray(b []byte, p int) bool {
	q := space(b, p+1)
	if q < len(b) && b[q] == ',' {
		q = space(b, q+1)
		return q == len(b) || b[q] == '"' || b[q] == '}'
	}
	return q == len(b) || b[q] == '}' || b[q] == '[' || b[q] == '{'
}

// before returns the position of the last byte before p that is not white space, -1 when there is none.
func before(b []byte, p int) int {
	for p--; p >= 0 && b[p] <= ' '; p-- {
	}
	return p
}

// lastBoundary returns the position of the last brace in b that looks like the start of an event behind another one, or
// -1. Whoever splits there must check the guess by parsing up to it.
func lastBoundary(b []byte) int {
	for p := len(b); ; {
		if p = bytes.LastIndexByte(b[:p], '{'); p <= 0 {
			return -1
		}
		if q := before(b, p); q > 0 && b[q] == ',' && startsEvent(b, p) {
			if q = before(b, q); q >= 0 && b[q] == '}' {
				return p
			}
		}
	}
}

// resync returns where reading can go on after damage: at the next start of an event at or after p or, when there is none,
// at what looks like the end of the array of events. It returns short when b holds neither.
func resync(b []byte, p int) int {
	end := short
	for ; p < len(b); p++ {
		switch b[p] {
		case '{':
			if q := before(b, p); (q < 0 || b[q] == ',' || b[q] == '}' || b[q] == '[') && startsEvent(b, p) {
				return p
			}
		case ']':
			if q := before(b, p); end < 0 && q >= 0 && b[q] == '}' && endsArray(b, p) {
				end = p
			}
		}
	}
	return end
}
