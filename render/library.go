package render

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

//go:embed assets/gpk.css assets/js/*.js assets/echarts/echarts-cut.js.gz
var assets embed.FS

// scripts are the files of the viewer in the order in which they are joined.
var scripts = []string{"util.js", "pack.js", "table.js", "timeline.js", "timeline_ui.js", "flame.js", "curve.js", "parts.js", "report.js"}

// viewer is the script with its style: what every output carries. It is wrapped in a function, so it leaves nothing
// behind but window.__gpk1, and strict, so that a mistake fails rather than leaks.
var viewer = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString("(function(){\n'use strict';\nif(window.__gpk1&&window.__gpk1.version)return;\n")
	css, err := json.Marshal(strings.Join(strings.Fields(dropComments(mustAsset("gpk.css"))), " "))
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(&b, "const STYLE=%s;\n", css)
	for _, name := range scripts {
		b.WriteString(tighten(mustAsset("js/" + name)))
	}
	b.WriteString("})();\n")
	return b.String()
})

// packedViewer is the viewer as the text of a script element.
var packedViewer = sync.OnceValue(func() string {
	s, err := squeeze([]byte(viewer()), gzip.BestCompression)
	if err != nil {
		panic(err)
	}
	return s
})

// mustAsset reads an embedded file. That it is there is checked by every test.
func mustAsset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// tighten drops indentation, empty lines and lines that hold only a comment. The scripts keep no text over several
// lines, so lines can be treated alone.
func tighten(js string) string {
	var b strings.Builder
	for line := range strings.Lines(js) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

func dropComments(css string) string {
	for {
		i := strings.Index(css, "/*")
		if i < 0 {
			return css
		}
		j := strings.Index(css[i:], "*/")
		if j < 0 {
			return css[:i]
		}
		css = css[:i] + css[i+j+2:]
	}
}

// loader starts the viewer once per page and hands it the output's id. It runs in every output: the first one unpacks
// the library that it carries, later ones only queue. It uses neither its own element nor attributes of it, because
// VS Code runs a copy of the script that has lost both.
const loader = `(function(id){var w=window,q=w.__gpk1=w.__gpk1||[];q.push(id);if(q.version||w.__gpk1busy)return;` +
	`var e=document.querySelector('[id="'+id+'"] script[data-gpk-code]')||document.querySelector('script[data-gpk-code]');` +
	`function no(m){w.__gpk1busy=0;document.querySelectorAll('[id="'+id+'"] .gpk-trust').forEach(function(p){p.textContent='The interactive view could not start: '+m})}` +
	`if(!e)return no('its script is missing');if(typeof DecompressionStream==='undefined')return no('this browser is too old');w.__gpk1busy=1;` +
	`var s=atob(e.textContent.trim()),n=s.length,u=new Uint8Array(n);while(n--)u[n]=s.charCodeAt(n);` +
	`new Response(new Blob([u]).stream().pipeThrough(new DecompressionStream('gzip'))).text().then(function(t){var x=document.createElement('script');x.textContent=t;document.head.appendChild(x);x.remove();w.__gpk1busy=0}).catch(function(x){no(x.message)})})`

// Library remembers for one notebook whether the chart library was already sent. It is safe for concurrent use.
type Library struct {
	mu   sync.Mutex // guards sent
	sent bool
}

// Reset makes the next output with charts carry the library again: after a restart, or when its cell was deleted.
func (l *Library) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent = false
}

// ChartLibrary is an output that holds only the chart library, for notebooks in which the output that carried it is gone.
func ChartLibrary() Bundle {
	return Bundle{
		HTML: fmt.Sprintf("<p>The chart library of this notebook.</p>\n<script type=\"text/plain\" data-gpk-lib=\"%s\">%s</script>\n", chartLibrary, packedCharts()),
		Text: "The chart library of this notebook.\n",
	}
}

// take reports whether this output has to carry the library. A nil Library always says so.
func (l *Library) take() bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.sent
	l.sent = true
	return !was
}

// chartLibrary is the name under which scripts find the chart library in a page; it changes with every build of it.
const chartLibrary = "echarts-5.6.0-1"

// packedCharts is the chart library as the text of a script element; the committed file is gzipped already.
var packedCharts = sync.OnceValue(func() string {
	return base64Text([]byte(mustAsset("echarts/echarts-cut.js.gz")))
})

// newID returns an id that no other output of any notebook has.
func newID() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// cleanID keeps of s what may stand in an attribute and a selector without escaping.
func cleanID(s string) string {
	return string(bytes.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return -1
	}, []byte(s)))
}
