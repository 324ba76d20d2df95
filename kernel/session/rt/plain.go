package rt

import (
	"bytes"
	"regexp"
)

// Names of types that are written with type arguments contain import paths: main.Set[gander/d0123456789abcdef0123.point] where a program
// says main.Set[main.point]. What cells print says what a program would.

var cellPath = regexp.MustCompile(`\bgander/[ds][0-9a-f]{20}\.`)

// PlainNames replaces import paths of cells in text by "main".
func PlainNames(text []byte) []byte {
	if !bytes.Contains(text, []byte("gander/")) {
		return text
	}
	return cellPath.ReplaceAll(text, []byte("main."))
}
