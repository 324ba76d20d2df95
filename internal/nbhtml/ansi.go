package nbhtml

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// sgr is the state that a terminal's colour sequences build up. Colours are a class suffix ("1", "b4") or a CSS colour.
type sgr struct {
	fg, bg                                         string
	bold, faint, italic, underline, inverse, cross bool
}

// ansiHTML turns text of a terminal into HTML: colours become spans, returns and backspaces overwrite, and every other
// control sequence is dropped.
func ansiHTML(s string) string {
	var b strings.Builder
	var st sgr
	open := false
	flush := func(text string) {
		if text == "" {
			return
		}
		attr := st.attributes()
		if attr != "" {
			b.WriteString("<span" + attr + ">")
			open = true
		}
		b.WriteString(html.EscapeString(text))
		if open {
			b.WriteString("</span>")
			open = false
		}
	}
	s = overwrite(strings.ToValidUTF8(s, "\uFFFD"))
	for {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			flush(printable(s))
			return b.String()
		}
		flush(printable(s[:i]))
		params, final, rest := sequence(s[i+1:])
		if final == 'm' {
			st.apply(params)
		}
		s = rest
	}
}

// sequence splits a control sequence, whose escape character is already gone, from what follows. Final is 0 for
// sequences that carry no colours.
func sequence(s string) (params string, final byte, rest string) {
	if s == "" {
		return "", 0, ""
	}
	switch s[0] {
	case '[':
		for i := 1; i < len(s); i++ {
			if c := s[i]; c >= 0x40 && c <= 0x7e {
				return s[1:i], c, s[i+1:]
			} else if c < 0x20 || c > 0x7e {
				return "", 0, s[i:]
			}
		}
		return "", 0, ""
	case ']': // titles and links, up to BEL or ESC \
		for i := 1; i < len(s); i++ {
			if s[i] == 7 {
				return "", 0, s[i+1:]
			}
			if s[i] == 0x1b {
				return "", 0, strings.TrimPrefix(s[i+1:], `\`)
			}
		}
		return "", 0, ""
	case '(', ')', '#':
		if len(s) > 1 && s[1] < 0x80 {
			return "", 0, s[2:]
		}
		return "", 0, s[1:]
	}
	if s[0] < 0x80 {
		return "", 0, s[1:]
	}
	return "", 0, s
}

func (st *sgr) apply(params string) {
	nums := strings.FieldsFunc(params, func(r rune) bool { return r == ';' || r == ':' })
	if len(nums) == 0 {
		nums = []string{"0"}
	}
	for i := 0; i < len(nums); i++ {
		n, err := strconv.Atoi(nums[i])
		if err != nil {
			return
		}
		switch {
		case n == 0:
			*st = sgr{}
		case n == 1:
			st.bold = true
		case n == 2:
			st.faint = true
		case n == 3:
			st.italic = true
		case n == 4:
			st.underline = true
		case n == 7:
			st.inverse = true
		case n == 9:
			st.cross = true
		case n == 22:
			st.bold, st.faint = false, false
		case n == 23:
			st.italic = false
		case n == 24:
			st.underline = false
		case n == 27:
			st.inverse = false
		case n == 29:
			st.cross = false
		case n >= 30 && n <= 37:
			st.fg = strconv.Itoa(n - 30)
		case n == 39:
			st.fg = ""
		case n >= 40 && n <= 47:
			st.bg = strconv.Itoa(n - 40)
		case n == 49:
			st.bg = ""
		case n >= 90 && n <= 97:
			st.fg = "b" + strconv.Itoa(n-90)
		case n >= 100 && n <= 107:
			st.bg = "b" + strconv.Itoa(n-100)
		case n == 38 || n == 48:
			c, used := extended(nums[i+1:])
			i += used
			if n == 38 {
				st.fg = c
			} else {
				st.bg = c
			}
		}
	}
}

// extended reads a colour of 256 or a full one and says how many parameters it took.
func extended(p []string) (string, int) {
	num := func(i int) int {
		v, err := strconv.Atoi(p[i])
		if err != nil {
			return 0
		}
		return min(255, max(0, v))
	}
	switch {
	case len(p) >= 2 && p[0] == "5":
		v := num(1)
		switch {
		case v < 8:
			return strconv.Itoa(v), 2
		case v < 16:
			return "b" + strconv.Itoa(v-8), 2
		case v < 232:
			level := func(n int) int {
				if n == 0 {
					return 0
				}
				return 55 + 40*n
			}
			v -= 16
			return fmt.Sprintf("#%02x%02x%02x", level(v/36), level(v/6%6), level(v%6)), 2
		}
		g := 8 + 10*(v-232)
		return fmt.Sprintf("#%02x%02x%02x", g, g, g), 2
	case len(p) >= 4 && p[0] == "2":
		return fmt.Sprintf("#%02x%02x%02x", num(1), num(2), num(3)), 4
	}
	return "", len(p)
}

func (st *sgr) attributes() string {
	var class, style []string
	fg, bg := st.fg, st.bg
	if st.inverse {
		fg, bg = bg, fg
		if fg == "" {
			fg = "inv"
		}
		if bg == "" {
			bg = "inv"
		}
	}
	add := func(c, prefix, property string) {
		switch {
		case strings.HasPrefix(c, "#"):
			style = append(style, property+":"+c)
		case c != "":
			class = append(class, prefix+c)
		}
	}
	add(fg, "af", "color")
	add(bg, "ab", "background")
	for _, f := range []struct {
		on   bool
		name string
	}{{st.bold, "a-b"}, {st.faint, "a-f"}, {st.italic, "a-i"}, {st.underline, "a-u"}, {st.cross, "a-s"}} {
		if f.on {
			class = append(class, f.name)
		}
	}
	out := ""
	if len(class) > 0 {
		out += ` class="` + strings.Join(class, " ") + `"`
	}
	if len(style) > 0 {
		out += ` style="` + strings.Join(style, ";") + `"`
	}
	return out
}

// overwrite applies carriage returns and backspaces, as a terminal does with progress bars. Colour sequences take no
// room.
func overwrite(s string) string {
	if !strings.ContainsAny(s, "\r\b") {
		return s
	}
	var out strings.Builder
	for line := range strings.SplitAfterSeq(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
		body, nl := strings.CutSuffix(line, "\n")
		if strings.ContainsAny(body, "\r\b") {
			body = overwriteLine(body)
		}
		out.WriteString(body)
		if nl {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

func overwriteLine(s string) string {
	type glyph struct{ before, r string } // before: the sequences that stand in front of it
	var line []glyph
	at, pending := 0, ""
	for len(s) > 0 {
		switch s[0] {
		case '\r':
			at, s = 0, s[1:]
		case '\b':
			at, s = max(0, at-1), s[1:]
		case 0x1b:
			_, _, rest := sequence(s[1:])
			pending += s[:len(s)-len(rest)]
			s = rest
		default:
			n := 1
			for n < len(s) && s[n]&0xc0 == 0x80 {
				n++
			}
			g := glyph{pending, s[:n]}
			pending = ""
			if at < len(line) {
				line[at] = g
			} else {
				line = append(line, g)
			}
			at++
			s = s[n:]
		}
	}
	var b strings.Builder
	for _, g := range line {
		b.WriteString(g.before + g.r)
	}
	return b.String() + pending
}

// printable drops control characters other than tabs and line ends.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 32 && r != '\n' && r != '\t' || r == 127 || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}
