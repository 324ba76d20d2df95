package eval

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval/check"
	"github.com/gander-go/gander/kernel/eval/mods"
	"github.com/gander-go/gander/kernel/session/link"
)

var packages = sync.OnceValues(func() (*mods.Modules, error) {
	dir, err := os.MkdirTemp("", "gander-eval")
	if err != nil {
		return nil, err
	}
	goCmd, err := exec.LookPath("go")
	if err != nil {
		return nil, err
	}
	return mods.New(context.Background(), mods.Config{Go: goCmd, Dir: dir, Env: append(os.Environ(), "GOFLAGS=", "GOWORK=off")})
})

// fakeRunner answers runs from a list.
type fakeRunner struct {
	generation int
	runs       []link.Run
	answer     func(r link.Run) (*link.Done, error)
	values     []link.VarValue
}

func (f *fakeRunner) Run(ctx context.Context, r link.Run, out cell.Output, in cell.Input) (*link.Done, error) {
	f.runs = append(f.runs, r)
	if f.answer != nil {
		if d, err := f.answer(r); d != nil || err != nil {
			return d, err
		}
	}
	return &link.Done{ID: r.ID, Wall: 5}, nil
}
func (f *fakeRunner) Vars(context.Context, ...string) ([]link.VarValue, error) { return f.values, nil }
func (f *fakeRunner) Generation() int                                          { return f.generation }
func (f *fakeRunner) Restart(context.Context) error                            { f.generation++; return nil }

// fakeEngine builds units whose source is the cell.
type fakeEngine struct {
	kind    link.Engine
	refuses string
	err     error
	commits int
	resets  int
}

func (f *fakeEngine) Supports(*check.Checked) (bool, string) { return f.refuses == "", f.refuses }
func (f *fakeEngine) Build(_ context.Context, c *check.Checked, _ check.BuildOptions) (link.Unit, func(), error) {
	u := link.Unit{Engine: f.kind, Source: c.Code}
	if f.kind == link.EngineNative {
		u.Plugins = []string{"cell.so"}
	}
	return u, func() { f.commits++ }, f.err
}
func (f *fakeEngine) Reset() { f.resets++ }
func (f *fakeEngine) Translate(text string) string {
	return strings.ReplaceAll(text, "In[#abc]", "In[2]")
}

// output collects what is shown.
type output struct{ text strings.Builder }

func (o *output) Stream(name cell.StreamName, text string) {
	o.text.WriteString(string(name) + ": " + text)
}
func (o *output) Display(cell.Bundle) {}
func (o *output) Update(cell.Bundle)  {}
func (o *output) Clear(bool)          {}

type rig struct {
	*Evaluator
	t              *testing.T
	runner         *fakeRunner
	native, interp *fakeEngine
	n              int
	out            output
}

func newRig(t *testing.T) *rig {
	t.Helper()
	p, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, runner: &fakeRunner{generation: 1}, native: &fakeEngine{kind: link.EngineNative},
		interp: &fakeEngine{kind: link.EngineInterp, refuses: "declares a type"}}
	r.Evaluator = New(Config{Runner: r.runner, Packages: p, Native: r.native, Interp: r.interp})
	return r
}

func (r *rig) do(code string) *cell.Result {
	r.n++
	return r.Execute(context.Background(), &cell.Cell{N: r.n, Code: code}, &r.out, nil)
}

func (r *rig) ok(code string) *cell.Result {
	r.t.Helper()
	res := r.do(code)
	if res.Err != nil {
		r.t.Fatalf("%s: %v", code, res.Err)
	}
	return res
}

func (r *rig) fails(code, name, message string) *cell.UserError {
	r.t.Helper()
	res := r.do(code)
	if res.Err == nil || res.Err.Name != name || !strings.Contains(res.Err.Message, message) {
		r.t.Fatalf("%s: got %v, want %s with %q", code, res.Err, name, message)
	}
	return res.Err
}

func TestFailedCheckCommitsNothing(t *testing.T) {
	r := newRig(t)
	r.ok("x := 1")
	r.fails("y := 2\nx := \"s\"\nz := undefined1", "CompileError", "undefined: undefined1")
	r.fails("y", "CompileError", "undefined: y")
	r.ok("x + 1")
	if n := len(r.runner.runs); n != 2 {
		t.Errorf("%d units ran, want 2", n)
	}
}

func TestFailedBuildCommitsNothing(t *testing.T) {
	r := newRig(t)
	r.native.err = &cell.UserError{Name: "CompileError", Message: "no"}
	r.fails("x := 1", "CompileError", "no")
	r.native.err = errors.New("the linker is away")
	r.fails("x := 1", "BuildError", "linker is away")
	r.native.err = nil
	r.fails("x", "CompileError", "undefined: x")
	if r.native.commits != 0 {
		t.Errorf("%d commits of units that were not built", r.native.commits)
	}
}

// TestFailedRun checks what is defined after a panic on the third line.
func TestFailedRun(t *testing.T) {
	r := newRig(t)
	r.ok("late := 1")
	r.runner.answer = func(run link.Run) (*link.Done, error) {
		if run.Cell != 2 {
			return nil, nil
		}
		return &link.Done{Err: &link.Failure{Kind: "panic", Message: "boom", Causes: []string{"boom", "inner"},
			Stack: "goroutine 7 [running]:\nruntime/debug.Stack()\n\t/usr/go/debug.go:1 +0x1\ngander/d12ab.G__f(0x1)\n\tIn[#abc]:6 +0x2\n" +
				"main.Cell()\n\tIn[#abc]:3 +0x4\nruntime.main()\n\t/usr/go/main.go:1 +0x2\n"}}, nil
	}
	err := r.fails("early := 1\nused := \"u\"\nearly = f()\nlate := \"s\"\nnever := 3\nfunc f() int { panic(used) }", "panic", "boom")
	want := []cell.Frame{{Func: "f", Pos: cell.Pos{Cell: 2, Line: 6, Col: 1}}, {Pos: cell.Pos{Cell: 2, Line: 3, Col: 1}}}
	if len(err.Frames) != 2 || err.Frames[0] != want[0] || err.Frames[1] != want[1] {
		t.Errorf("frames %+v, want %+v", err.Frames, want)
	}
	if len(err.Causes) != 1 || err.Causes[0] != "inner" {
		t.Errorf("causes %q, want the one that says more", err.Causes)
	}
	text := strings.Join(err.Text, "\n")
	for _, s := range []string{"boom", "caused by: inner", "at f (In[2]:6)", "func f() int { panic(used) }", "at In[2]:3"} {
		if !strings.Contains(text, s) {
			t.Errorf("the traceback lacks %q:\n%s", s, text)
		}
	}
	if strings.Contains(text, "/usr/go") || strings.Contains(text, "G__") {
		t.Errorf("the traceback shows what is not the user's:\n%s", text)
	}
	r.ok("early + f()")
	r.ok("late + 1") // still the int
	r.fails("never", "CompileError", "undefined: never")
	if r.native.commits != 4 {
		t.Errorf("%d commits, want 4", r.native.commits)
	}
}

func TestEngineChoice(t *testing.T) {
	r := newRig(t)
	r.ok("x := 1")
	r.interp.refuses = ""
	r.ok("x")
	if got := [2]link.Engine{r.runner.runs[0].Unit.Engine, r.runner.runs[1].Unit.Engine}; got != [2]link.Engine{"native", "interp"} {
		t.Errorf("engines %v", got)
	}
	if err := r.SetEngine("native"); err != nil {
		t.Fatal(err)
	}
	r.ok("x")
	if got := r.runner.runs[2].Unit.Engine; got != "native" {
		t.Errorf("engine %v, want native", got)
	}
	if err := r.SetEngine("interp"); err != nil {
		t.Fatal(err)
	}
	r.interp.refuses = "declares a type"
	r.fails("type T int", "NotSupported", "declares a type")
	if err := r.SetEngine("fast"); err == nil {
		t.Error("an unknown engine was accepted")
	}
	r.Evaluator.cfg.Native = nil
	r.Evaluator.cfg.NoNative = "compiling cells needs a C compiler"
	r.fails("type T int", "NotSupported", "C compiler")
}

func TestLostSession(t *testing.T) {
	r := newRig(t)
	r.ok("x := 1")
	r.runner.generation++
	r.fails("x", "CompileError", "undefined: x")
	if r.native.resets != 1 {
		t.Errorf("%d resets, want 1", r.native.resets)
	}
	r.ok("x := 1")
	died := false
	r.runner.answer = func(link.Run) (*link.Done, error) {
		if died {
			return nil, nil
		}
		died = true
		r.runner.generation++
		return &link.Done{Err: &link.Failure{Kind: "died", Message: "fatal error: out of memory"}}, nil
	}
	r.fails("y := x", "SessionDied", "out of memory")
	r.fails("x", "CompileError", "undefined: x")
	// The process is found dead when the cell is about to run: it is checked again for the new one.
	first := true
	r.runner.answer = func(link.Run) (*link.Done, error) {
		if first {
			first = false
			r.runner.generation++
			return nil, errors.New("restarted meanwhile")
		}
		return nil, nil
	}
	r.ok("z := 3")
}

func TestWarningsAreShownOnce(t *testing.T) {
	r := newRig(t)
	r.ok("func f() { unused := 1 }\nimport \"os\"")
	if got, want := r.out.text.String(), "stderr: In[1]:1:12: warning: declared and not used: unused\n"; got != want {
		t.Errorf("shown %q, want %q", got, want)
	}
	r.ok("f()")
	if strings.Count(r.out.text.String(), "warning") != 1 {
		t.Errorf("shown again: %q", r.out.text.String())
	}
}

func TestImportsAloneRunNothing(t *testing.T) {
	r := newRig(t)
	r.ok("import \"strings\"")
	r.ok("// nothing")
	r.ok("")
	if len(r.runner.runs) != 0 {
		t.Errorf("%d units ran", len(r.runner.runs))
	}
	r.ok("import _ \"embed\"")
	r.ok("strings.ToUpper(\"x\")")
	if len(r.runner.runs) != 2 {
		t.Errorf("%d units ran, want 2", len(r.runner.runs))
	}
}

func TestPositionsOfLaterLines(t *testing.T) {
	r := newRig(t)
	c := &cell.Cell{N: 1, Code: "%magic\n%other\nx := y"}
	res, _ := r.Run(context.Background(), c, "x := y", 3, RunOptions{}, &r.out, nil)
	if res.Err == nil || res.Err.Diags[0].Pos != (cell.Pos{Cell: 1, Line: 3, Col: 6}) {
		t.Fatalf("got %+v", res.Err)
	}
	if text := strings.Join(res.Err.Text, "\n"); !strings.Contains(text, "3 | x := y") {
		t.Errorf("excerpt of another line:\n%s", text)
	}
}

func TestInterruptBeforeRun(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	res := r.Execute(ctx, &cell.Cell{N: 1, Code: "x := 1"}, &r.out, nil)
	if res.Err == nil || res.Err.Name != "Interrupted" || len(r.runner.runs) != 0 {
		t.Errorf("got %v after %d runs", res.Err, len(r.runner.runs))
	}
}

func TestExpression(t *testing.T) {
	r := newRig(t)
	r.ok("x := 1")
	r.runner.answer = func(link.Run) (*link.Done, error) {
		return &link.Done{Value: &link.Bundle{Text: map[string]string{"text/plain": "2"}}}, nil
	}
	b, ue := r.Expression(context.Background(), "x + 1")
	if ue != nil || b.Data["text/plain"] != "2" {
		t.Errorf("got %v, %v", b, ue)
	}
	for _, bad := range []string{"y := 1", "x; x", "func f() {}", "nope", ""} {
		if _, ue := r.Expression(context.Background(), bad); ue == nil {
			t.Errorf("%q was evaluated", bad)
		}
	}
	r.fails("y", "CompileError", "undefined: y")
}

func TestInspectShowsValues(t *testing.T) {
	r := newRig(t)
	r.ok("// total is what it costs.\ntotal := 12")
	r.runner.values = []link.VarValue{{Name: "total", Value: "12", Type: "int", Len: -1}}
	b := r.Inspect(context.Background(), "total", 2, 0)
	if b == nil {
		t.Fatal("nothing found")
	}
	for mime, want := range map[string]string{"text/plain": "var total int = 12\n// from In[1]\n\ntotal is what it costs.",
		"text/markdown": "```go\nvar total int = 12\n```\n*from `In[1]`*\n\ntotal is what it costs.\n"} {
		if got := b.Data[mime]; got != want {
			t.Errorf("%s is %q, want %q", mime, got, want)
		}
	}
	vars, err := r.Vars(context.Background())
	if err != nil || len(vars) != 1 || vars[0].Value != "12" || vars[0].Type != "int" {
		t.Errorf("variables %v, %v", vars, err)
	}
}

// changing are packages that say what a test wants them to say.
type changing struct {
	Packages
	changed, local []string
	adopted        int
}

func (c *changing) Changed() []string { l := c.changed; c.changed = nil; return l }
func (c *changing) Adopt()            { c.adopted++ }
func (c *changing) Local() []string   { return c.local }

// TestChangedPackages changes a package before and after a cell has loaded it.
func TestChangedPackages(t *testing.T) {
	r := newRig(t)
	ch := &changing{Packages: r.cfg.Packages, local: []string{"strings"}} // any package that can be imported will do
	r.cfg.Packages = ch
	ch.changed = []string{"strings"}
	r.ok("x := 1")
	if want := "stderr: Note: package strings has changed on disk and is built again.\n"; r.out.text.String() != want || ch.adopted != 1 {
		t.Errorf("before it is loaded: %q, adopted %d times", r.out.text.String(), ch.adopted)
	}
	r.out.text.Reset()
	r.ok("var b strings.Builder")
	ch.changed = []string{"strings"}
	r.ok("x")
	if got := r.out.text.String(); !strings.Contains(got, "keeps it as it was") || ch.adopted != 1 {
		t.Errorf("when it is loaded: %q, adopted %d times", got, ch.adopted)
	}
	if err := r.Reset(context.Background()); err != nil || ch.adopted != 2 {
		t.Errorf("a reset: %v, adopted %d times", err, ch.adopted)
	}
	r.out.text.Reset()
	r.cfg.Native = &reloading{fakeEngine: r.native}
	r.ok("var b strings.Builder")
	ch.changed = []string{"strings"}
	r.ok("b.Len()")
	if got := r.out.text.String(); !strings.Contains(got, "built again") || !strings.Contains(got, "old version are in b;") || ch.adopted != 3 {
		t.Errorf("with an engine that can: %q, adopted %d times", got, ch.adopted)
	}
}

type reloading struct{ *fakeEngine }

func (*reloading) Reload([]string) error { return nil }

func TestErrorHTMLEscapes(t *testing.T) {
	r := newRig(t)
	err := r.fails("x := \"<script>\" + 1", "CompileError", "mismatched")
	if strings.Contains(err.HTML, "<script>") || !strings.Contains(err.HTML, "&lt;script&gt;") {
		t.Errorf("HTML is not escaped: %s", err.HTML)
	}
}

func TestExcerpt(t *testing.T) {
	tests := []struct {
		code                       string
		line, col, endLine, endCol int
		want                       string
	}{
		{"a\n\tb := c1 + d", 2, 7, 0, 0, "    2 | \tb := c1 + d|      | \t     ^^"},
		{"größe := x", 1, 12, 0, 0, "    1 | größe := x|      |          ^"},
		{"x", 1, 2, 0, 0, "    1 | x|      |  ^"},
		{"abc def", 1, 1, 1, 8, "    1 | abc def|      | ^^^^^^^"},
		{"x", 3, 1, 0, 0, ""},
		{"x", 0, 0, 0, 0, ""},
		{"x", 1, 0, 0, 0, "    1 | x"},
	}
	for _, tt := range tests {
		if got := strings.Join(excerpt(tt.code, tt.line, tt.col, tt.endLine, tt.endCol), "|"); got != tt.want {
			t.Errorf("excerpt(%q, %d, %d) = %q, want %q", tt.code, tt.line, tt.col, got, tt.want)
		}
	}
}

func TestFrames(t *testing.T) {
	r := newRig(t)
	deep := "goroutine 1 [running]:\n" + strings.Repeat("main.f(...)\n\tIn[1]:2 +0x1\nmain.g(...)\n\tIn[1]:3 +0x1\n", 500) + "main.Cell()\n\tIn[1]:9 +0x1\n"
	fr := r.frames(deep)
	if len(fr) != maxFrames || fr[maxFrames-1].Line != 9 {
		t.Errorf("%d frames, the last %+v", len(fr), fr[len(fr)-1])
	}
	for line, want := range map[string]string{
		"main.(*T).M(0x1, 0x2)":                       "(*T).M",
		"gander/d12ab.(*G__p).move(0x0)":              "(*p).move",
		"main.Cell()":                                 "",
		"main.Cell.func1()":                           "",
		"created by main.start in goroutine 7":        "start",
		"example.com/mod/pkg.Do[...](0x1)":            "pkg.Do",
		"encoding/json.(*Decoder).Decode(0x1, {0x2})": "json.(*Decoder).Decode",
	} {
		if got := funcName(line); got != want {
			t.Errorf("funcName(%q) = %q, want %q", line, got, want)
		}
	}
}

// discarding builds anew what could not be loaded, once.
type discarding struct {
	*fakeEngine
	hope int
}

func (d *discarding) Discard(link.Unit) bool { d.hope--; return d.hope >= 0 }
func (d *discarding) Notes() []string        { return []string{"the cache is full"} }

// TestLoadFailure runs a cell again whose plugin the session process could not load.
func TestLoadFailure(t *testing.T) {
	for hope, want := range []string{"LoadError", ""} {
		r := newRig(t)
		r.cfg.Native = &discarding{r.native, hope}
		r.runner.answer = func(link.Run) (*link.Done, error) {
			if len(r.runner.runs) == 1 {
				return &link.Done{Err: &link.Failure{Kind: "load", Message: "built with a different version"}}, nil
			}
			return nil, nil
		}
		got := ""
		if res := r.do("x := 1"); res.Err != nil {
			got = res.Err.Name
		}
		if got != want || len(r.runner.runs) != 1+hope || r.native.commits != hope {
			t.Errorf("hope %d: ends with %q after %d runs and %d commits", hope, got, len(r.runner.runs), r.native.commits)
		}
		if s := r.out.text.String(); !strings.Contains(s, "Note: the cache is full\n") {
			t.Errorf("the user is told %q", s)
		}
	}
}
