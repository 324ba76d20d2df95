package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gander-go/gander/profiler/trace"
	"github.com/gander-go/gander/render/rendertest"
)

// TestCriticalPathIsMarked presses the button that fades what is not on the critical path.
func TestCriticalPathIsMarked(t *testing.T) {
	tr := &trace.Trace{Meta: trace.Meta{Rank: trace.NoRank, End: 100}}
	tr.Tracks = []trace.Track{{Kind: trace.TrackThread, Name: "main"}, {Kind: trace.TrackThread, Name: "other"}}
	for i, name := range []string{"on", "off", "on too", "off"} {
		tr.Slices = append(tr.Slices, trace.Slice{Start: int64(i/2) * 50, Dur: 40, Track: trace.TrackID(i % 2), Name: tr.Strings.ID(name), Cat: tr.Category("cpu_op", trace.ClassOp)})
	}
	tr.Sort()
	var path []int32
	for i := range tr.Slices {
		if strings.HasPrefix(tr.Name(&tr.Slices[i]), "on") {
			path = append(path, int32(i))
		}
	}
	part, _, blob, err := buildTimeline(tr, notebookBudget, nil, path)
	must(t, err)
	c := newContainer(Options{})
	part.Blob = c.addBlob(blob)
	c.view(ViewTimeline, "Timeline", part)
	h, err := c.html(Options{})
	must(t, err)
	page, err := rendertest.PageOf(rendertest.Plain, rendertest.Output{HTML: h})
	must(t, err)
	p := open(t, rendertest.Open(t), page, rendertest.View{})
	settle(t, p)
	eval[bool](t, p, partOf("timeline"))
	shown := `[...Array(it.model.D.n).keys()].filter(g=>it.model.on(it.model.D.N[g],g)).map(g=>it.model.names[it.model.D.N[g]]).sort().join()`
	if got := eval[string](t, p, shown); got != "off,off,on,on too" {
		t.Errorf("at first %s", got)
	}
	eval[bool](t, p, `([...document.querySelectorAll('button')].find(b=>b.textContent=='Critical path').click(),it.paint(),true)`)
	if got := eval[string](t, p, shown); got != "on,on too" {
		t.Errorf("on the path are %s", got)
	}
	clean(t, p)
}

// TestMillionEvents opens the page of a million events. It bounds work per paint and sizes, which do not depend on how
// busy the machine is the way frame times do.
func TestMillionEvents(t *testing.T) {
	if raceEnabled {
		t.Skip("a million events under the race detector test only patience")
	}
	b := rendertest.Open(t)
	tr := large(1_000_000)
	var buf bytes.Buffer
	must(t, Page(&buf, []*trace.Trace{tr}, Options{}))
	if buf.Len() > 20<<20 {
		t.Errorf("the page is %d bytes", buf.Len())
	}
	p := open(t, b, buf.String(), rendertest.View{})
	settle(t, p)
	loaded := eval[float64](t, p, "performance.now()")
	eval[bool](t, p, partOf("timeline"))
	took := eval[float64](t, p, "performance.now()") - loaded
	work := eval[[]float64](t, p, `(()=>{const w=[];for(let i=0;i<120;i++){const f=i%40/40,d=it.model.end*(i<40?1-.9*f:i<80?.1:.5);it.go(it.model.end*.3*f,it.model.end*.3*f+d);it.paint();w.push(it.work)}w.sort((a,b)=>a-b);return [w[60],w[114]]})()`)
	find := eval[float64](t, p, `(()=>{const t=performance.now();it.search('kernel_39');it.step(1);return performance.now()-t})()`)
	t.Logf("page %.1f MB; open %.0f ms, timeline %.0f ms more; paint %.1f ms median, %.1f ms p95; search and jump %.1f ms", float64(buf.Len())/1e6, loaded, took, work[0], work[1], find)
	if n := eval[int](t, p, "it.model.D.n"); n < 900_000 {
		t.Errorf("%d events", n)
	}
	if work[0] > 16 {
		t.Errorf("a paint takes %.1f ms", work[0])
	}
	clean(t, p)
}
