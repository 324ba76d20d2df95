// Package httpprof serves profiles of a running program over HTTP: a request records for some seconds and the response is
// what was recorded, as a table, a trace for Perfetto, a page, samples for `go tool pprof`, or Gander's own file.
//
//	http.Handle("/debug/gander", httpprof.Handler(httpprof.Options{}))
//
//	curl 'http://127.0.0.1:6060/debug/gander?seconds=5'
//	curl 'http://127.0.0.1:6060/debug/gander?seconds=5&format=chrome' > trace.json.gz
//
// A profile shows names of functions, files and spans, and recording costs time: serve it on a loopback address. By
// default the handler answers only requests that come from the machine itself and address it by a loopback name, so that
// neither a wrong bind address nor a web page that resolves its own name to 127.0.0.1 opens it to others.
//
// Its invariant: at most one request records at a time; when the client goes away the recording ends.
package httpprof

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/kineto"
	"github.com/gander-go/gander/profiler/pprof"
	"github.com/gander-go/gander/profiler/trace"
)

// Options of Handler. The zero value is right for a loopback address.
type Options struct {
	// AllowRemote answers everybody who can reach the handler: for programs that check who asks before they call it.
	AllowRemote bool
	// Profile is what requests start from; their parameters add to it.
	Profile profiler.Options
	// MaxSeconds bounds how long a request may record; 0 is 60.
	MaxSeconds float64
}

const (
	defaultSeconds    = 5
	defaultMaxSeconds = 60
)

// Handler returns the handler. A GET request understands
//
//	seconds       how long to record, 5 without it; fractions are allowed; must stay below the server's WriteTimeout
//	format        table (without it), chrome, pprof, gander, html (when the program imports profiler/report)
//	sort, limit   of the table
//	sample        CPU samples a second; 100 for format=pprof without it
//	shapes, stack, memory, flops, sched   1 to record them
func Handler(o Options) http.Handler {
	if o.MaxSeconds <= 0 {
		o.MaxSeconds = defaultMaxSeconds
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET is served here", http.StatusMethodNotAllowed)
			return
		}
		if !o.AllowRemote && !local(r) {
			http.Error(w, "profiles are served to the machine itself only", http.StatusForbidden)
			return
		}
		q, err := parse(r.URL.Query(), o)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if r.Method == http.MethodHead {
			return
		}
		q.serve(w, r)
	})
}

// local reports whether the request comes from this machine and names it by a loopback name.
func local(r *http.Request) bool {
	return loopback(r.RemoteAddr) && loopback(r.Host)
}

func loopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// query is a request that makes sense.
type query struct {
	profile profiler.Options
	length  time.Duration
	format  string
	sort    string
	limit   int
}

func parse(v url.Values, o Options) (q query, err error) {
	q = query{profile: o.Profile, format: v.Get("format"), sort: v.Get("sort")}
	seconds := min(defaultSeconds, o.MaxSeconds)
	if s := v.Get("seconds"); s != "" {
		if seconds, err = strconv.ParseFloat(s, 64); err != nil || !(seconds > 0) {
			return q, fmt.Errorf("seconds=%q is no positive number", s)
		}
	}
	if seconds > o.MaxSeconds {
		return q, fmt.Errorf("seconds=%g is over the limit of %g", seconds, o.MaxSeconds)
	}
	q.length = time.Duration(seconds * float64(time.Second))
	for name, to := range map[string]*int{"limit": &q.limit, "sample": &q.profile.SampleHz} {
		if s := v.Get(name); s != "" {
			if *to, err = strconv.Atoi(s); err != nil || name == "sample" && *to < 0 {
				return q, fmt.Errorf("%s=%q is no number that fits", name, s)
			}
		}
	}
	for name, to := range map[string]*bool{
		"shapes": &q.profile.RecordShapes, "stack": &q.profile.WithStack, "memory": &q.profile.ProfileMemory, "flops": &q.profile.WithFLOPs,
		"sched": &q.profile.Sched,
	} {
		if s := v.Get(name); s != "" {
			if *to, err = strconv.ParseBool(s); err != nil {
				return q, fmt.Errorf("%s=%q is neither 0 nor 1", name, s)
			}
		}
	}
	switch q.format {
	case "":
		q.format = "table"
	case "pprof":
		if q.profile.SampleHz == 0 {
			q.profile.SampleHz = 100
		}
	case "table", "chrome", "gander":
	case "html":
		if !profiler.HasReport() {
			return q, fmt.Errorf(`format=html needs the program to import "github.com/gander-go/gander/profiler/report"`)
		}
	default:
		return q, fmt.Errorf("format=%q is none of table, chrome, pprof, gander, html", q.format)
	}
	// A request records from its start to its end; a schedule needs a loop that steps.
	q.profile.Schedule, q.profile.ScheduleFunc, q.profile.OnTraceReady = profiler.Schedule{}, nil, nil
	return q, nil
}

// serve records and answers.
func (q *query) serve(w http.ResponseWriter, r *http.Request) {
	p, err := profiler.Start(q.profile)
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	wait(r.Context(), q.length)
	p.Stop()
	if r.Context().Err() != nil {
		return
	}
	if q.format == "table" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		options := []profiler.TableOption{profiler.RowLimit(q.limit)}
		if q.sort != "" {
			options = append(options, profiler.SortBy(q.sort))
		}
		text := new(strings.Builder)
		if err := p.KeyAverages().WriteTable(text, options...); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		io.WriteString(w, text.String())
		return
	}
	name, typ, write := q.writer(p)
	w.Header().Set("Content-Type", typ)
	if name != "" {
		w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	}
	// Once the body has begun an error can only be shown by cutting it short.
	if err := write(w); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// writer returns how to write the profile: as a file of what name ("" to show it), of what type.
func (q *query) writer(p *profiler.Profile) (name, typ string, write func(io.Writer) error) {
	switch q.format {
	case "chrome":
		return "trace.json.gz", "application/gzip", func(w io.Writer) error {
			z := gzip.NewWriter(w)
			if err := kineto.Write(z, p.Trace(), kineto.WriteOptions{}); err != nil {
				return err
			}
			return z.Close()
		}
	case "pprof":
		return "cpu.pprof", "application/octet-stream", func(w io.Writer) error { return pprof.Write(w, p.Trace(), trace.SampleCPU) }
	case "html":
		return "", "text/html; charset=utf-8", p.WriteReport
	}
	return "profile.gander", "application/octet-stream", func(w io.Writer) error {
		x := *p.Trace()
		x.Meta.Host = "" // nobody asked for it
		return trace.Encode(w, &x)
	}
}

// wait returns after d or when ctx ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
