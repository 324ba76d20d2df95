package render

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/gander-go/gander/internal/golden"
	"github.com/gander-go/gander/profiler/trace"
)

// embedded takes the document and the blobs out of a fragment, as the script does.
func embedded(t testing.TB, html string) (map[string]any, [][]byte) {
	t.Helper()
	list := regexp.MustCompile(`<script type="text/plain">([^<]*)</script>`).FindAllStringSubmatch(html, -1)
	if len(list) == 0 {
		t.Fatal("no packed data")
	}
	var blobs [][]byte
	for _, m := range list {
		blobs = append(blobs, unsqueeze(t, m[1]))
	}
	var doc map[string]any
	if err := json.Unmarshal(blobs[0], &doc); err != nil {
		t.Fatal(err)
	}
	return doc, blobs[1:]
}

// plainTrace is a trace small enough to read its golden files.
func plainTrace(t testing.TB) *trace.Trace {
	t.Helper()
	tr := &trace.Trace{Meta: trace.Meta{Tool: "gander", Rank: trace.NoRank, Start: 0, End: 10_000}}
	id := tr.Strings.ID
	tr.Processes = []trace.Process{{PID: 1, Name: "demo", Device: trace.NoDevice}, {PID: 2, Device: trace.NoDevice}}
	tr.Tracks = []trace.Track{{Process: 0, Kind: trace.TrackGoroutine, ID: 1, Device: trace.NoDevice}, {Process: 1, Kind: trace.TrackStream, ID: 7, Device: trace.NoDevice}}
	call, kernel := tr.Category("call", trace.ClassCall), tr.Category("kernel", trace.ClassKernel)
	tr.Kernels = []trace.KernelArgs{{}, {Grid: [3]int32{2, 1, 1}, Block: [3]int32{64, 1, 1}, Device: trace.NoDevice}}
	tr.Slices = []trace.Slice{
		{Start: 100, Dur: 5000, Track: 0, Name: id("main.train"), Cat: call},
		{Start: 200, Dur: 1000, Track: 0, Name: id("main.load"), Cat: call},
		{Start: 1500, Dur: 3000, Track: 0, Name: id("main.step"), Cat: call, Corr: 9},
		{Start: 2000, Dur: 4000, Track: 1, Name: id("axpy"), Cat: kernel, Kind: trace.ArgKernel, Args: 1, Corr: 9},
		{Start: 3000, Dur: 1000, Track: 1, Name: id("dot"), Cat: kernel, Kind: trace.ArgKernel, Args: 1},
	}
	tr.Flows = []trace.Flow{{Kind: trace.FlowLaunch, FromTrack: 0, FromTime: 1500, ToTrack: 1, ToTime: 2000, From: 2, To: 3}}
	if err := tr.Validate(); err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestEmbeddedDataOfATimeline(t *testing.T) {
	b, err := Timeline(plainTrace(t), Options{Title: "demo", ID: "x"})
	must(t, err)
	doc, blobs := embedded(t, b.HTML)
	text, err := json.MarshalIndent(doc, "", " ")
	must(t, err)
	p, err := readTimeline(blobs[0])
	must(t, err)
	golden.Check(t, filepath.Join("testdata", "timeline.golden"), []byte(fmt.Sprintf("%s\n%+v\n", text, *p)))
}

func TestEmbeddedDataOfATableAndACurve(t *testing.T) {
	g := Grid{Title: "T", Cols: []Column{{Name: "a"}, {Name: "b", Unit: UnitTime, Heat: true}, {Name: "c", Unit: UnitPercent, Hide: true}}, Rows: [][]any{{"x", int64(5), math.NaN()}, {"y", 2.5, 7.0}, {"short"}}, Sort: 1}
	b, err := Table(g, Options{ID: "x"})
	must(t, err)
	doc, _ := embedded(t, b.HTML)
	text, err := json.MarshalIndent(doc, "", " ")
	must(t, err)
	c, err := Curve(Graph{Title: "C", Unit: UnitBytes, Series: []Series{{Name: "s", Times: []int64{10, 20, 40}, Values: []float64{1, 3, 2}, Area: true}}}, Options{ID: "x"})
	must(t, err)
	doc, blobs := embedded(t, c.HTML)
	curve, err := json.MarshalIndent(doc, "", " ")
	must(t, err)
	packed, err := readCurves(blobs[0])
	must(t, err)
	golden.Check(t, filepath.Join("testdata", "pieces.golden"), []byte(fmt.Sprintf("%s\n%s%s\n%s%+v\n", text, b.Text, curve, c.Text, packed)))
}

func TestSizes(t *testing.T) {
	if n := len(packedViewer()); n > 45_000 {
		t.Errorf("the viewer takes %d bytes of every output, the limit is 45,000", n)
	}
	tr := sample(t)
	b, err := Profile(tr, Options{})
	must(t, err)
	if len(b.HTML) > 300_000 {
		t.Errorf("the output of a small profile takes %d bytes", len(b.HTML))
	}
	if strings.Contains(b.HTML, "data-gpk-lib") {
		t.Error("the chart library travels although no chart was asked for")
	}
	if len(b.PNG) > 300_000 || len(b.JSON) > 100_000 {
		t.Errorf("png %d bytes, json %d bytes", len(b.PNG), len(b.JSON))
	}
	_, rows, _, err := buildTimeline(large(200_000), notebookBudget, nil, nil)
	must(t, err)
	if n := len(timelinePicture(large(200_000), rows).svg()); n > 60_000 {
		t.Errorf("the static timeline takes %d bytes", n)
	}
}

func TestBudget(t *testing.T) {
	tr := large(200_000)
	for _, budget := range []int{100 << 20, 900_000, 300_000, 60_000} {
		part, _, blob, err := buildTimeline(tr, budget, nil, nil)
		must(t, err)
		if len(blob) > budget {
			t.Errorf("budget %d: %d bytes", budget, len(blob))
		}
		p, err := readTimeline(unsqueeze(t, blob))
		must(t, err)
		if whole := len(p.Start) == len(tr.Slices); whole != !strings.Contains(part.Note, "merged") {
			t.Errorf("budget %d: %d of %d events and the note %q", budget, len(p.Start), len(tr.Slices), part.Note)
		}
		if (p.Tick > 1) != (part.Note != "") {
			t.Errorf("budget %d: ticks of %d ns and the note %q", budget, p.Tick, part.Note)
		}
	}
}

// TestRows checks that rows never overlap, lose nothing and keep callers above callees.
func TestRows(t *testing.T) {
	tr := sample(t)
	zero := func(*trace.Slice) uint32 { return 0 }
	rows, crowded := layRows(tr, zero, zero, func(*trace.Instant) uint32 { return 0 })
	depth := map[int32]int{}
	n := 0
	for _, rt := range rows {
		for d, row := range rt.rows {
			for i, e := range row {
				if i > 0 && e.start < row[i-1].end {
					t.Fatalf("track %d row %d: [%d, %d] overlaps [%d, %d]", rt.id, d, row[i-1].start, row[i-1].end, e.start, e.end)
				}
				depth[e.slice] = d
				n++
			}
		}
	}
	if n != len(tr.Slices) || crowded != 0 {
		t.Errorf("%d events placed, want %d", n, len(tr.Slices))
	}
	for i, s := range tr.Slices {
		want := 0
		for k, c := range tr.Slices {
			if k < i && c.Track == s.Track && c.Start <= s.Start && s.End() <= c.End() {
				want++
			}
		}
		if nests(tr.Tracks[s.Track].Kind) && depth[int32(i)] != want {
			t.Errorf("slice %d is at depth %d, want %d", i, depth[int32(i)], want)
		}
	}
}

// TestDeepRecursion draws a stack deeper than any picture.
func TestDeepRecursion(t *testing.T) {
	tr := &trace.Trace{Meta: trace.Meta{Rank: trace.NoRank, End: 1 << 20}}
	tr.Processes = []trace.Process{{PID: 1, Device: trace.NoDevice}}
	tr.Tracks = []trace.Track{{Kind: trace.TrackGoroutine, ID: 1, Device: trace.NoDevice}, {Kind: trace.TrackStream, ID: 2, Device: trace.NoDevice}}
	cat, name := tr.Category("call", trace.ClassCall), tr.Strings.ID("fib")
	for k := range trace.TrackID(2) {
		for i := range int64(5000) {
			tr.Slices = append(tr.Slices, trace.Slice{Start: i, Dur: 1<<20 - 2*i, Track: k, Name: name, Cat: cat})
		}
	}
	must(t, tr.Validate())
	part, rows, _, err := buildTimeline(tr, pageBudget, nil, nil)
	must(t, err)
	for _, rt := range rows {
		if len(rt.rows) != maxRows {
			t.Errorf("%d rows", len(rt.rows))
		}
	}
	if want := formatCount(2 * (5000 - maxRows)); !strings.Contains(part.Note, want) {
		t.Errorf("the note %q does not say that %s events are left out", part.Note, want)
	}
	_, err = Profile(tr, Options{})
	must(t, err)
}

// checkStatic reads a fragment's static HTML and fails on anything that is markup although it came from a name.
func checkStatic(t *testing.T, html string) {
	t.Helper()
	still := html[strings.Index(html, `<div class="gpk-static">`):strings.Index(html, `<script type="application/json">`)]
	allowed := regexp.MustCompile(`^</?(div|h3|h4|p|small|table|caption|thead|tbody|tr|th|td|ul|li|b|img)( (class|id|align|scope|width|src|alt)="[^"<>]*")*>`)
	for rest := still; ; {
		i := strings.IndexByte(rest, '<')
		if i < 0 {
			break
		}
		m := allowed.FindString(rest[i:])
		if m == "" {
			t.Fatalf("markup in the static form: %.80q", rest[i:])
		}
		rest = rest[i+len(m):]
	}
	for _, m := range regexp.MustCompile(`data:image/svg\+xml;base64,([^"]*)"`).FindAllStringSubmatch(still, -1) {
		svg, err := base64.StdEncoding.DecodeString(m[1])
		must(t, err)
		for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
			tok, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("a picture is not valid XML: %v", err)
			}
			if s, ok := tok.(xml.StartElement); ok && !strings.Contains(" svg title desc style rect path text ", " "+s.Name.Local+" ") {
				t.Errorf("element %q in a picture", s.Name.Local)
			}
		}
	}
	scripts := regexp.MustCompile(`(?s)<script[^>]*>(.*?)</script>`).FindAllStringSubmatch(html, -1)
	for _, m := range scripts {
		if strings.Contains(m[1], "PWNED") {
			t.Error("a name stands in a script")
		}
	}
	if strings.ContainsAny(html, "\u2028\u2029") && strings.Contains(html[strings.Index(html, "<script"):], "\u2028") {
		t.Error("a line separator stands in a script")
	}
}

func TestHostileNamesAreText(t *testing.T) {
	for name, b := range bundles(t) {
		t.Run(name, func(t *testing.T) {
			checkStatic(t, b.HTML)
			for _, r := range b.Text {
				if r < 32 && r != '\n' || r == 127 {
					t.Fatalf("control character %q in the text", r)
				}
			}
			for mime := range b.MIME() {
				if strings.Contains(mime, "javascript") || strings.Contains(mime, "svg") {
					t.Errorf("the bundle has %s", mime)
				}
			}
			if b.PNG != nil {
				if _, err := png.Decode(bytes.NewReader(b.PNG)); err != nil {
					t.Error(err)
				}
			}
			if b.JSON != nil && !json.Valid(b.JSON) {
				t.Error("the JSON is not valid")
			}
		})
	}
}

func TestPagesAreSelfContained(t *testing.T) {
	tr := sample(t)
	second := sample(t)
	tr.Meta.Rank, second.Meta.Rank = 0, 1
	tr.Meta.World, second.Meta.World = 2, 2
	for name, write := range map[string]func(w io.Writer) error{
		"page":  func(w io.Writer) error { return Page(w, []*trace.Trace{tr}, Options{Title: hostile[0]}) },
		"ranks": func(w io.Writer) error { return Page(w, []*trace.Trace{tr, second}, Options{}) },
		"diff":  func(w io.Writer) error { return DiffPage(w, tr, second, Options{}) },
	} {
		var b bytes.Buffer
		must(t, write(&b))
		html := b.String()
		checkStatic(t, html)
		for _, m := range regexp.MustCompile(`(?:src|href)="([^"]{0,40})`).FindAllStringSubmatch(html, -1) {
			if !strings.HasPrefix(m[1], "data:") {
				t.Errorf("%s loads %q", name, m[1])
			}
		}
		if strings.Contains(html, "@import") || strings.Contains(html, "url(") {
			t.Errorf("%s: the style loads something", name)
		}
	}
	if err := Page(io.Discard, nil, Options{}); err == nil {
		t.Error("a page of no traces is no error")
	}
}

func TestEmptyTrace(t *testing.T) {
	tr := &trace.Trace{Meta: trace.Meta{Rank: trace.NoRank}}
	b, err := Profile(tr, Options{})
	must(t, err)
	if b.HTML == "" || b.Text == "" {
		t.Error("an empty trace gives an empty output")
	}
	must(t, Page(io.Discard, []*trace.Trace{tr, tr}, Options{}))
	must(t, DiffPage(io.Discard, tr, tr, Options{}))
	_, err = Timeline(tr, Options{})
	must(t, err)
	_, err = Flame(Flames{}, Options{})
	must(t, err)
	_, err = Curve(Graph{}, Options{})
	must(t, err)
	_, err = Table(Grid{}, Options{})
	must(t, err)
}

func TestViewsAreChosenAndOrdered(t *testing.T) {
	tr := sample(t)
	b, err := Profile(tr, Options{Views: []View{ViewMemory, ViewTable}})
	must(t, err)
	doc, _ := embedded(t, b.HTML)
	var ids []string
	for _, v := range doc["views"].([]any) {
		ids = append(ids, v.(map[string]any)["id"].(string))
	}
	if got := strings.Join(ids, " "); got != "memory table problems" {
		t.Errorf("views are %q", got)
	}
	if _, err := ParseViews([]string{"table", "tabel"}); err == nil || !strings.Contains(err.Error(), `"tabel"`) {
		t.Errorf("an unknown view gives %v", err)
	}
	if _, err := Profile(tr, Options{Sort: "no_such_key"}); err == nil {
		t.Error("an unknown sort key is no error")
	}
}

func TestChartsRefuseFunctions(t *testing.T) {
	bar := charts.NewBar()
	bar.SetGlobalOptions(charts.WithTooltipOpts(opts.Tooltip{Formatter: opts.FuncOpts("function(){window.PWNED=9}")}))
	bar.AddSeries("s", []opts.BarData{{Value: 1}})
	if _, err := Chart(bar, Options{}); err == nil || !strings.Contains(err.Error(), "JavaScript") {
		t.Errorf("a function in options gives %v", err)
	}
}

func TestThinKeepsPeaks(t *testing.T) {
	var ts []int64
	var vs []float64
	for i := range 100_000 {
		ts, vs = append(ts, int64(i)), append(vs, float64(i%100))
	}
	vs[77_777], vs[12_345] = 1e6, -5
	gt, gv := thin(ts, vs, 4000)
	if len(gt) > 4400 || len(gt) != len(gv) {
		t.Fatalf("%d points", len(gt))
	}
	peak, low := false, false
	for i := range gt {
		if i > 0 && gt[i] <= gt[i-1] {
			t.Fatal("times go back")
		}
		if gv[i] != vs[gt[i]] {
			t.Fatal("a value was made up")
		}
		peak, low = peak || gt[i] == 77_777, low || gt[i] == 12_345
	}
	if !peak || !low || gt[0] != 0 || gt[len(gt)-1] != 99_999 {
		t.Error("an extreme or an end is lost")
	}
}

func TestMeanCurve(t *testing.T) {
	// 0 until 10, then 1 until 20, then 3.
	ts, vs := meanCurve([]int64{10, 20}, []float64{1, 3}, 0, 40, 4)
	if fmt.Sprint(ts, vs) != "[0 10 20 30] [0 1 3 3]" {
		t.Error(ts, vs)
	}
	_, vs = meanCurve([]int64{0, 5}, []float64{2, 4}, 0, 10, 1)
	if vs[0] != 3 {
		t.Error(vs)
	}
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		unit Unit
		v    float64
		want string
	}{
		{UnitTime, 0, "0 ns"}, {UnitTime, 999, "999 ns"}, {UnitTime, 1500, "1.500 µs"}, {UnitTime, 2_345_678, "2.346 ms"}, {UnitTime, -3.2e9, "-3.200 s"},
		{UnitBytes, 512, "512 B"}, {UnitBytes, 1536, "1.50 KiB"}, {UnitBytes, -3 << 30, "-3.00 GiB"}, {UnitCount, 1234567, "1,234,567"}, {UnitCount, -1000, "-1,000"},
		{UnitPercent, 12.345, "12.35 %"}, {UnitFlops, 2.5e9, "2.50 GFLOP"}, {UnitRate, 1.2e10, "12.00 GB/s"}, {UnitNumber, 0.123456, "0.1235"}, {UnitTime, math.NaN(), "–"},
	} {
		if got := formatValue(c.unit, c.v, ""); got != c.want {
			t.Errorf("%v in %q: %q, want %q", c.v, c.unit, got, c.want)
		}
	}
	if got := formatTimeUnit(1.5e6, "us"); got != "1500.000 µs" {
		t.Error(got)
	}
	if got, step := axisTicks(0, 10, 5, false); len(got) != 6 || step != 2 || math.Signbit(got[0]) {
		t.Error(got, step)
	}
	for _, c := range []struct {
		unit    Unit
		v, step float64
		want    string
	}{{UnitBytes, 1.5 * (1 << 30), 1 << 29, "1.5 GiB"}, {UnitBytes, 10 << 30, 1 << 30, "10 GiB"}, {UnitPercent, 100, 20, "100 %"}, {UnitTime, 2e8, 1e8, "200 ms"}, {UnitTime, 72_228_400, 200, "72.2284 ms"}, {UnitCount, 1000, 500, "1,000"}} {
		if got := formatTick(c.unit, c.v, c.step); got != c.want {
			t.Errorf("tick %v: %q, want %q", c.v, got, c.want)
		}
	}
	if got := sparkline([]int64{0, 10, 20, 30}, []float64{0, 7, 3, 1}, 4); got != "▁██▄" {
		t.Error(got)
	}
}

func TestOutputsAreReproducible(t *testing.T) {
	for range 3 {
		a, err := Profile(sample(t), Options{ID: "same", Charts: true})
		must(t, err)
		b, err := Profile(sample(t), Options{ID: "same", Charts: true})
		must(t, err)
		if a.HTML != b.HTML || a.Text != b.Text || !bytes.Equal(a.PNG, b.PNG) || !bytes.Equal(a.JSON, b.JSON) {
			t.Fatal("the same trace gives different outputs")
		}
	}
	if a, b := newID(), newID(); a == b {
		t.Error("two outputs share an id")
	}
	b, err := Table(Grid{}, Options{ID: `"><script>`})
	must(t, err)
	if !strings.Contains(b.HTML, `id="gpk-script"`) {
		t.Error("an id is not cleaned")
	}
}

func BenchmarkProfile(b *testing.B) {
	tr := large(100_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Profile(tr, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPageOfMillion(b *testing.B) {
	tr := large(1_000_000)
	b.ReportAllocs()
	for b.Loop() {
		var buf bytes.Buffer
		if err := Page(&buf, []*trace.Trace{tr}, Options{}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(buf.Len())/1e6, "MB")
	}
}
