package eval

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/gander-go/gander/kernel/cell"
)

// maxFrames bounds the frames of an error; a stack overflow has millions.
const maxFrames = 50

var (
	cellPlace = regexp.MustCompile(`\bIn\[(\d+)\]:(\d+)`)
	filePlace = regexp.MustCompile(`^\t(.+\.go):(\d+)( |$)`)
)

// frames are the frames of user code in a stack as runtime/debug prints it, innermost first: those in cells, and those
// in files that belong to the user.
func (e *Evaluator) frames(stack string) (out []cell.Frame) {
	lines := strings.Split(stack, "\n")
	for i := 0; i+1 < len(lines); i++ {
		place := lines[i+1]
		if !strings.HasPrefix(place, "\t") || strings.HasPrefix(lines[i], "\t") {
			continue
		}
		fr := cell.Frame{Func: funcName(lines[i])}
		if m := cellPlace.FindStringSubmatch(place); m != nil {
			fr.Cell, _ = strconv.Atoi(m[1])
			fr.Line, _ = strconv.Atoi(m[2])
		} else if m := filePlace.FindStringSubmatch(place); m != nil && e.cfg.Packages.IsLocal(m[1]) {
			fr.File = m[1]
			fr.Line, _ = strconv.Atoi(m[2])
		} else {
			continue
		}
		fr.Col = 1
		if n := len(out); n > 0 && out[n-1] == fr {
			continue // recursion
		}
		if len(out) == maxFrames { // the outermost frame says where the cell's statements are
			out[maxFrames-1] = fr
			continue
		}
		out = append(out, fr)
	}
	return out
}

var hashed = regexp.MustCompile(`^gander/[0-9a-z]+\.`)

// funcName is a function of a stack trace as the user knows it: without package path, arguments and what engines add
// to names.
func funcName(line string) string {
	line = strings.TrimPrefix(line, "created by ")
	if i := strings.Index(line, " in goroutine "); i >= 0 {
		line = line[:i]
	}
	if strings.HasSuffix(line, ")") {
		if i := strings.LastIndex(line, "("); i > 0 {
			line = line[:i]
		}
	}
	line = strings.ReplaceAll(line, "[...]", "")
	if hashed.MatchString(line) {
		line = hashed.ReplaceAllString(line, "")
	} else if i := strings.LastIndex(line, "/"); i >= 0 {
		line = line[i+1:]
	}
	if pkg, rest, ok := strings.Cut(line, "."); ok && (pkg == "main" || pkg == "cell" || strings.HasPrefix(pkg, "unnamed-")) {
		line = rest
	}
	line = strings.ReplaceAll(line, "G__", "")
	if line == "Cell" || strings.HasPrefix(line, "Cell.func") {
		return ""
	}
	return line
}
