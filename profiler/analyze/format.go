package analyze

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// formatTime prints ns as torch does: seconds from 1 s, milliseconds from 1 ms, else microseconds, three decimals; what is
// negative, which torch's times never are, by its magnitude. unit forces "s", "ms" or "us".
func formatTime(ns float64, unit string) string {
	us := ns / 1000
	switch {
	case unit == "s" || unit == "" && math.Abs(us) >= 1e6:
		return fmt.Sprintf("%.3fs", us/1e6)
	case unit == "ms" || unit == "" && math.Abs(us) >= 1e3:
		return fmt.Sprintf("%.3fms", us/1e3)
	}
	return fmt.Sprintf("%.3fus", us)
}

// formatMemory prints bytes as torch does, base 1024.
func formatMemory(n int64) string {
	size := n
	if size < 0 {
		size = -size
	}
	switch {
	case size >= 1<<30:
		return fmt.Sprintf("%.2f GB", float64(n)/(1<<30))
	case size >= 1<<20:
		return fmt.Sprintf("%.2f MB", float64(n)/(1<<20))
	case size >= 1<<10:
		return fmt.Sprintf("%.2f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// formatShare prints part of whole in percent, "NaN" of nothing.
func formatShare(part, whole int64) string {
	if whole == 0 {
		return "NaN"
	}
	return fmt.Sprintf("%.2f%%", float64(part)*100/float64(whole))
}

// formatRatio prints a share between 0 and 1 in percent, "-" where it is unknown (negative).
func formatRatio(v float64) string {
	if v < 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f%%", v*100)
}

// clean replaces what could steer a terminal or break a line: names come from untrusted files.
func clean(s string) string {
	bad := func(r rune) bool {
		return r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}
	if strings.IndexFunc(s, bad) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if bad(r) {
			return '?'
		}
		return r
	}, s)
}

// pad fills s with blanks to width, on the left unless left aligns it.
func pad(s string, width int, left bool) string {
	n := width - utf8.RuneCountInString(s)
	switch {
	case n <= 0:
		return s
	case left:
		return s + strings.Repeat(" ", n)
	}
	return strings.Repeat(" ", n) + s
}

// textTable lays out rows of cells: the first column left, the others right, each as wide as its widest cell.
type textTable struct {
	header []string
	rows   [][]string
}

func (t *textTable) add(cells ...string) { t.rows = append(t.rows, cells) }

const maxNameWidth = 60

func (t *textTable) String() string {
	width := make([]int, len(t.header))
	measure := func(cells []string) {
		for i, c := range cells {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for _, r := range t.rows {
		for i := range r {
			r[i] = clean(r[i])
		}
		r[0] = shorten(r[0], maxNameWidth)
	}
	measure(t.header)
	for _, r := range t.rows {
		measure(r)
	}
	var b strings.Builder
	line := func(cells []string) {
		for i, c := range cells {
			if i > 0 {
				b.WriteString("  ")
			}
			b.WriteString(pad(c, width[i], i == 0))
		}
		b.WriteByte('\n')
	}
	rule := make([]string, len(width))
	for i, w := range width {
		rule[i] = strings.Repeat("-", w)
	}
	line(t.header)
	line(rule)
	for _, r := range t.rows {
		line(r)
	}
	return b.String()
}

// shorten cuts s to at most n runes, ending in "..." where something went.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:n-3]) + "..."
}

// limited returns how many of n rows to print under limit, and the line that says what was left out.
func limited(n, limit int) (int, string) {
	if limit <= 0 || n <= limit {
		return n, ""
	}
	return limit, fmt.Sprintf("... and %d more\n", n-limit)
}
