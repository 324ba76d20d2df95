package render

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// formatTime writes nanoseconds with three decimals in the largest unit that keeps a digit before the point.
func formatTime(ns float64) string {
	switch a := math.Abs(ns); {
	case a < 1e3:
		return trimZeros(strconv.FormatFloat(ns, 'f', 1, 64)) + " ns"
	case a < 1e6:
		return strconv.FormatFloat(ns/1e3, 'f', 3, 64) + " µs"
	case a < 1e9:
		return strconv.FormatFloat(ns/1e6, 'f', 3, 64) + " ms"
	default:
		return strconv.FormatFloat(ns/1e9, 'f', 3, 64) + " s"
	}
}

// formatTimeUnit is formatTime in a fixed unit, "s", "ms" or "us"; any other unit means one per value.
func formatTimeUnit(ns float64, unit string) string {
	switch unit {
	case "s":
		return strconv.FormatFloat(ns/1e9, 'f', 3, 64) + " s"
	case "ms":
		return strconv.FormatFloat(ns/1e6, 'f', 3, 64) + " ms"
	case "us", "µs":
		return strconv.FormatFloat(ns/1e3, 'f', 3, 64) + " µs"
	}
	return formatTime(ns)
}

func formatBytes(v float64) string {
	return scaled(v, 1024, "B", "KiB", "MiB", "GiB", "TiB")
}

// scaled divides v by base until it fits the unit; whole numbers of the smallest unit have no decimals.
func scaled(v, base float64, units ...string) string {
	i := 0
	for math.Abs(v) >= base && i < len(units)-1 {
		v /= base
		i++
	}
	if i == 0 && v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64) + " " + units[0]
	}
	return strconv.FormatFloat(v, 'f', 2, 64) + " " + units[i]
}

// formatCount writes an integer with thousands separators.
func formatCount(v float64) string {
	s := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	var b strings.Builder
	if v < 0 {
		b.WriteByte('-')
	}
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// formatValue writes v as its unit wants it. NaN and infinities are dashes: they mean that a figure is not known.
func formatValue(u Unit, v float64, timeUnit string) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	switch u {
	case UnitTime:
		return formatTimeUnit(v, timeUnit)
	case UnitBytes:
		return formatBytes(v)
	case UnitCount:
		return formatCount(v)
	case UnitPercent:
		return strconv.FormatFloat(v, 'f', 2, 64) + " %"
	case UnitFlops:
		return scaled(v, 1000, "FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP")
	case UnitRate:
		return scaled(v, 1000, "B/s", "kB/s", "MB/s", "GB/s", "TB/s")
	}
	if v == math.Trunc(v) || math.Abs(v) >= 1000 {
		return formatCount(v)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// formatTick writes an axis label with as few digits as tell it from its neighbour, step away.
func formatTick(u Unit, v, step float64) string {
	if u != UnitTime {
		n, unit, _ := strings.Cut(formatValue(u, v, ""), " ")
		return strings.TrimSpace(trimZeros(n) + " " + unit)
	}
	d, unit := 1.0, "ns"
	switch a := max(math.Abs(v), step); {
	case a >= 1e9:
		d, unit = 1e9, "s"
	case a >= 1e6:
		d, unit = 1e6, "ms"
	case a >= 1e3:
		d, unit = 1e3, "µs"
	}
	digits := min(9, max(0, int(-math.Floor(math.Log10(step/d)+1e-9))))
	return strconv.FormatFloat(v/d, 'f', digits, 64) + " " + unit
}

// axisTicks returns about n positions within [a, b], at 1-2-5 steps or, when binary, at powers of two, and their step.
func axisTicks(a, b float64, n int, binary bool) ([]float64, float64) {
	raw := (b - a) / float64(max(1, n))
	if !(raw > 0) || math.IsInf(raw, 0) {
		return nil, 1
	}
	var step float64
	if binary {
		step = math.Exp2(math.Round(math.Log2(raw)))
	} else {
		step = math.Pow(10, math.Floor(math.Log10(raw)))
		switch f := raw / step; {
		case f < 1.5:
		case f < 3.5:
			step *= 2
		case f < 7.5:
			step *= 5
		default:
			step *= 10
		}
	}
	var out []float64
	for i := math.Ceil(a/step - 1e-9); i*step <= b+step*1e-9 && len(out) < 100; i++ {
		out = append(out, i*step+0) // + 0 makes a negative zero positive
	}
	return out, step
}

// shorten keeps what tells kernel names apart: no return type, no common namespaces, no argument list. Of functions of Go it
// keeps the package's last element.
func shorten(s string) string {
	if len(s) < 24 || strings.Contains(s, "): ") { // the latter is file.py(12): function
		return s
	}
	if goSymbol(s) {
		path, _, _ := strings.Cut(s, "[") // type arguments have paths of their own
		return s[strings.LastIndexByte(path, '/')+1:]
	}
	s = strings.TrimPrefix(s, "void ")
	for _, cut := range []string{"(anonymous namespace)::", "at::native::", "at::cuda::", "c10::", "std::"} {
		s = strings.ReplaceAll(s, cut, "")
	}
	if i := strings.IndexByte(s, '('); i > 8 && s[i-1] != ' ' { // arguments; "Memcpy HtoD (Pageable -> Device)" has none
		s = s[:i]
	}
	return s
}

// goSymbol reports whether s looks like "example.org/m/pkg.(*T).Method": a path or a receiver, and nothing of C++.
func goSymbol(s string) bool {
	s, _, _ = strings.Cut(s, "[")
	if strings.ContainsAny(s, " <>:,") {
		return false
	}
	slash := strings.IndexByte(s, '/')
	return strings.Contains(s, ".(*") || slash > 0 && strings.IndexByte(s[slash:], '.') > 0 && !strings.Contains(s[:slash], "(")
}

// clipText shortens s to n characters at most, the last one an ellipsis when something was cut.
func clipText(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	if n < 2 {
		return ""
	}
	r := []rune(s)
	return string(r[:n-1]) + "…"
}

// plural writes a count with its noun.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%s %ss", formatCount(float64(n)), noun)
}
