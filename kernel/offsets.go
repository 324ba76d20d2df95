package kernel

import "unicode/utf8"

// byteOffset returns where in s the code point with index n begins, clamped to s. The protocol counts code points.
func byteOffset(s string, n int) int {
	if n <= 0 {
		return 0
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// codePoints returns how many code points s has before the byte offset, which is clamped to s. An offset within a
// character counts as its beginning.
func codePoints(s string, offset int) int {
	offset = min(max(offset, 0), len(s))
	for offset > 0 && offset < len(s) && !utf8.RuneStart(s[offset]) {
		offset--
	}
	return utf8.RuneCountInString(s[:offset])
}
