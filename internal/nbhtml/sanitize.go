package nbhtml

import (
	"html"
	"regexp"
	"strings"
)

// tags are the elements that sanitised HTML keeps, with true for those that have no end tag.
var tags = map[string]bool{
	"a": false, "abbr": false, "b": false, "blockquote": false, "br": true, "caption": false, "center": false, "cite": false, "code": false, "col": true, "colgroup": false,
	"dd": false, "del": false, "details": false, "div": false, "dl": false, "dt": false, "em": false, "figcaption": false, "figure": false, "font": false,
	"h1": false, "h2": false, "h3": false, "h4": false, "h5": false, "h6": false, "hr": true, "i": false, "img": true, "input": true, "ins": false, "kbd": false, "li": false,
	"mark": false, "ol": false, "p": false, "pre": false, "q": false, "s": false, "samp": false, "section": false, "small": false, "span": false, "strike": false, "strong": false,
	"sub": false, "summary": false, "sup": false, "table": false, "tbody": false, "td": false, "tfoot": false, "th": false, "thead": false, "tr": false, "tt": false,
	"u": false, "ul": false, "var": false, "wbr": true,
}

// attributes are the ones that sanitised elements keep. None of them can run anything or load anything; href and src are
// checked besides.
var attributes = map[string]bool{
	"align": true, "alt": true, "border": true, "bgcolor": true, "checked": true, "class": true, "colspan": true, "color": true, "dir": true, "disabled": true, "height": true, "href": true, "id": true,
	"lang": true, "open": true, "role": true, "rowspan": true, "scope": true, "span": true, "src": true, "start": true, "title": true, "type": true, "valign": true, "width": true,
}

// dropped are elements whose content goes with them.
var dropped = regexp.MustCompile(`(?is)<(script|style|iframe|object|embed|svg|math|template|noscript|textarea|title|xmp|noembed|noframes|select|plaintext)\b.*?(?:</\s*(script|style|iframe|object|embed|svg|math|template|noscript|textarea|title|xmp|noembed|noframes|select)\s*>|$)`)

var (
	tagPattern     = regexp.MustCompile(`^<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:\s+[^\s"'<>/=\x00]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>` + "`" + `]+))?)*)\s*(/?)>`)
	attrPattern    = regexp.MustCompile(`([^\s"'<>/=\x00]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'=<>` + "`" + `]+))?`)
	picturePattern = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]*$`)
)

// sanitize keeps the listed elements and attributes of s and writes them anew, balanced; anything else that looks like
// markup becomes text, and what cannot be shown as text is dropped. What it writes holds no script, no style, no
// address that is fetched, and no end tag without its start.
func sanitize(s string) string {
	s = dropped.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "")
	var b strings.Builder
	var open []string
	for len(s) > 0 {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			i = len(s)
		}
		b.WriteString(escapeText(s[:i]))
		s = s[i:]
		if s == "" {
			break
		}
		if strings.HasPrefix(s, "<!--") {
			if j := strings.Index(s, "-->"); j >= 0 {
				s = s[j+3:]
				continue
			}
			break
		}
		m := tagPattern.FindStringSubmatch(s)
		if m == nil {
			b.WriteString("&lt;")
			s = s[1:]
			continue
		}
		s = s[len(m[0]):]
		name := strings.ToLower(m[2])
		void, known := tags[name]
		switch {
		case !known: // the element goes, its content stays
		case m[1] == "/":
			open = closeTo(&b, open, name)
		default:
			attrs, ok := cleanAttributes(name, m[3])
			if !ok {
				continue
			}
			b.WriteString("<" + name + attrs + ">")
			if !void {
				open = append(open, name)
			}
		}
	}
	for i := len(open) - 1; i >= 0; i-- {
		b.WriteString("</" + open[i] + ">")
	}
	return b.String()
}

// closeTo ends every element down to the innermost one called name, or nothing when there is none.
func closeTo(b *strings.Builder, open []string, name string) []string {
	for i := len(open) - 1; i >= 0; i-- {
		if open[i] == name {
			for k := len(open) - 1; k >= i; k-- {
				b.WriteString("</" + open[k] + ">")
			}
			return open[:i]
		}
	}
	return open
}

// escapeText keeps the character references of s and escapes the rest.
func escapeText(s string) string { return html.EscapeString(html.UnescapeString(s)) }

func cleanAttributes(tag, text string) (string, bool) {
	var b strings.Builder
	kind := ""
	for _, m := range attrPattern.FindAllStringSubmatch(text, -1) {
		name, value := strings.ToLower(m[1]), html.UnescapeString(strings.Trim(m[2], `"'`))
		if !attributes[name] {
			continue
		}
		switch name {
		case "href":
			if !safeLink(value) {
				continue
			}
		case "src":
			if tag != "img" || !picturePattern.MatchString(value) {
				continue
			}
		case "id":
			if strings.HasPrefix(value, "__") { // would stand in for a global variable of a script
				continue
			}
		case "type":
			kind = value
		}
		b.WriteString(" " + name + `="` + html.EscapeString(value) + `"`)
	}
	if tag == "a" {
		b.WriteString(` rel="noopener noreferrer"`)
	}
	// Only the check boxes of task lists; nothing that a page could be tricked into sending.
	return b.String(), (tag != "input" || kind == "checkbox") && (tag != "img" || strings.Contains(b.String(), " src="))
}

// safeLink accepts addresses that cannot run anything when they are followed.
func safeLink(s string) bool {
	s = strings.Map(func(r rune) rune {
		if r <= 32 || r == 127 {
			return -1
		}
		return r
	}, strings.ToLower(s))
	scheme, _, found := strings.Cut(s, ":")
	if !found || strings.ContainsAny(scheme, "/?#") {
		return true
	}
	return scheme == "http" || scheme == "https" || scheme == "mailto"
}
