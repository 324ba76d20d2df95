// Package serve is a local web page over a folder of traces: it lists runs and workers as TensorBoard's plugin did, and
// shows the report of what is chosen.
//
// It draws nothing but the list itself. Its one invariant: only files that the list names can be read, and only by pages
// of the address that it was told to serve.
package serve

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gander-go/gander/internal/open"
	"github.com/gander-go/gander/profiler/trace"
	"github.com/gander-go/gander/render"
)

//go:embed index.html
var files embed.FS

var index = template.Must(template.New("index.html").Funcs(template.FuncMap{
	"size": func(n int64) string { return humanize.Bytes(uint64(n)) },
	"time": func(t time.Time) string { return t.Format("2006-01-02 15:04:05") },
}).ParseFS(files, "index.html"))

// Server serves one folder. It implements http.Handler.
type Server struct {
	root  string // links resolved
	shown string // as it was named
	hosts map[string]bool
	mux   *http.ServeMux

	// mu guards pages.
	mu    sync.Mutex
	pages map[string]*page // by id of the file, recording or pair
}

// page is a report that was made, or is being made.
type page struct {
	done chan struct{}
	html []byte
	err  error
	used time.Time
}

// keepPages bounds the reports that are kept in memory.
const keepPages = 8

// New makes a server for the traces below root. hosts are the names that browsers may call it by.
func New(root string, hosts ...string) *Server {
	s := &Server{root: root, shown: root, hosts: map[string]bool{}, mux: http.NewServeMux(), pages: map[string]*page{}}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		s.root = real
	}
	for _, h := range append(hosts, "localhost", "127.0.0.1", "::1") {
		s.hosts[h] = true
	}
	s.mux.HandleFunc("GET /{$}", s.list)
	s.mux.HandleFunc("GET /state", s.state)
	s.mux.HandleFunc("GET /report/{id}", s.report)
	s.mux.HandleFunc("GET /diff/{base}/{next}", s.diff)
	return s
}

// ServeHTTP implements http.Handler. A request that names another host comes from a page elsewhere that a name server
// lies to (DNS rebinding): it is refused.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if !s.hosts[strings.Trim(host, "[]")] {
		http.Error(w, "this address is not served", http.StatusForbidden)
		return
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self' data: blob:; frame-ancestors 'self'; form-action 'self'; base-uri 'none'")
	s.mux.ServeHTTP(w, r)
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	runs := scan(s.root)
	n := 0
	for _, r := range runs {
		n += len(r.Others)
		for _, sp := range r.Spans {
			n += len(sp.Workers)
		}
	}
	var b bytes.Buffer
	err := index.Execute(&b, struct {
		Root, State string
		Runs        []*Run
		Count       int
		More        bool // the bound was met
	}{s.shown, fingerprint(runs), runs, n, n >= maxFiles})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(b.Bytes())
}

// state is a text that changes when the list does; the page asks for it and reloads itself.
func (s *Server) state(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	fmt.Fprint(w, fingerprint(scan(s.root)))
}

func fingerprint(runs []*Run) string {
	var parts []string
	for _, r := range runs {
		for _, s := range r.Spans {
			parts = append(parts, s.ID)
		}
		for _, f := range r.Others {
			parts = append(parts, f.ID)
		}
	}
	return id(parts...)
}

// find returns the files of a recording or the one file with that id.
func (s *Server) find(want string) []*File {
	for _, r := range scan(s.root) {
		for _, sp := range r.Spans {
			if sp.ID == want {
				return sp.Workers
			}
			for _, f := range sp.Workers {
				if f.ID == want {
					return []*File{f}
				}
			}
		}
		for _, f := range r.Others {
			if f.ID == want {
				return []*File{f}
			}
		}
	}
	return nil
}

var errGone = errors.New("it is not in the folder any more")

func (s *Server) read(want string) (ts []*trace.Trace, name string, err error) {
	found := s.find(want)
	if found == nil {
		return nil, "", errGone
	}
	var names []string
	for _, f := range found {
		t, err := open.File(filepath.Join(s.root, f.Path), open.Options{})
		if err != nil {
			return nil, "", err
		}
		ts = append(ts, t)
		names = append(names, f.Path)
	}
	return ts, strings.Join(names, ", "), nil
}

func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	want := r.PathValue("id")
	s.send(w, r, want, func(b *bytes.Buffer) error {
		ts, name, err := s.read(want)
		if err != nil {
			return err
		}
		return render.Page(b, ts, render.Options{Note: name, Charts: true})
	})
}

func (s *Server) diff(w http.ResponseWriter, r *http.Request) {
	base, next := r.PathValue("base"), r.PathValue("next")
	s.send(w, r, base+"-"+next, func(b *bytes.Buffer) error {
		bs, baseName, err := s.read(base)
		if err != nil {
			return err
		}
		ns, nextName, err := s.read(next)
		if err != nil {
			return err
		}
		return render.DiffPage(b, bs[0], ns[0], render.Options{Note: baseName + " → " + nextName})
	})
}

// send answers with the page called key, making it when it is not there. Several requests wait for one making.
func (s *Server) send(w http.ResponseWriter, r *http.Request, key string, make func(b *bytes.Buffer) error) {
	s.mu.Lock()
	p := s.pages[key]
	if p == nil {
		p = &page{done: newDone()}
		s.pages[key] = p
		s.drop(key)
		go func() {
			var b bytes.Buffer
			p.err = make(&b)
			p.html = b.Bytes()
			close(p.done)
			if p.err != nil {
				slog.Warn("making report", "error", p.err)
				s.mu.Lock()
				delete(s.pages, key)
				s.mu.Unlock()
			}
		}()
	}
	p.used = time.Now()
	s.mu.Unlock()
	select {
	case <-p.done:
	case <-r.Context().Done():
		return
	}
	switch {
	case errors.Is(p.err, errGone):
		http.Error(w, p.err.Error(), http.StatusNotFound)
	case p.err != nil:
		http.Error(w, p.err.Error(), http.StatusUnprocessableEntity)
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(p.html)
	}
}

func newDone() chan struct{} { return make(chan struct{}) }

// drop forgets the pages that were not used for longest; the caller holds mu.
func (s *Server) drop(keep string) {
	for len(s.pages) > keepPages {
		oldest := ""
		for k, p := range s.pages {
			if k != keep && (oldest == "" || p.used.Before(s.pages[oldest].used)) {
				oldest = k
			}
		}
		delete(s.pages, oldest)
	}
}

// Listen serves until ctx ends. ready is told the address.
func (s *Server) Listen(ctx context.Context, addr string, ready func(url string)) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("serving: %w", err)
	}
	srv := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		stop, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		srv.Shutdown(stop)
	}()
	ready("http://" + l.Addr().String() + "/")
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}
