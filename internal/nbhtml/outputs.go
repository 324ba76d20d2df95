package nbhtml

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"
)

// preferred are the forms of an output, best first. Scripts are not among them: their HTML or text twin is shown.
var preferred = []string{"text/html", "image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp", "text/markdown", "text/latex", "application/json", "application/geo+json", "text/plain"}

func (p *page) output(o *output) error {
	switch o.Type {
	case "stream":
		class := "stream"
		if o.Name == "stderr" {
			class = "stream stderr"
		}
		fmt.Fprintf(&p.b, "<pre class=\"%s\">%s</pre>\n", class, ansiHTML(string(o.Text)))
	case "error":
		tb := strings.Join(o.Traceback, "\n")
		if strings.TrimSpace(tb) == "" {
			tb = o.Error + ": " + o.Value
		}
		fmt.Fprintf(&p.b, "<pre class=\"error\" role=\"alert\">%s</pre>\n", ansiHTML(tb))
	case "display_data", "execute_result", "update_display_data":
		return p.display(o)
	default:
		fmt.Fprintf(&p.b, "<p class=\"note\">An output of the unknown type %q.</p>\n", html.EscapeString(o.Type))
	}
	return nil
}

func (p *page) display(o *output) error {
	for _, mime := range preferred {
		raw, ok := o.Data[mime]
		if !ok {
			continue
		}
		text, ok, err := p.form(mime, raw)
		if err != nil {
			return fmt.Errorf("%s: %w", mime, err)
		}
		if ok {
			p.b.WriteString(text)
			return nil
		}
	}
	if len(o.Data) == 0 {
		return nil
	}
	mimes := make([]string, 0, len(o.Data))
	for m := range o.Data {
		mimes = append(mimes, m)
	}
	slices.Sort(mimes)
	fmt.Fprintf(&p.b, "<p class=\"note\">An output that only its front end can show: %s.</p>\n", html.EscapeString(strings.Join(mimes, ", ")))
	return nil
}

// form writes one form of an output. It returns false when the form does not hold what its type promises.
func (p *page) form(mime string, raw json.RawMessage) (string, bool, error) {
	var s text
	isText := json.Unmarshal(raw, &s) == nil
	switch {
	case mime == "application/json" || mime == "application/geo+json":
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", "  "); err != nil {
			return "", false, nil
		}
		out, err := highlight(b.String(), "json")
		return "<div class=\"out\">" + out + "</div>\n", true, err
	case !isText:
		return "", false, nil
	case mime == "text/html":
		body := string(s)
		if p.o.Sanitize {
			body = sanitize(body)
		}
		return "<div class=\"out html\">\n" + body + "\n</div>\n", true, nil
	case mime == "image/svg+xml":
		// Inside an img element an SVG can run nothing and reach nothing.
		return picture(mime, base64.StdEncoding.EncodeToString([]byte(s))), true, nil
	case strings.HasPrefix(mime, "image/"):
		clean := strings.Map(func(r rune) rune {
			if r == '\n' || r == '\r' || r == ' ' {
				return -1
			}
			return r
		}, string(s))
		if _, err := base64.StdEncoding.DecodeString(clean); err != nil {
			return "", false, nil
		}
		return picture(mime, clean), true, nil
	case mime == "text/markdown":
		out, err := p.markdown(string(s), nil)
		return "<div class=\"out md\">\n" + out + "</div>\n", true, err
	case mime == "text/latex":
		return "<pre class=\"out math\">" + html.EscapeString(string(s)) + "</pre>\n", true, nil
	}
	return "<pre class=\"out\">" + ansiHTML(string(s)) + "</pre>\n", true, nil
}

func picture(mime, b64 string) string {
	return fmt.Sprintf("<div class=\"out\"><img alt=\"output\" src=\"data:%s;base64,%s\"></div>\n", mime, b64)
}
