package report

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/httpprof"
	"github.com/gander-go/gander/profiler/trace"
	"github.com/gander-go/gander/render"
)

// external finds what would make a page fetch something.
var external = regexp.MustCompile(`(?i)(src|href)\s*=\s*["']?(https?:)?//`)

func TestExportReport(t *testing.T) {
	p, err := profiler.Start(profiler.Options{Sched: true})
	if err != nil {
		t.Fatal(err)
	}
	profiler.Record("<b>span</b>", func() {
		done := make(chan bool)
		go func() { close(done) }()
		<-done
	})
	p.Stop()
	var before, after bytes.Buffer
	if err := trace.Dump(&before, p.Trace()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "r.html")
	if err := p.ExportReport(path); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	if !strings.Contains(text, "&lt;b&gt;span&lt;/b&gt;") || strings.Contains(text, "<b>span</b>") {
		t.Error("the span's name is not on the page as text")
	}
	if m := external.FindString(text); m != "" {
		t.Errorf("the page fetches something: %s", m)
	}
	if err := trace.Dump(&after, p.Trace()); err != nil || !bytes.Equal(before.Bytes(), after.Bytes()) {
		t.Error("the report changed the trace")
	}
}

func TestSeveralTraces(t *testing.T) {
	var traces []*trace.Trace
	for range 2 {
		p, err := profiler.Start(profiler.Options{})
		if err != nil {
			t.Fatal(err)
		}
		profiler.Begin("rank work").End()
		p.Stop()
		traces = append(traces, p.Trace())
	}
	var b bytes.Buffer
	if err := Write(&b, render.Options{Title: "two ranks"}, traces...); err != nil || !strings.Contains(b.String(), "two ranks") {
		t.Errorf("%v", err)
	}
	if err := Write(&b, render.Options{}); err == nil {
		t.Error("a report of nothing")
	}
}

func TestOverHTTP(t *testing.T) {
	r := httptest.NewRequest("GET", "/?seconds=0.02&format=html", nil)
	r.Host, r.RemoteAddr = "localhost", "127.0.0.1:1"
	w := httptest.NewRecorder()
	httpprof.Handler(httpprof.Options{}).ServeHTTP(w, r)
	if w.Code != 200 || !strings.HasPrefix(w.Body.String(), "<!DOCTYPE html>") || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		t.Errorf("%d %.200s", w.Code, w.Body)
	}
}
