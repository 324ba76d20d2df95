package nbhtml

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gander-go/gander/profiler/trace"
	"github.com/gander-go/gander/render"
	"github.com/gander-go/gander/render/rendertest"
)

// report is the output of a profile of one span.
func report(t *testing.T) string {
	t.Helper()
	tr := &trace.Trace{Meta: trace.Meta{Rank: trace.NoRank, End: 1000}}
	tr.Processes = []trace.Process{{PID: 1, Device: trace.NoDevice}}
	tr.Tracks = []trace.Track{{Kind: trace.TrackGoroutine, ID: 1, Device: trace.NoDevice}}
	tr.Slices = []trace.Slice{{Start: 10, Dur: 900, Name: tr.Strings.ID("main.work"), Cat: tr.Category("call", trace.ClassCall)}}
	b, err := render.Profile(tr, render.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return b.HTML
}

func show(t *testing.T, b *rendertest.Browser, o Options) *rendertest.Page {
	t.Helper()
	var nb map[string]any
	if err := json.Unmarshal(tour(t), &nb); err != nil {
		t.Fatal(err)
	}
	nb["cells"] = append(nb["cells"].([]any), map[string]any{"cell_type": "code", "source": "%%profile\nwork()", "metadata": map[string]any{}, "outputs": []any{
		map[string]any{"output_type": "display_data", "metadata": map[string]any{}, "data": map[string]any{"text/html": report(t), "text/plain": "table"}}}})
	raw, err := json.Marshal(nb)
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Show(write(t, raw, o), rendertest.View{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func evalText(t *testing.T, p *rendertest.Page, expr string) string {
	t.Helper()
	s, err := rendertest.Eval[string](p, expr)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCodeIsReadable compares the colour of every piece of code with the ground.
func TestCodeIsReadable(t *testing.T) {
	b := rendertest.Open(t)
	for _, dark := range []bool{false, true} {
		p, err := b.Show(write(t, tour(t), Options{}), rendertest.View{Dark: dark})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		// Contrast as WCAG 2 has it; 3 is its limit for large text and for parts of pictures.
		bad := evalText(t, p, `(()=>{const rgb=s=>s.match(/[\d.]+/g).slice(0,3).map(Number),lum=c=>c.map(v=>{v/=255;return v<=.03928?v/12.92:((v+.055)/1.055)**2.4}).reduce((a,v,i)=>a+v*[.2126,.7152,.0722][i],0);
const ground=lum(rgb(getComputedStyle(document.body).backgroundColor)),out=[];
for(const e of document.querySelectorAll('pre span')){if(!e.textContent.trim()||e.children.length)continue;const l=lum(rgb(getComputedStyle(e).color)),c=(Math.max(l,ground)+.05)/(Math.min(l,ground)+.05);if(c<3)out.push(e.className+' '+e.textContent+' '+c.toFixed(1))}
return [...new Set(out)].join('\n')})()`)
		if bad != "" {
			t.Errorf("dark %v: hard to read:\n%s", dark, bad)
		}
	}
}

func TestPageInABrowser(t *testing.T) {
	b := rendertest.Open(t)
	t.Run("trusted", func(t *testing.T) {
		p := show(t, b, Options{})
		if err := p.Wait(rendertest.Settled); err != nil {
			t.Fatal(err)
		}
		if s := evalText(t, p, `[window.PWNED,window.RAN,document.querySelector('.gpk').dataset.state].join()`); s != ",1,live" {
			t.Errorf("page state %q: Markdown must not run, the output's script once, the report must be live", s)
		}
		if l, e := p.Loads(), p.Errors(); len(l)+len(e) > 0 {
			t.Errorf("loads %q, errors %q", l, e)
		}
	})
	t.Run("sanitised", func(t *testing.T) {
		p := show(t, b, Options{Sanitize: true})
		if s := evalText(t, p, `[window.PWNED,window.RAN,document.querySelectorAll('.gpk-live,canvas').length,document.querySelectorAll('script').length].join()`); s != ",,0,0" {
			t.Errorf("page state %q", s)
		}
		if s := evalText(t, p, `document.body.innerText`); !strings.Contains(s, "main.work") || !strings.Contains(s, "Key averages") || strings.Contains(s, "H4sI") {
			t.Error("the report is not readable without its script")
		}
		if s := evalText(t, p, `String([...document.images].filter(i=>i.naturalWidth>500).length>0)`); s != "true" {
			t.Error("the report's pictures are gone")
		}
	})
}
