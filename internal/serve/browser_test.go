package serve

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/render/rendertest"
)

// TestInABrowser walks through the list as a user does: open a report, see a new file appear, compare two.
func TestInABrowser(t *testing.T) {
	b := rendertest.Open(t)
	root := t.TempDir()
	const hostile = `"><img src=x onerror="document.title='owned'">&amp;<script>document.title='owned'.json`
	write(t, root, "job/host_1.1700000000000000000.pt.trace.json", tiny)
	write(t, root, "job/host_2.1700000000100000000.pt.trace.json", strings.ReplaceAll(tiny, `"dur":5`, `"dur":7`))
	write(t, root, "other/"+strings.ReplaceAll(hostile, "/", ""), tiny)
	s := httptest.NewServer(New(root))
	defer s.Close()
	p, err := b.Visit(s.URL+"/", rendertest.View{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	is := func(what, expr string) {
		t.Helper()
		var err error
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			var ok bool
			if ok, err = rendertest.Eval[bool](p, "!!("+expr+")"); ok { // an error is a page on its way to the next
				return
			}
		}
		t.Fatalf("%s: not after a minute (%v; errors of the page: %v)", what, err, p.Errors())
	}
	click := func(expr string) {
		t.Helper()
		if _, err := rendertest.Eval[bool](p, "("+expr+".click(), true)"); err != nil {
			t.Fatal(err)
		}
	}
	const links = `[...document.querySelectorAll("a")].map(a=>a.textContent)`
	is("two workers and the recording are listed", links+`.includes("host_1")&&`+links+`.includes("host_2")`)
	is("the hostile name is text", links+`.some(s=>s.startsWith('"><img src=x'))&&!document.querySelector("img")&&document.title.startsWith("Traces in")`)

	write(t, root, "job/new.json", tiny)
	is("a new file appears without a hand on the page", links+`.includes("new.json")`)

	click(`document.querySelector("button")`)
	is("comparing nothing says what to do", `document.getElementById("hint").textContent.includes("two")`)
	click(`[...document.querySelectorAll("input")].find(i=>i.getAttribute("aria-label")=="compare new.json")`)
	click(`document.querySelector("input")`)
	click(`document.querySelector("button")`)
	is("the comparison opens", `location.pathname.startsWith("/diff/")&&document.readyState=="complete"`)
	is("what was chosen first is the base", `document.querySelector(".gpk").textContent.includes("job/new.json → ")`)
	is("the comparison is live", rendertest.Settled)
	is("it names the operator", `document.body.textContent.includes("aten::<b>")`)
	if _, err := rendertest.Eval[bool](p, "(history.back(), true)"); err != nil {
		t.Fatal(err)
	}
	is("back at the list", `location.pathname=="/"&&document.readyState=="complete"`)

	click(`[...document.querySelectorAll("a")].find(a=>a.textContent=="host_2")`)
	is("a worker's report opens", `location.pathname.startsWith("/report/")&&document.readyState=="complete"`)
	is("the report is live", rendertest.Settled)
	is("it names the operator", `document.body.textContent.includes("aten::<b>")`)
	is("nothing from elsewhere ran", `document.title!="owned"`)
	if errs := p.Errors(); len(errs) > 0 {
		t.Errorf("errors in the page: %v", errs)
	}
	if dir := os.Getenv("GANDER_SHOTS"); dir != "" {
		if png, err := p.Screenshot(); err != nil || os.WriteFile(filepath.Join(dir, "serve.png"), png, 0o644) != nil {
			t.Errorf("taking a screenshot: %v", err)
		}
	}
}
