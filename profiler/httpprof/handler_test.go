package httpprof

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/kineto"
	"github.com/gander-go/gander/profiler/trace"
)

// working makes spans until the test ends, as the service that is profiled does.
func working(t *testing.T) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				profiler.Record("request", func() { time.Sleep(200 * time.Microsecond) })
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-done })
}

func get(t *testing.T, url string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, b
}

func has(x *trace.Trace, name string) bool {
	for i := range x.Slices {
		if x.Name(&x.Slices[i]) == name {
			return true
		}
	}
	return false
}

func TestFormats(t *testing.T) {
	working(t)
	s := httptest.NewServer(Handler(Options{}))
	defer s.Close()
	r, body := get(t, s.URL+"?seconds=0.05&sort=cpu_time_total")
	if r.StatusCode != 200 || !strings.Contains(string(body), "request") || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("table: %d %s", r.StatusCode, body)
	}
	_, body = get(t, s.URL+"?seconds=0.05&format=gander&shapes=1")
	x, err := trace.Decode(strings.NewReader(string(body)))
	if err != nil || !has(x, "request") {
		t.Errorf("gander: %v", err)
	}
	r, body = get(t, s.URL+"?seconds=0.05&format=chrome")
	z, err := gzip.NewReader(strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	if x, err = kineto.Read(z, kineto.ReadOptions{}); err != nil || !has(x, "request") {
		t.Errorf("chrome: %v", err)
	}
	if d := r.Header.Get("Content-Disposition"); !strings.Contains(d, "trace.json.gz") {
		t.Errorf("disposition %q", d)
	}
}

func TestRefusals(t *testing.T) {
	h := Handler(Options{MaxSeconds: 2})
	for _, c := range []struct {
		method, host, remote, query, want string
		code                              int
	}{
		{"POST", "localhost:1", "127.0.0.1:2", "", "GET", 405},
		{"GET", "localhost:1", "10.1.2.3:2", "", "machine itself", 403},
		{"GET", "evil.example:1", "127.0.0.1:2", "", "machine itself", 403},
		{"GET", "localhost.evil.example", "127.0.0.1:2", "", "machine itself", 403},
		{"GET", "", "127.0.0.1:2", "", "machine itself", 403},
		{"GET", "localhost", "127.0.0.1:2", "seconds=x", "seconds", 400},
		{"GET", "localhost", "127.0.0.1:2", "seconds=0", "seconds", 400},
		{"GET", "localhost", "127.0.0.1:2", "seconds=NaN", "seconds", 400},
		{"GET", "localhost", "127.0.0.1:2", "seconds=-1", "seconds", 400},
		{"GET", "[::1]:80", "[::1]:2", "seconds=3", "limit", 400},
		{"GET", "127.0.0.1", "127.0.0.1:2", "format=xml", "xml", 400},
		{"GET", "127.0.0.1", "127.0.0.1:2", "format=html", "report", 400},
		{"GET", "127.0.0.1", "127.0.0.1:2", "sample=-1", "sample", 400},
		{"GET", "127.0.0.1", "127.0.0.1:2", "stack=maybe", "stack", 400},
		{"GET", "127.0.0.1", "127.0.0.1:2", "seconds=0.01&sort=nonsense", "nonsense", 400},
	} {
		r := httptest.NewRequest(c.method, "/?"+c.query, nil)
		r.Host, r.RemoteAddr = c.host, c.remote
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
	}
	r := httptest.NewRequest("GET", "/?seconds=0.01", nil)
	r.Host, r.RemoteAddr = "service.example", "10.1.2.3:4"
	w := httptest.NewRecorder()
	Handler(Options{AllowRemote: true}).ServeHTTP(w, r)
	if w.Code != 200 {
		t.Errorf("allowed from afar: %d", w.Code)
	}
}

func TestOneAtATime(t *testing.T) {
	s := httptest.NewServer(Handler(Options{}))
	defer s.Close()
	p, err := profiler.Start(profiler.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, body := get(t, s.URL+"?seconds=0.01")
	p.Stop()
	if r.StatusCode != http.StatusConflict || !strings.Contains(string(body), "under way") {
		t.Errorf("%d %s", r.StatusCode, body)
	}
}

func TestClientGoesAway(t *testing.T) {
	h := Handler(Options{})
	ctx, cancel := context.WithCancel(context.Background())
	r := httptest.NewRequestWithContext(ctx, "GET", "/?seconds=50", nil)
	r.Host, r.RemoteAddr = "localhost", "127.0.0.1:2"
	done := make(chan struct{})
	go func() { h.ServeHTTP(httptest.NewRecorder(), r); close(done) }()
	for !profiler.Recording() {
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-done
	if profiler.Recording() {
		t.Error("still recording")
	}
}
