package kineto

import (
	"math"
	"strconv"
)

// unquoted strips the quotes of a value that is a string; numbers are written both ways.
func unquoted(v []byte) []byte {
	if len(v) >= 2 && v[0] == '"' && v[len(v)-1] == '"' {
		return v[1 : len(v)-1]
	}
	return v
}

// nanoseconds converts a decimal number of microseconds to ns, exactly where it has at most three decimals and rounded
// to the nearest otherwise. It never goes through float64, which holds today's microseconds only in steps of 250 ns.
//
// Besides JSON numbers it takes quoted ones, and the spelling "-1.-500" that some Kineto versions give to -1.5.
// ok is false for anything else; what does not fit an int64 is clamped to it.
func nanoseconds(v []byte) (ns int64, ok bool) {
	v = unquoted(v)
	p, neg := 0, false
	if p < len(v) && (v[p] == '-' || v[p] == '+') {
		neg = v[p] == '-'
		p++
	}
	var m uint64
	scale, digits := 3, 0 // the value is m * 10^scale ns
	for ; p < len(v) && v[p]-'0' < 10; p++ {
		digits++
		if m > (math.MaxUint64-9)/10 {
			scale++
			continue
		}
		m = m*10 + uint64(v[p]-'0')
	}
	if p < len(v) && v[p] == '.' {
		p++
		if p < len(v) && v[p] == '-' {
			neg = true
			p++
		}
		for ; p < len(v) && v[p]-'0' < 10; p++ {
			digits++
			if m <= (math.MaxUint64-9)/10 {
				m = m*10 + uint64(v[p]-'0')
				scale--
			}
		}
	}
	if digits == 0 {
		return 0, false
	}
	if p < len(v) && v[p]|0x20 == 'e' {
		e, err := strconv.Atoi(string(v[p+1:]))
		if err != nil || e > 1000 || e < -1000 {
			return 0, false
		}
		scale += e
		p = len(v)
	}
	if p != len(v) {
		return 0, false
	}
	for ; scale > 0 && m != 0; scale-- {
		if m > math.MaxInt64/10 {
			m, scale = math.MaxInt64, 0
			break
		}
		m *= 10
	}
	for ; scale < 0 && m != 0; scale++ {
		if scale == -1 {
			m += 5
		}
		m /= 10
	}
	ns = int64(min(m, math.MaxInt64))
	if neg {
		ns = -ns
	}
	return ns, true
}

// integer parses a whole number, quoted or not. Numbers between 2^63 and 2^64 wrap, as identifiers do that a source
// prints as uint64.
func integer(v []byte) (int64, bool) {
	v = unquoted(v)
	if len(v) == 0 {
		return 0, false
	}
	p, neg := 0, false
	if v[0] == '-' {
		p, neg = 1, true
	}
	if p == len(v) || len(v)-p > 20 {
		return 0, false
	}
	var m uint64
	for _, c := range v[p:] {
		if c-'0' >= 10 {
			return wholeFloat(v)
		}
		d := uint64(c - '0')
		if m > (math.MaxUint64-d)/10 {
			return 0, false
		}
		m = m*10 + d
	}
	if neg {
		if m > 1<<63 {
			return 0, false
		}
		return -int64(m), true
	}
	return int64(m), true
}

// wholeFloat takes whole numbers that some re-exporting tool wrote as 7.0 or 1e3.
func wholeFloat(v []byte) (int64, bool) {
	f, ok := number(v)
	if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// number parses a finite decimal number, quoted or not.
func number(v []byte) (float64, bool) {
	v = unquoted(v)
	if len(v) == 0 || len(v) > 64 {
		return 0, false
	}
	exp := false
	for _, c := range v {
		switch {
		case c-'0' < 10, c == '.', c == '-', c == '+':
		case c == 'e' || c == 'E':
			exp = true
		default:
			return 0, false // strconv also takes hex, underscores, Inf and NaN
		}
	}
	if last := v[len(v)-1]; exp && last-'0' >= 10 {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return f, err == nil
}

// identifier parses the id of an event: a number, a hexadecimal string, or any other string, which is hashed (FNV-1a) so
// that equal ids stay equal.
func identifier(v []byte) int64 {
	if n, ok := integer(v); ok {
		return n
	}
	v = unquoted(v)
	if len(v) > 2 && len(v) <= 18 && v[0] == '0' && v[1]|0x20 == 'x' {
		if n, err := strconv.ParseUint(string(v[2:]), 16, 64); err == nil {
			return int64(n)
		}
	}
	h := uint64(14695981039346656037)
	for _, c := range v {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return int64(h)
}

// triple parses an array of three numbers, as grids and blocks are written.
func triple(v []byte) (t [3]int32, ok bool) {
	if len(v) < 2 || v[0] != '[' || v[len(v)-1] != ']' {
		return t, false
	}
	p := 1
	for i := range t {
		p = space(v, p)
		e := endOfValue(v, p)
		if e < 0 {
			return t, false
		}
		n, ok := integer(v[p:e])
		if !ok || n < math.MinInt32 || n > math.MaxInt32 {
			return t, false
		}
		t[i] = int32(n)
		p = space(v, e)
		if want := byte(','); i < 2 && v[p] != want || i == 2 && p != len(v)-1 {
			return t, false
		}
		p++
	}
	return t, true
}
