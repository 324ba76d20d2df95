package rt

import (
	"bytes"
	"regexp"
	"strings"
)

// Names of types that are written with type arguments contain import paths: main.Set[gander/d0123456789abcdef0123.point] where a program
// says main.Set[main.point]. What cells print, format and show says what a program would.

var cellPath = regexp.MustCompile(`\bgander/[ds][0-9a-f]{20}\.`)

// PlainNames replaces import paths of cells in text by "main".
func PlainNames(text []byte) []byte {
	if !bytes.Contains(text, []byte("gander/")) {
		return text
	}
	return cellPath.ReplaceAll(text, []byte("main."))
}

// PlainText is PlainNames for a string.
func PlainText(text string) string {
	if !strings.Contains(text, "gander/") {
		return text
	}
	return cellPath.ReplaceAllString(text, "main.")
}
