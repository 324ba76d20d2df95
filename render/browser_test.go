package render

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/gander-go/gander/profiler/trace"
	"github.com/gander-go/gander/render/rendertest"
)

// bundles are one output of every kind, full of hostile names.
func bundles(t testing.TB) map[string]Bundle {
	t.Helper()
	tr := sample(t)
	out := map[string]Bundle{}
	keep := func(name string, b Bundle, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = b
	}
	b, err := Profile(tr, Options{Note: hostile[0]})
	keep("profile", b, err)
	b, err = Profile(tr, Options{Charts: true, Views: []View{ViewOverview, ViewKernels, ViewSteps, ViewOperators}})
	keep("charts", b, err)
	b, err = Timeline(tr, Options{Title: hostile[1]})
	keep("timeline", b, err)
	b, err = Table(hostileGrid(), Options{Title: hostile[2]})
	keep("table", b, err)
	b, err = Curve(Graph{Title: hostile[3], Unit: UnitBytes, Series: []Series{{Name: hostile[0], Times: []int64{0, 10, 20}, Values: []float64{1, 1 << 20, 4096}, Area: true}}}, Options{})
	keep("curve", b, err)
	b, err = Flame(Flames{Title: hostile[4], Unit: UnitTime, Names: hostile, Name: []int32{0, 1, 2, 3}, Parent: []int32{-1, 0, 0, 1}, Self: []int64{0, 50, 30, 20}, Count: []int64{1, 2, 3, 4}}, Options{})
	keep("flame", b, err)
	b, err = Diff(tr, sample(t), Options{})
	keep("diff", b, err)
	pie := charts.NewPie()
	var data []opts.PieData
	for i, h := range hostile {
		data = append(data, opts.PieData{Name: strings.ToValidUTF8(h, ""), Value: i + 1})
	}
	pie.AddSeries(hostile[2], data)
	b, err = Chart(pie, Options{Title: hostile[0]})
	keep("chart", b, err)
	return out
}

func hostileGrid() Grid {
	g := Grid{Title: hostile[0], Cols: []Column{{Name: hostile[1]}, {Name: hostile[2], Unit: UnitTime, Heat: true, Help: hostile[5]}}, Sort: -1}
	for i, h := range hostile {
		g.Rows = append(g.Rows, []any{h, int64(i * 1000)})
	}
	return g
}

// open shows a page and waits until its outputs have settled.
func open(t *testing.T, b *rendertest.Browser, html string, v rendertest.View) *rendertest.Page {
	t.Helper()
	p, err := b.Show(html, v)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func eval[T any](t *testing.T, p *rendertest.Page, expr string) T {
	t.Helper()
	v, err := rendertest.Eval[T](p, expr)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func settle(t *testing.T, p *rendertest.Page) {
	t.Helper()
	if err := p.Wait("window.shown!==false && " + rendertest.Settled); err != nil {
		t.Fatal(err)
	}
}

// clean checks that nothing hostile ran, nothing failed and nothing was asked of a network.
func clean(t *testing.T, p *rendertest.Page) {
	t.Helper()
	if v := eval[string](t, p, "String(window.PWNED)"); v != "undefined" {
		t.Errorf("hostile text ran: PWNED is %s", v)
	}
	if e := p.Errors(); len(e) > 0 {
		t.Errorf("errors on the page: %q", e)
	}
	if l := p.Loads(); len(l) > 0 {
		t.Errorf("the page asked for %q", l)
	}
}

// openAll opens every tab of every output and reports parts that could not be drawn.
const openAll = `(async()=>{let bad=[];for(const n of document.querySelectorAll('.gpk')){if(!n.gpk){bad.push(n.innerText);continue}const g=n.gpk,v=g.doc.views||[];for(let i=0;i<v.length;i++)await g.open(i);await new Promise(r=>setTimeout(r,60))}
document.querySelectorAll('.gpk-live .gpk-dim').forEach(e=>{if(/could not|unavailable/.test(e.textContent))bad.push(e.textContent)});return bad.join('\n')})()`

// painted counts the canvases of live outputs and those among them that show more than one colour.
const painted = `(()=>{const c=[...document.querySelectorAll('.gpk-live canvas')].filter(c=>c.width>1&&c.height>1);return [c.length,c.filter(c=>{const d=c.getContext('2d').getImageData(0,0,c.width,c.height).data,s=new Set();for(let i=0;i<d.length&&s.size<4;i+=4*7)s.add(d[i]<<16|d[i+1]<<8|d[i+2]);return s.size>=3}).length]})()`

// TestEveryBundleInEveryFrontEnd is the matrix: each output, trusted, in each host.
func TestEveryBundleInEveryFrontEnd(t *testing.T) {
	b := rendertest.Open(t)
	all := bundles(t)
	var outputs []rendertest.Output
	for _, x := range all {
		outputs = append(outputs, rendertest.Output{HTML: x.HTML, Text: x.Text, Trusted: true})
	}
	for _, h := range rendertest.Hosts() {
		t.Run(string(h), func(t *testing.T) {
			rendertest.Available(t, h)
			page, err := rendertest.PageOf(h, outputs...)
			if err != nil {
				t.Fatal(err)
			}
			p := open(t, b, page, rendertest.View{Height: 1200, Width: 1280})
			if err := p.Wait(fmt.Sprintf("window.shown && document.querySelectorAll('.gpk').length===%d && %s", len(outputs), rendertest.Settled)); err != nil {
				t.Fatal(err)
			}
			if bad := eval[string](t, p, openAll); bad != "" {
				t.Errorf("parts that failed:\n%s", bad)
			}
			if n := eval[int](t, p, `document.querySelectorAll('.gpk[data-state=live]').length`); n != len(outputs) {
				t.Errorf("%d of %d outputs are live", n, len(outputs))
			}
			if err := p.Wait(`[...document.querySelectorAll('.gpk')].every(n=>!/Loading the chart/.test(n.innerText))`); err != nil {
				t.Error(err)
			}
			if c := eval[[]int](t, p, painted); c[0] < 8 || c[1] < c[0] {
				t.Errorf("%d of %d canvases are painted", c[1], c[0])
			}
			if v := eval[string](t, p, "typeof window.echarts+typeof window.gpkECharts"); v != "undefinedundefined" {
				t.Errorf("the chart library left a global: %s", v)
			}
			clean(t, p)
		})
	}
}

// TestUntrustedIsReadable checks the static form where scripts do not run and styles are gone.
func TestUntrustedIsReadable(t *testing.T) {
	b := rendertest.Open(t)
	x := bundles(t)["profile"]
	for _, h := range []rendertest.Host{rendertest.Lab, rendertest.Classic} {
		t.Run(string(h), func(t *testing.T) {
			rendertest.Available(t, h)
			page, err := rendertest.PageOf(h, rendertest.Output{HTML: x.HTML, Text: x.Text})
			if err != nil {
				t.Fatal(err)
			}
			p := open(t, b, page, rendertest.View{})
			if err := p.Wait(`window.shown && [...document.images].every(i=>i.complete)`); err != nil {
				t.Fatal(err)
			}
			if n := eval[int](t, p, `document.querySelectorAll('script[data-gpk-code],.gpk-live,canvas').length`); n != 0 {
				t.Errorf("%d parts that need scripts are left", n)
			}
			if n := eval[int](t, p, `[...document.images].filter(i=>i.naturalWidth>=600&&i.alt.length>30).length`); n < 2 {
				t.Errorf("%d pictures with a sentence, want the timeline and the memory curve", n)
			}
			text := eval[string](t, p, `document.body.innerText`)
			for _, want := range []string{"Key averages", "aten::mm", "Self CPU", "trust this notebook", "Problems", "GPU 0"} {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not readable", want)
				}
			}
			if strings.Contains(text, "H4sI") {
				t.Error("packed data shows as text")
			}
			clean(t, p)
		})
	}
}

// TestLibraryIsSharedAndLate checks outputs in any order: twice the same one, the chart library in the last of several,
// and none at all.
func TestLibraryIsSharedAndLate(t *testing.T) {
	b := rendertest.Open(t)
	tr := sample(t)
	lib := &Library{}
	o := Options{Charts: true, Views: []View{ViewSteps}, Library: lib}
	first, err := Profile(tr, o)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Profile(tr, o)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(first.HTML, "data-gpk-lib") || strings.Contains(second.HTML, "data-gpk-lib") {
		t.Fatal("the library is not in the first output alone")
	}
	lib.Reset()
	third, err := Profile(tr, o)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(third.HTML, "data-gpk-lib") {
		t.Error("after Reset the library is not sent again")
	}
	page, err := rendertest.PageOf(rendertest.Plain, rendertest.Output{HTML: second.HTML}, rendertest.Output{HTML: second.HTML}, rendertest.Output{HTML: first.HTML})
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, b, page, rendertest.View{})
	if err := p.Wait(`document.querySelectorAll('.gpk[data-state=live]').length===3 && document.querySelectorAll('.gpk-live canvas').length===3`); err != nil {
		t.Fatal(err)
	}
	clean(t, p)
}

// TestShortcutsDoNotReachTheNotebook presses keys in every focusable part under JupyterLab's own key handling.
func TestShortcutsDoNotReachTheNotebook(t *testing.T) {
	b := rendertest.Open(t)
	rendertest.Available(t, rendertest.Lab)
	x := bundles(t)["profile"]
	page, err := rendertest.PageOf(rendertest.Lab, rendertest.Output{HTML: x.HTML, Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, b, page, rendertest.View{})
	if err := p.Wait("window.shown && " + rendertest.Settled); err != nil {
		t.Fatal(err)
	}
	if bad := eval[string](t, p, openAll); bad != "" {
		t.Fatal(bad)
	}
	n := eval[int](t, p, `(()=>{window.parts=[...document.querySelectorAll('.gpk-live canvas,.gpk-live button,.gpk-live input,.gpk-live select,.gpk-live summary,.gpk-live [tabindex]')];document.querySelectorAll('.gpk-panel').forEach(e=>e.hidden=false);return parts.length})()`)
	if n < 30 {
		t.Fatalf("%d focusable parts", n)
	}
	if bad := eval[string](t, p, `parts.filter(e=>e.dataset.lmSuppressShortcuts!=='true').map(e=>e.outerHTML.slice(0,90)).join('\n')`); bad != "" {
		t.Errorf("focusable without the attribute:\n%s", bad)
	}
	for _, sel := range []string{"canvas", "input[type=search]", "button[role=tab]"} {
		eval[bool](t, p, fmt.Sprintf(`(()=>{document.querySelector('.gpk-live %s').focus();return true})()`, sel))
		if err := p.Keys("abxf"); err != nil {
			t.Fatal(err)
		}
	}
	if keys := eval[string](t, p, `notebookKeys.join()`); keys != "" {
		t.Errorf("the notebook saw %s", keys)
	}
	// The check itself: outside of outputs the notebook does see keys.
	eval[bool](t, p, `(()=>{const n=document.querySelector('.jp-Notebook');n.tabIndex=0;n.focus();return true})()`)
	if err := p.Keys("b"); err != nil {
		t.Fatal(err)
	}
	if keys := eval[string](t, p, `notebookKeys.join()`); keys != "B" {
		t.Errorf("the notebook's own key gave %q, want B", keys)
	}
}

// view is the JavaScript for the first part of a kind in the first output.
func partOf(kind string) string {
	return `(async()=>{const g=document.querySelector('.gpk').gpk,i=g.doc.views.findIndex(v=>v.parts.some(p=>p.k==='` + kind + `')),k=g.doc.views[i].parts.findIndex(p=>p.k==='` + kind + `');window.it=(await g.open(i))[k];return true})()`
}

func TestTimelineInteraction(t *testing.T) {
	b := rendertest.Open(t)
	tr := sample(t)
	x, err := Timeline(tr, Options{})
	if err != nil {
		t.Fatal(err)
	}
	page, err := rendertest.PageOf(rendertest.Plain, rendertest.Output{HTML: x.HTML})
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, b, page, rendertest.View{})
	settle(t, p)
	eval[bool](t, p, partOf("timeline"))
	if n := eval[int](t, p, "it.model.D.n"); n != len(tr.Slices) {
		t.Errorf("%d events, want %d", n, len(tr.Slices))
	}
	// Times come back exactly: the sum of all durations and all starts.
	var starts, durs int64
	for _, s := range tr.Slices {
		starts += s.Start - tr.Meta.Start
		durs += s.Dur
	}
	if v := eval[[]float64](t, p, "[it.model.D.S.reduce((a,b)=>a+b,0),it.model.D.E.reduce((a,b,i)=>a+b-it.model.D.S[i],0)]"); int64(v[0]) != starts || int64(v[1]) != durs {
		t.Errorf("starts and durations add up to %v, want %d and %d", v, starts, durs)
	}
	box := eval[[]float64](t, p, `(()=>{const r=document.querySelector('.gpk canvas').getBoundingClientRect();return [r.left,r.top,r.width,r.height]})()`)
	x0, y0 := box[0]+box[2]*0.6, box[1]+80

	full := eval[[]float64](t, p, "it.show")
	must(t, p.Pointer(input.DispatchMouseEventTypeMouseWheel, x0, y0, 0, -200))
	if v := eval[[]float64](t, p, "it.show"); v[0] != full[0] || v[1] != full[1] {
		t.Error("a plain wheel zooms; it belongs to the page")
	}
	must(t, p.Pointer(input.DispatchMouseEventTypeMouseWheel, x0, y0, 2, -200))
	must(t, p.Wait(fmt.Sprintf("it.show[1]-it.show[0] < %f", (full[1]-full[0])*0.9)))
	before := eval[[]float64](t, p, "it.show")
	must(t, p.Drag(x0, y0, x0-60, y0, 0))
	must(t, p.Wait(fmt.Sprintf("it.show[0] > %f", before[0])))
	if v := eval[[]float64](t, p, "it.show"); v[1]-v[0] < (before[1]-before[0])*0.999 || v[1]-v[0] > (before[1]-before[0])*1.001 {
		t.Error("panning changed the zoom")
	}
	eval[bool](t, p, "(document.querySelector('.gpk canvas').focus(),true)")
	must(t, p.Keys("0"))
	must(t, p.Wait(fmt.Sprintf("it.show[0]===%f && it.show[1]===%f", full[0], full[1])))
	must(t, p.Keys("w"))
	must(t, p.Wait(fmt.Sprintf("it.show[1]-it.show[0] < %f", full[1]-full[0])))
	must(t, p.Keys("0"))

	must(t, p.Drag(x0-200, y0, x0, y0, 8))
	must(t, p.Wait(`/Range of/.test(document.querySelector('.gpk-detail').innerText) && document.querySelectorAll('.gpk-detail tbody tr').length>2`))

	must(t, p.Keys("/"))
	must(t, p.Wait(`document.activeElement.type==='search'`))
	eval[bool](t, p, `(document.activeElement.value='',true)`) // DevTools types the slash even though the key was handled
	must(t, p.Keys("sgemm"))
	want := 0
	for i := range tr.Slices {
		if tr.Name(&tr.Slices[i]) == "sgemm_128x64" {
			want++
		}
	}
	must(t, p.Wait(fmt.Sprintf(`/^%d of /.test(document.querySelector('.gpk-bar .gpk-dim').textContent)`, want)))
	must(t, p.Keys("\r"))
	must(t, p.Wait(`it.model.sel>=0 && /sgemm/.test(document.querySelector('.gpk-detail').innerText)`))
	text := eval[string](t, p, `document.querySelector('.gpk-detail').innerText`)
	for _, s := range []string{"Grid", "32 × 1 × 1", "Registers per thread", "500.000 µs", "from cudaLaunchKernel"} {
		if !strings.Contains(text, s) {
			t.Errorf("the details of a kernel lack %q: %s", s, text)
		}
	}
	at := eval[float64](t, p, "it.model.D.S[it.model.sel]")
	must(t, p.Keys("\r"))
	must(t, p.Wait(fmt.Sprintf("it.model.D.S[it.model.sel]>%f", at)))

	saved := eval[string](t, p, `it.save().text().then(s=>{const d=JSON.parse(s),x=d.traceEvents.filter(e=>e.ph==='X');return x.length+' '+d.traceEvents.filter(e=>e.ph==='s').length+' '+x.filter(e=>e.args).length})`)
	if saved != fmt.Sprintf("%d %d %d", len(tr.Slices), len(tr.Flows), 48*3) {
		t.Errorf("the saved trace has %s events, flows and arguments", saved)
	}

	// Hiding, pinning and closing tracks.
	h := eval[float64](t, p, "it.model.tracks.length")
	eval[bool](t, p, `(()=>{const d=document.querySelector('.gpk-pop');d.open=true;return true})()`)
	must(t, p.Wait(fmt.Sprintf(`document.querySelectorAll('.gpk-tracks input[type=checkbox]').length===%v`, h)))
	eval[bool](t, p, `(()=>{document.querySelector('.gpk-tracks input[type=checkbox]').click();document.querySelectorAll('.gpk-tracks button')[2].click();return true})()`)
	if v := eval[string](t, p, "it.model.tracks.map(t=>(t.hidden?'h':'')+(t.pin?'p':'')).join()"); v != "h,,p," {
		t.Errorf("hidden and pinned tracks are %q", v)
	}
	clean(t, p)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRangeFiltersTheAllocations(t *testing.T) {
	b := rendertest.Open(t)
	x, err := Profile(sample(t), Options{Views: []View{ViewMemory}})
	must(t, err)
	page, err := rendertest.PageOf(rendertest.Plain, rendertest.Output{HTML: x.HTML})
	must(t, err)
	p := open(t, b, page, rendertest.View{})
	settle(t, p)
	eval[bool](t, p, partOf("curve"))
	all := eval[int](t, p, `document.querySelectorAll('.gpk-live table')[0].rows.length`)
	eval[bool](t, p, `(it.choose([10e6,11e6]),true)`)
	some := eval[int](t, p, `document.querySelectorAll('.gpk-live table')[0].rows.length`)
	if some >= all || some < 2 {
		t.Errorf("a range leaves %d of %d rows", some, all)
	}
	clean(t, p)
}

func TestTableSortsFiltersAndSaves(t *testing.T) {
	b := rendertest.Open(t)
	g := Grid{Title: "numbers", Cols: []Column{{Name: "Name"}, {Name: "Value", Unit: UnitNumber, Heat: true}}, Sort: -1}
	for i := range 5000 {
		g.Rows = append(g.Rows, []any{fmt.Sprintf("row %d", i), float64((i * 7919) % 5000)})
	}
	g.Rows = append(g.Rows, []any{"=HYPERLINK(1)", -5.0}, []any{`quo"te,`, nil})
	x, err := Table(g, Options{})
	must(t, err)
	page, err := rendertest.PageOf(rendertest.Plain, rendertest.Output{HTML: x.HTML})
	must(t, err)
	p := open(t, b, page, rendertest.View{})
	settle(t, p)
	eval[bool](t, p, partOf("table"))
	if n := eval[int](t, p, `document.querySelectorAll('.gpk-live tbody tr').length`); n > 100 {
		t.Errorf("%d rows are in the page, windowing is off", n)
	}
	eval[bool](t, p, `(document.querySelectorAll('.gpk-live thead button')[1].click(),true)`)
	if v := eval[string](t, p, `document.querySelector('.gpk-live tbody tr').innerText.trim()`); !strings.HasSuffix(v, "4,999") {
		t.Errorf("the largest is %q", v)
	}
	if v := eval[string](t, p, `document.querySelectorAll('.gpk-live thead th')[1].getAttribute('aria-sort')`); v != "descending" {
		t.Errorf("aria-sort is %q", v)
	}
	eval[bool](t, p, `(it.filter('/^row 1[01]$/'),true)`)
	if n := eval[int](t, p, "it.shown"); n != 2 {
		t.Errorf("the filter leaves %d rows", n)
	}
	eval[bool](t, p, `(it.filter(''),true)`)
	csv := eval[string](t, p, "it.csv()")
	if strings.Count(csv, "\n") != 5003 || !strings.Contains(csv, "\n'=HYPERLINK(1),-5\n") || !strings.Contains(csv, "\n\"quo\"\"te,\",\n") {
		t.Errorf("csv ends %q", csv[len(csv)-120:])
	}
	clean(t, p)
}

func TestTimeUnitHoldsInLiveTables(t *testing.T) {
	b := rendertest.Open(t)
	x, err := Profile(sample(t), Options{Views: []View{ViewTable}, TimeUnit: "us"})
	must(t, err)
	page, err := rendertest.PageOf(rendertest.Plain, rendertest.Output{HTML: x.HTML})
	must(t, err)
	p := open(t, b, page, rendertest.View{})
	settle(t, p)
	text := eval[string](t, p, `document.querySelector('.gpk-live table tbody').innerText`)
	if !strings.Contains(text, " µs") || strings.Contains(text, " ms") || strings.Contains(text, " ns") {
		t.Errorf("units differ: %.300s", text)
	}
	clean(t, p)
}

// TestThemes checks that drawings follow the system's scheme, and the host's theme when it changes.
func TestThemes(t *testing.T) {
	b := rendertest.Open(t)
	x, err := Timeline(plainTrace(t), Options{})
	must(t, err)
	const corner = `(()=>{const c=document.querySelector('.gpk-live canvas'),d=c.getContext('2d').getImageData(c.width-3,c.height-3,1,1).data;return d[0]+d[1]+d[2]})()`
	page, err := rendertest.PageOf(rendertest.Plain, rendertest.Output{HTML: x.HTML})
	must(t, err)
	for _, dark := range []bool{false, true} {
		var standalone bytes.Buffer
		must(t, Page(&standalone, []*trace.Trace{plainTrace(t)}, Options{Views: []View{ViewTimeline}}))
		p := open(t, b, standalone.String(), rendertest.View{Dark: dark, ReducedMotion: true})
		settle(t, p)
		if v := eval[int](t, p, corner); (v < 384) != dark {
			t.Errorf("dark %v: the ground of a page adds up to %d", dark, v)
		}
		if v := eval[string](t, p, `[...document.querySelectorAll('.gpk *')].filter(e=>{const s=getComputedStyle(e);return s.animationName!=='none'||parseFloat(s.transitionDuration)>0}).map(e=>e.tagName).join()`); v != "" {
			t.Errorf("something moves: %s", v)
		}
	}
	p := open(t, b, page, rendertest.View{Dark: true})
	settle(t, p)
	if v := eval[int](t, p, corner); v < 384 {
		t.Error("a light host is drawn dark because the system is")
	}
	eval[bool](t, p, `(()=>{const s=document.body.style;s.setProperty('--jp-layout-color0','#111');document.body.dataset.jpThemeLight='false';return true})()`)
	must(t, p.Wait(corner+"<384"))
	eval[bool](t, p, `(()=>{const s=document.body.style;s.setProperty('--jp-layout-color0','#fff');document.body.dataset.jpThemeLight='true';return true})()`)
	must(t, p.Wait(corner+">384"))
	clean(t, p)
}

// TestAccessibility checks names, roles and states of what the script builds.
func TestAccessibility(t *testing.T) {
	b := rendertest.Open(t)
	x, err := Profile(sample(t), Options{Charts: true, Views: Views()})
	must(t, err)
	page, err := rendertest.PageOf(rendertest.Plain, rendertest.Output{HTML: x.HTML})
	must(t, err)
	p := open(t, b, page, rendertest.View{})
	settle(t, p)
	if bad := eval[string](t, p, openAll); bad != "" {
		t.Fatal(bad)
	}
	for what, expr := range map[string]string{
		"controls without a name":           `[...document.querySelectorAll('.gpk-live button,.gpk-live input,.gpk-live select,.gpk-live summary')].filter(e=>!(e.textContent.trim()||e.getAttribute('aria-label')||e.closest('label')))`,
		"canvases without a name":           `[...document.querySelectorAll('.gpk-live canvas')].filter(c=>!c.closest('[aria-label]'))`,
		"tables without a caption":          `[...document.querySelectorAll('.gpk-live table')].filter(c=>!c.caption||!c.caption.textContent)`,
		"headers without a scope":           `[...document.querySelectorAll('.gpk-live th')].filter(c=>!c.scope)`,
		"tabs without their panel":          `[...document.querySelectorAll('[role=tab]')].filter(e=>document.getElementById(e.getAttribute('aria-controls')).getAttribute('aria-labelledby')!==e.id)`,
		"tab stops beside the chosen tab":   `[...document.querySelectorAll('[role=tab]')].filter(e=>(e.tabIndex===0)!==(e.getAttribute('aria-selected')==='true'))`,
		"ids that are in the page twice":    `[...document.querySelectorAll('.gpk [id]')].filter(e=>document.querySelectorAll('#'+e.id).length>1)`,
		"pictures without alternative text": `[...document.images].filter(i=>!i.alt)`,
	} {
		if bad := eval[string](t, p, expr+`.slice(0,5).map(e=>e.outerHTML.slice(0,120)).join('\n')`); bad != "" {
			t.Errorf("%s:\n%s", what, bad)
		}
	}
	if n := eval[int](t, p, `document.querySelectorAll('.gpk-fallback table').length`); n < 4 {
		t.Errorf("%d static tables are left for readers of the page", n)
	}
	// The tabs by keyboard.
	eval[bool](t, p, `(document.querySelector('[role=tab][aria-selected=true]').focus(),true)`)
	before := eval[string](t, p, `document.activeElement.textContent`)
	must(t, p.Keys("\u0303"))
	if v := eval[string](t, p, `document.activeElement.textContent+document.activeElement.getAttribute('aria-selected')`); v == before+"true" || !strings.HasSuffix(v, "true") {
		t.Errorf("after an arrow key the tab is %q", v)
	}
	clean(t, p)
}

func TestScreenshots(t *testing.T) {
	dir := os.Getenv("GANDER_SCREENSHOTS")
	if dir == "" {
		t.Skip("GANDER_SCREENSHOTS names the folder to put screenshots in; without it none are taken")
	}
	must(t, os.MkdirAll(dir, 0o755))
	b := rendertest.Open(t)
	var buf bytes.Buffer
	must(t, Page(&buf, []*trace.Trace{sampleOf(t, friendly)}, Options{Title: "Training run"}))
	for _, scheme := range []string{"light", "dark"} {
		p := open(t, b, buf.String(), rendertest.View{Dark: scheme == "dark"})
		settle(t, p)
		views := eval[[]string](t, p, "document.querySelector('.gpk').gpk.doc.views.map(v=>v.id)")
		for _, v := range views {
			eval[bool](t, p, fmt.Sprintf("document.querySelector('.gpk').gpk.open(%q).then(()=>new Promise(r=>setTimeout(r,200))).then(()=>true)", v))
			shot, err := p.Screenshot()
			must(t, err)
			if _, err := png.DecodeConfig(bytes.NewReader(shot)); err != nil {
				t.Error(err)
			}
			must(t, os.WriteFile(filepath.Join(dir, v+"-"+scheme+".png"), shot, 0o644))
		}
	}
}
