package kineto

// span is a part of the unit being scanned.
type span struct{ from, to int32 }

func (s span) of(b []byte) []byte { return b[s.from:s.to] }
func (s span) given() bool        { return s.to > s.from }

// arg is one argument as written; key is without its quotes, value with them.
type arg struct{ key, value span }

// event is one element of traceEvents as positions in its text. Values keep their quotes.
type event struct {
	b []byte // what the spans are positions in

	cat, name, pid, tid, ts, dur, id, id2, frame span
	phase, scope, bind                           byte

	set    uint64 // bit k: known[k] was given and has not been placed in the model
	known  [numKeys]span
	others []arg // arguments without a place of their own, in their order
}

// has reports whether argument k was given and not taken.
func (e *event) has(k argKey) bool { return e.set&(1<<k) != 0 }

// take returns the text of argument k, nil when it was not given, and marks it as placed: object leaves it out.
func (e *event) take(k argKey) []byte {
	if !e.has(k) {
		return nil
	}
	e.set &^= 1 << k
	return e.known[k].of(e.b)
}

// scan reads the event whose brace is at p and returns the position behind it, short, or bad.
func (e *event) scan(b []byte, p int) int {
	e.b = b
	e.cat, e.name, e.pid, e.tid, e.ts, e.dur, e.id, e.id2, e.frame = span{}, span{}, span{}, span{}, span{}, span{}, span{}, span{}, span{}
	e.phase, e.scope, e.bind, e.set = 0, 0, 0, 0
	e.others = e.others[:0]
	p++
	for {
		p = space(b, p)
		if p == len(b) {
			return short
		}
		switch b[p] {
		case ',':
			p++
			continue
		case '}':
			return p + 1
		case '"':
		default:
			return bad
		}
		key, v := keyAt(b, p)
		if v < 0 {
			return v
		}
		if v == len(b) {
			return short
		}
		if b[v] == '{' && string(key) == "args" {
			if p = e.scanArgs(b, v); p < 0 {
				return p
			}
			continue
		}
		end := endOfMember(b, v)
		if end < 0 {
			return end
		}
		p = end
		value := span{int32(v), int32(end)}
		switch string(key) {
		case "ph":
			if text := unquoted(b[v:end]); len(text) > 0 {
				e.phase = text[0]
			}
		case "cat":
			e.cat = value
		case "name":
			e.name = value
		case "pid":
			e.pid = value
		case "tid":
			e.tid = value
		case "ts":
			e.ts = value
		case "dur":
			e.dur = value
		case "id":
			e.id = value
		case "id2":
			e.id2 = value
		case "sf":
			e.frame = value
		case "s":
			if text := unquoted(b[v:end]); len(text) > 0 {
				e.scope = text[0]
			}
		case "bp":
			if text := unquoted(b[v:end]); len(text) > 0 {
				e.bind = text[0]
			}
		}
	}
}

// keyAt returns the key whose opening quote is at p and the position of its value, short, or bad.
func keyAt(b []byte, p int) ([]byte, int) {
	end := endOfString(b, p)
	if end < 0 {
		return nil, end
	}
	v := end
	if v < len(b) && b[v] != ':' {
		v = space(b, v)
	}
	if v >= len(b) {
		return nil, short
	}
	if b[v] != ':' {
		return nil, bad
	}
	v++
	if v < len(b) && b[v] == ' ' {
		v++
	}
	if v < len(b) && b[v] <= ' ' {
		v = space(b, v)
	}
	return b[p+1 : end-1], v
}

// endOfMember is endOfValue for a value in an object: it must be followed by a comma or a brace.
func endOfMember(b []byte, p int) int {
	end := endOfValue(b, p)
	if end < 0 {
		return end
	}
	if q := space(b, end); q < len(b) && b[q] != ',' && b[q] != '}' {
		return bad
	}
	return end
}

// scanArgs reads the object of arguments at p. Where a key comes twice the last one counts, as it does in Python and
// JavaScript.
func (e *event) scanArgs(b []byte, p int) int {
	p++
	for {
		p = space(b, p)
		if p == len(b) {
			return short
		}
		switch b[p] {
		case ',':
			p++
			continue
		case '}':
			return p + 1
		case '"':
		default:
			return bad
		}
		from := p + 1
		key, v := keyAt(b, p)
		if v < 0 {
			return v
		}
		end := endOfMember(b, v)
		if end < 0 {
			return end
		}
		p = end
		value := span{int32(v), int32(end)}
		if k := argKeyOf(key); k != keyOther {
			e.known[k] = value
			e.set |= 1 << k
			continue
		}
		e.addOther(arg{span{int32(from), int32(from + len(key))}, value})
	}
}

// addOther keeps an argument without a place. Repeated keys are looked for only among few, so that an event of many
// arguments does not take quadratic time.
func (e *event) addOther(a arg) {
	if len(e.others) <= 32 {
		for i := range e.others {
			if string(e.others[i].key.of(e.b)) == string(a.key.of(e.b)) {
				e.others[i].value = a.value
				return
			}
		}
	}
	e.others = append(e.others, a)
}
