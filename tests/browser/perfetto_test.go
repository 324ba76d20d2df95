package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gander-go/gander/internal/open"
	"github.com/gander-go/gander/internal/shared"
	"github.com/gander-go/gander/internal/tracegen"
	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/kineto"
	"github.com/gander-go/gander/profiler/trace"
	"github.com/gander-go/gander/render/rendertest"
)

// TestPerfettoReadsWhatIsWritten opens exported Chrome traces in the Perfetto UI and asks its trace processor, by SQL, what it
// read. GANDER_PERFETTO names the folder with the UI's index.html (tools/perfetto.sh gets one).
func TestPerfettoReadsWhatIsWritten(t *testing.T) {
	ui := os.Getenv("GANDER_PERFETTO")
	if ui == "" {
		t.Skip("SKIPPED: GANDER_PERFETTO is not set; no trace was opened in Perfetto ('make test-browser' sets it)")
	}
	cases := map[string]func(t *testing.T) *trace.Trace{
		"recorded":  recorded,
		"generated": func(t *testing.T) *trace.Trace { return generated(t, tracegen.Options{Steps: 3}) },
		"stacks":    func(t *testing.T) *trace.Trace { return generated(t, tracegen.Options{Steps: 2, Python: true}) },
	}
	for _, name := range []string{"bert_small_h100", "qwen_mi300x", "simple_add_a100", "compare_base", "owlv2_h100_132k_events"} {
		cases[name] = func(t *testing.T) *trace.Trace {
			tr, err := open.File(shared.Path(t, "data", "traces", name+".json.gz"), open.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return tr
		}
	}
	b := rendertest.Open(t)
	for name, make := range cases {
		t.Run(name, func(t *testing.T) {
			tr := make(t)
			got := askPerfetto(t, b, ui, tr)
			comparePerfetto(t, tr, got)
		})
	}
}

// recorded is a trace of this process.
func recorded(t *testing.T) *trace.Trace {
	p, err := profiler.Start(profiler.Options{ProfileMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		s := profiler.Begin("outer " + fmt.Sprint(i%3))
		profiler.Record("inner \"quoted\" <&>", func() { _ = make([]byte, 1<<16) })
		s.End()
		if i%50 == 49 {
			p.Step()
		}
	}
	p.Stop()
	file := filepath.Join(t.TempDir(), "trace.json.gz")
	if err := p.ExportChromeTrace(file); err != nil {
		t.Fatal(err)
	}
	tr, err := open.File(file, open.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func generated(t *testing.T, o tracegen.Options) *trace.Trace {
	var b bytes.Buffer
	if _, err := tracegen.Write(&b, o); err != nil {
		t.Fatal(err)
	}
	tr, err := kineto.Read(&b, kineto.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// perfettoSays is what the trace processor read.
type perfettoSays struct {
	Slices   [][3]any `json:"slices"` // name, count, sum of ns
	Flows    int      `json:"flows"`
	Threads  []string `json:"threads"`
	Counters [][2]any `json:"counters"` // name, points
	Errors   [][2]any `json:"errors"`   // statistic, count
}

const perfettoQueries = `(async () => {
	const ask = async (sql, spec, row) => { const r = await app.trace.engine.query(sql), out = []; for (const it = r.iter(spec); it.valid(); it.next()) out.push(row(it)); return out; };
	return JSON.stringify({
		slices: await ask('select name, count(*) as n, sum(dur) as d from slice group by name', {name: 'str_null', n: 0, d: 0}, r => [r.name, r.n, r.d]),
		flows: (await ask('select count(*) as n from flow', {n: 0}, r => r.n))[0],
		threads: await ask('select name from thread where name is not null order by name', {name: 'str'}, r => r.name),
		counters: await ask('select t.name as name, count(*) as n from counter c join track t on c.track_id = t.id group by t.name', {name: 'str_null', n: 0}, r => [r.name, r.n]),
		errors: await ask("select name, value as n from stats where severity in ('error', 'data_loss') and value > 0", {name: 'str', n: 0}, r => [r.name, r.n]),
	});
})()`

func askPerfetto(t *testing.T, b *rendertest.Browser, ui string, tr *trace.Trace) perfettoSays {
	t.Helper()
	var file bytes.Buffer
	if err := kineto.Write(&file, tr, kineto.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	folder := http.FileServer(http.Dir(ui))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gander/trace.json" {
			w.Write(file.Bytes())
			return
		}
		folder.ServeHTTP(w, r)
	}))
	defer server.Close()
	page, err := b.Visit(server.URL+"/", rendertest.View{})
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	if err := page.Wait(`window.app && app.openTraceFromBuffer`); err != nil {
		t.Fatal(err)
	}
	if _, err := rendertest.Eval[bool](page, `fetch('/gander/trace.json').then(r => r.arrayBuffer()).then(b => { app.openTraceFromBuffer({buffer: b, title: 'trace', fileName: 'trace.json'}); return true; })`); err != nil {
		t.Fatal(err)
	}
	if err := page.Wait(`app.trace && app.trace.engine`); err != nil {
		t.Fatal(err)
	}
	text, err := rendertest.Eval[string](page, perfettoQueries)
	if err != nil {
		t.Fatal(err)
	}
	var got perfettoSays
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// comparePerfetto compares names, counts and durations of slices, arrows, and counters. Perfetto draws no slices of one thread
// that overlap without nesting, counts what it leaves out, and may leave out no more than that.
func comparePerfetto(t *testing.T, tr *trace.Trace, got perfettoSays) {
	t.Helper()
	var dropped int64
	for _, e := range got.Errors {
		if e[0] == "slice_drop_overlapping_complete_event" {
			dropped = int64(e[1].(float64))
			continue
		}
		t.Errorf("Perfetto's %v: %v", e[0], e[1])
	}
	type sum struct{ n, ns int64 }
	want, seen := map[string]sum{}, map[string]sum{}
	for i := range tr.Slices {
		s := &tr.Slices[i]
		w := want[tr.Name(s)]
		want[tr.Name(s)] = sum{w.n + 1, w.ns + s.Dur}
	}
	var slices int64
	for _, r := range got.Slices {
		name, _ := r[0].(string)
		seen[name] = sum{int64(r[1].(float64)), int64(r[2].(float64))}
		slices += seen[name].n
	}
	var missing int64
	for name, w := range want {
		g := seen[name]
		missing += max(0, w.n-g.n)
		if g.n >= w.n && g.ns != w.ns || g.n > w.n && g.ns > w.ns {
			t.Errorf("%q: Perfetto has %+v, want %+v", name, g, w)
		}
	}
	if missing != dropped {
		t.Errorf("%d slices are missing, and Perfetto says that it left out %d that overlap", missing, dropped)
	}
	if all := int64(len(tr.Slices) + len(tr.Instants) + len(tr.Memory)); slices != all-dropped {
		t.Errorf("Perfetto has %d slices and instants, want %d less %d", slices, all, dropped)
	}
	arrows := 0
	for i := range tr.Flows {
		if f := &tr.Flows[i]; f.From >= 0 && f.To >= 0 {
			arrows++
		}
	}
	if got.Flows != arrows && dropped == 0 {
		t.Errorf("Perfetto has %d arrows, want %d", got.Flows, arrows)
	}
	points := map[string]int{}
	for _, c := range got.Counters {
		points[c[0].(string)] += int(c[1].(float64))
	}
	for i := range tr.Counters {
		c, n := &tr.Counters[i], 0
		for name, k := range points { // Perfetto adds the name of the series
			if name == c.Name || strings.HasPrefix(name, c.Name+" ") {
				n = max(n, k)
			}
		}
		if n != len(c.Times) {
			t.Errorf("counter %q: Perfetto has %d points, want %d (%v)", c.Name, n, len(c.Times), points)
		}
	}
	t.Logf("Perfetto read %d slices and instants of %d names (%d overlapping left out), %d of %d arrows, %d threads (%s), %d counters",
		slices, len(seen), dropped, got.Flows, arrows, len(got.Threads), strings.Join(got.Threads, ", "), len(points))
}
