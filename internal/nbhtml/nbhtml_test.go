package nbhtml

import (
	"bytes"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gander-go/gander/internal/golden"
)

func write(t *testing.T, nb []byte, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, nb, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func tour(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/tour.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// body is the page without its style, which says nothing about a notebook.
func body(page string) string { return page[strings.Index(page, "<main>"):] }

func TestTour(t *testing.T) {
	golden.Check(t, filepath.Join("testdata", "tour.golden.html"), []byte(body(write(t, tour(t), Options{}))))
}

func TestSanitizedTour(t *testing.T) {
	golden.Check(t, filepath.Join("testdata", "tour.sanitized.golden.html"), []byte(body(write(t, tour(t), Options{Sanitize: true}))))
}

func TestPageIsSelfContained(t *testing.T) {
	page := write(t, tour(t), Options{})
	if !strings.Contains(page, "<title>A tour</title>") {
		t.Errorf("the title is not the first heading: %s", page[:400])
	}
	for _, m := range regexp.MustCompile(`(?i)(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if strings.Contains(m[0], "src=") && !strings.HasPrefix(m[1], "data:") {
			t.Errorf("the page loads %q", m[1])
		}
	}
	if strings.Contains(page, "@import") || strings.Contains(page, "url(") || strings.Contains(page, "<link") {
		t.Error("the style loads something")
	}
}

func TestTrustedOutputsKeepTheirScriptsAndOthersDoNot(t *testing.T) {
	page := body(write(t, tour(t), Options{}))
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("%d script elements, want the one of the HTML output", n)
	}
	clean := body(write(t, tour(t), Options{Sanitize: true}))
	if strings.Contains(clean, "<script") {
		t.Error("a sanitised page has a script")
	}
	if !strings.Contains(clean, "<td>cell</td>") {
		t.Error("sanitising removed a table")
	}
}

func TestHideCode(t *testing.T) {
	page := body(write(t, tour(t), Options{HideCode: true, Title: `<"T">`}))
	if strings.Contains(page, `class="in"`) {
		t.Error("code is shown")
	}
	if !strings.Contains(write(t, tour(t), Options{Title: `<"T">`}), "<title>&lt;&#34;T&#34;&gt;</title>") {
		t.Error("the title is not escaped")
	}
}

func TestRelativePicturesStayBelowTheFolder(t *testing.T) {
	dir := t.TempDir()
	png := []byte("\x89PNG\r\n\x1a\n")
	for _, p := range []string{"in/ok.png", "out.png"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, p), png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	nb := []byte(`{"nbformat":4,"cells":[{"cell_type":"markdown","source":"![a](ok.png) ![b](../out.png) ![c](/etc/hosts)"}]}`)
	page := body(write(t, nb, Options{Dir: filepath.Join(dir, "in")}))
	if n := strings.Count(page, "<img"); n != 1 {
		t.Errorf("%d pictures embedded, want 1: %s", n, page)
	}
}

func TestBrokenNotebooks(t *testing.T) {
	for name, nb := range map[string]string{
		"not JSON": `{`, "version 3": `{"nbformat":3,"worksheets":[]}`, "no version": `{"cells":[]}`, "cells of a wrong type": `{"nbformat":4,"cells":3}`, "list": `[]`,
	} {
		if err := Write(&bytes.Buffer{}, []byte(nb), Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, nb := range map[string]string{
		"empty": `{"nbformat":4}`, "unknown cell": `{"nbformat":4,"cells":[{"cell_type":"<b>","source":"x"}]}`, "null source": `{"nbformat":4,"cells":[{"cell_type":"code","source":null}]}`,
		"text of a wrong type": `{"nbformat":4,"cells":[{"cell_type":"code","source":"x","outputs":[{"output_type":"display_data","data":{"text/plain":{"a":1}}}]}]}`,
	} {
		if page := write(t, []byte(nb), Options{}); strings.Contains(page, "<b>") {
			t.Errorf("%s: markup passed through", name)
		}
	}
}

func TestANSI(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain <b>", "plain &lt;b&gt;"},
		{"\x1b[31mr\x1b[0m.", `<span class="af1">r</span>.`},
		{"\x1b[1;4mx", `<span class="a-b a-u">x</span>`},
		{"\x1b[38;5;196mx", `<span style="color:#ff0000">x</span>`},
		{"\x1b[48;2;1;2;300mx", `<span style="background:#0102ff">x</span>`},
		{"\x1b[38;5;9mx", `<span class="afb1">x</span>`},
		{"\x1b[7mx", `<span class="afinv abinv">x</span>`},
		{"\x1b[2K\x1b[1Ax", "x"},
		{"\x1b]0;title\x07x\x1b]8;;http://a\x1b\\y", "xy"},
		{"10%\r100%\n", "100%\n"},
		{"abc\rX", "Xbc"},
		{"ab\bc", "ac"},
		{"\x1b[", ""},
		{"a\x00\x07b", "ab"},
		{"line\r\nnext", "line\nnext"},
		{"\x1b[38;5mx", "x"},
	} {
		if got := ansiHTML(c.in); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestSanitize(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`<b>x</b>`, `<b>x</b>`},
		{`<script>alert(1)</script>y`, `y`},
		{`<SCRIPT src=x>`, ``},
		{`<img src=x onerror=alert(1)>`, ``},
		{`<img src="data:image/png;base64,AAAA" alt="a&quot;b">`, `<img src="data:image/png;base64,AAAA" alt="a&#34;b">`},
		{`<img src="data:text/html;base64,AAAA">`, ``},
		{`<a href="javascript:alert(1)">x</a>`, `<a rel="noopener noreferrer">x</a>`},
		{`<a href="java&#10;script:alert(1)">x</a>`, `<a rel="noopener noreferrer">x</a>`},
		{`<a href="/p?a=b:c">x</a>`, `<a href="/p?a=b:c" rel="noopener noreferrer">x</a>`},
		{`<div style="background:url(x)">a`, `<div>a</div>`},
		{`</div></section>a`, `a`},
		{`<b><i>x</b>y`, `<b><i>x</i></b>y`},
		{`a < b & c &amp; d`, `a &lt; b &amp; c &amp; d`},
		{`<!-- x --><b>y</b>`, `<b>y</b>`},
		{`<svg><g onload=x></svg>z`, `z`},
		{`<form action=x><input name=a><input type=checkbox checked></form>`, `<input type="checkbox" checked="">`},
		{`<p id="__gpk1">`, `<p></p>`},
		{"<b\x00>x", "&lt;b\x00&gt;x"},
	} {
		if got := sanitize(c.in); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

var written = regexp.MustCompile(`<(/?)([a-z0-9]+)((?: [a-z]+="[^"<>]*")*)>`)

// checkSafe fails when s holds markup that sanitize must not write, by reading it anew.
func checkSafe(t *testing.T, s string) {
	t.Helper()
	rest := written.ReplaceAllStringFunc(s, func(tag string) string {
		m := written.FindStringSubmatch(tag)
		if _, ok := tags[m[2]]; !ok {
			t.Errorf("element %q in %q", m[2], s)
		}
		for _, a := range regexp.MustCompile(` ([a-z]+)="([^"]*)"`).FindAllStringSubmatch(m[3], -1) {
			v := strings.ToLower(strings.TrimSpace(html.UnescapeString(a[2])))
			if strings.HasPrefix(a[1], "on") || a[1] == "style" || a[1] == "href" && strings.HasPrefix(v, "javascript") || a[1] == "src" && !strings.HasPrefix(v, "data:image/") {
				t.Errorf("attribute %s=%q in %q", a[1], a[2], s)
			}
		}
		return ""
	})
	if strings.ContainsAny(rest, "<>") {
		t.Errorf("markup that was not read back: %q", rest)
	}
}

func FuzzSanitize(f *testing.F) {
	for _, s := range []string{`<b>x`, `<a href='javascript:x'>`, `<img src=data:image/png;base64,AA onerror=x>`, "<scr<script>ipt>", `<b a="`, `<b a='"'>`, `&#x3c;script>`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := sanitize(s)
		checkSafe(t, once)
	})
}

func FuzzANSI(f *testing.F) {
	f.Add("\x1b[31mx\r\b\x1b]0;")
	f.Fuzz(func(t *testing.T, s string) {
		out := ansiHTML(s)
		if rest := regexp.MustCompile(`</?span(?: class="[a-z0-9 -]*")?(?: style="[a-z0-9:;#]*")?>`).ReplaceAllString(out, ""); strings.ContainsAny(rest, "<>") {
			t.Errorf("markup in %q", out)
		}
		if strings.Count(out, "<span") != strings.Count(out, "</span>") {
			t.Errorf("unbalanced: %q", out)
		}
	})
}

func FuzzWrite(f *testing.F) {
	b, err := os.ReadFile("testdata/tour.ipynb")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var out bytes.Buffer
		_ = Write(&out, b, Options{Sanitize: true})
		if strings.Contains(strings.ToLower(out.String()), "<script") {
			t.Error("a script in a sanitised page")
		}
	})
}
