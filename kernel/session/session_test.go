package session

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/session/link"
	"github.com/gander-go/gander/kernel/session/worker"
	_ "github.com/gander-go/gander/kernel/session/worker/parts"
	"github.com/gander-go/gander/profiler/analyze"
	"github.com/gander-go/gander/profiler/trace"
)

// built is the workspace and the plugin of testdata/cells.go.txt, made once for all tests.
var built = sync.OnceValues(func() (*cells, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	w, err := Prepare(context.Background(), BuildConfig{CacheDir: filepath.Join(cache, "gander-test")})
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gander-cells")
	if err != nil {
		return nil, err
	}
	cellsDir = dir
	so := filepath.Join(dir, "cells.so")
	cmd := w.Command(context.Background(), "build", "-buildmode=plugin", "-ldflags="+w.LDFlags, "-o", so)
	for _, name := range []string{"cells.go", "ccells.go"} {
		src, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		if err != nil {
			return nil, err
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, src, 0o644); err != nil {
			return nil, err
		}
		cmd.Args = append(cmd.Args, file)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the test's cells: %w\n%s", err, out)
	}
	return &cells{w, so}, nil
})

type cells struct {
	w      *Workspace
	plugin string
}

// cellsDir is where the plugin was built; "" when no test needed it.
var cellsDir string

func TestMain(m *testing.M) {
	if os.Getenv("GANDER_TEST_SESSION") != "" {
		worker.Main() // as `gander session` does
	}
	if os.Getenv("GANDER_TEST_FRONT") != "" {
		frontToKill()
		return
	}
	code := m.Run()
	os.RemoveAll(cellsDir)
	os.Exit(code)
}

// open starts a session that can run the test's cells.
func open(t *testing.T, edit func(*Config)) *Session {
	t.Helper()
	b, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Workspace: b.w}
	if edit != nil {
		edit(&cfg)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := Start(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// unit is the unit that calls the function of that name.
func unit(entry string) link.Run {
	b, _ := built()
	return link.Run{Unit: link.Unit{Engine: link.EngineNative, Plugins: []string{b.plugin}, Entry: entry}}
}

// call runs one of the test's cells.
func call(t *testing.T, s *Session, entry string, in cell.Input) (*link.Done, *output) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out := &output{}
	r := unit(entry)
	r.AllowStdin = in != nil
	d, err := s.Run(ctx, r, out, in)
	if err != nil {
		t.Fatalf("running %s: %v", entry, err)
	}
	return d, out
}

// output keeps what a cell shows, one entry for each stretch of a stream and each display.
type output struct {
	mu    sync.Mutex
	items []string
}

func (o *output) add(kind, s string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.items); n > 0 && (kind == "out:" || kind == "err:") && strings.HasPrefix(o.items[n-1], kind) {
		o.items[n-1] += s
		return
	}
	o.items = append(o.items, kind+s)
}

func (o *output) Stream(name cell.StreamName, s string) { o.add(string(name)[3:]+":", s) }
func (o *output) Display(b cell.Bundle)                 { o.add("display:", fmt.Sprint(b.Data["text/plain"])) }
func (o *output) Update(b cell.Bundle)                  { o.add("update:", fmt.Sprint(b.Data["text/plain"])) }
func (o *output) Clear(wait bool)                       { o.add("clear:", fmt.Sprint(wait)) }

func (o *output) all() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.items, "|")
}

type answers func(prompt string, password bool) (string, error)

func (a answers) Ask(prompt string, password bool) (string, error) { return a(prompt, password) }

func TestValueAndState(t *testing.T) {
	s := open(t, nil)
	for i := 1; i <= 3; i++ {
		d, _ := call(t, s, "Count", nil)
		if d.Err != nil || d.Value == nil || d.Value.Text["text/plain"] != fmt.Sprint(i) {
			t.Fatalf("run %d: %+v", i, d)
		}
	}
	d, _ := call(t, s, "Two", nil)
	if got := d.Value.Text["text/plain"]; got != "12 <nil>" {
		t.Errorf("two results are shown as %q", got)
	}
	vars, err := s.Vars(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(vars) != 2 || vars[0].Name != "counter" || vars[0].Value != "3" || vars[0].Type != "int" || vars[1].Value != `""` {
		t.Errorf("variables: %+v", vars)
	}
	if r := s.Ready(); !r.Native || r.GoVersion != runtime.Version() {
		t.Errorf("greeting: %+v", r)
	}
}

func TestOutputIsInOrder(t *testing.T) {
	s := open(t, nil)
	_, out := call(t, s, "Order", nil)
	var want strings.Builder
	for i := range 200 {
		if i == 0 {
			want.WriteString("out:")
		}
		fmt.Fprintf(&want, "o%d\n|err:e%d\n|out:r%d\n|display:d%d|out:f%d\n", i, i, i, i, i)
	}
	if got := out.all(); got != want.String() {
		t.Errorf("got %.300q\nwant %.300q", got, want.String())
	}
}

func TestChildProcessOutput(t *testing.T) {
	s := open(t, nil)
	_, out := call(t, s, "Child", nil)
	if got, want := out.all(), "out:before\nout\n|err:err\n|out:out2\nafter\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOutputOfC(t *testing.T) {
	s := open(t, nil)
	for range 2 {
		if _, out := call(t, s, "CLines", nil); out.all() != "out:go1\nc1\nc" {
			t.Errorf("got %q", out.all())
		}
	}
}

func TestDeathBetweenCells(t *testing.T) {
	later := &output{}
	s := open(t, func(c *Config) { c.Background = later })
	call(t, s, "LaterPanic", nil)
	deadline := time.Now().Add(10 * time.Second)
	for s.Generation() == 1 && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	d, out := call(t, s, "Count", nil)
	if d.Err != nil || !strings.Contains(out.all(), "panic: after the cell") || !strings.Contains(later.all(), "panic: after the cell") {
		t.Errorf("%+v, shown %q, before %q", d.Err, out.all(), later.all())
	}
}

func TestValueThatCannotTravel(t *testing.T) {
	s := open(t, nil)
	d, _ := call(t, s, "BadMetadata", nil)
	if d.Err == nil || !strings.Contains(d.Err.Message, "unsupported type: chan int") {
		t.Errorf("%+v", d)
	}
}

func TestManyLines(t *testing.T) {
	s := open(t, nil)
	var want strings.Builder
	want.WriteString("out:")
	for i := range 100_000 {
		fmt.Fprintln(&want, "line", i)
	}
	for _, entry := range []string{"Lines", "LinesDirect"} {
		d, out := call(t, s, entry, nil)
		t.Logf("%s: %v", entry, time.Duration(d.Wall))
		if got := out.all(); got != want.String() {
			t.Errorf("%s: %d bytes, want %d", entry, len(got), want.Len())
		}
	}
}

func TestLongText(t *testing.T) {
	s := open(t, nil)
	_, out := call(t, s, "Long", nil)
	if got := out.all(); got != "out:"+strings.Repeat("ä", 3<<20) {
		t.Errorf("%d bytes, want %d", len(got), 6<<20+4)
	}
	d, out := call(t, s, "LongDirect", nil)
	if got := out.all(); got != "out:"+strings.Repeat("x", 300<<10) {
		t.Errorf("direct: %d bytes, error %v", len(got), d.Value)
	}
}

func TestDisplays(t *testing.T) {
	s := open(t, nil)
	_, out := call(t, s, "Update", nil)
	if got, want := out.all(), "display:0 %|update:100 %|clear:true|display:<b>x</b>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPanics(t *testing.T) {
	s := open(t, nil)
	tests := []struct{ entry, kind, message, goType, stack string }{
		{"Panics", "panic", "mine: first\nsecond", "*main.myError", "In[3]:2"},
		{"PanicIndex", "panic", "runtime error: index out of range [100] with length 0", "runtime.boundsError", "In[3]:5"},
		{"Segv", "panic", "runtime error: invalid memory address or nil pointer dereference", "runtime.errorString", "In[8]:2"},
		{"PanicNasty", "panic", "main.nasty, which panics when it is printed", "main.nasty", "PanicNasty"},
		{"ShowNasty", "panic", "no HTML", "string", "nastyValue"},
		{"Goexit", "goexit", "the cell ended its goroutine with runtime.Goexit", "", ""},
		{"PanicOfAGoroutineOfABlockedCell", "panic", "guarded", "string", ""},
		{"GuardedGoroutinePanic", "panic", "guarded", "string", ""},
	}
	for _, tt := range tests {
		d, _ := call(t, s, tt.entry, nil)
		f := d.Err
		if f == nil || f.Kind != tt.kind || f.Message != tt.message || f.GoType != tt.goType || !strings.Contains(f.Stack, tt.stack) {
			t.Errorf("%s: %+v", tt.entry, f)
		}
		if tt.entry == "Panics" && strings.Join(f.Causes, ",") != "first\nsecond,first,second" {
			t.Errorf("causes: %q", f.Causes)
		}
	}
	if d, _ := call(t, s, "Count", nil); d.Value.Text["text/plain"] != "1" || s.Generation() != 1 {
		t.Error("state was lost by panics")
	}
}

func TestDeaths(t *testing.T) {
	tests := []struct {
		entry, kind, message, stack string
		code                        int
		output                      string
	}{
		{"Exit3", "exit", "the cell called os.Exit(3)", "", 3, "out:bye\n"},
		{"LogFatal", "exit", "os.Exit(1) or log.Fatal", "", 1, "that was it\n"},
		{"Exit2Liar", "exit", "os.Exit(2)", "", 2, "err:panic: just kidding\n"},
		{"Overflow", "died", "stack overflow", "In[4]:7", 2, ""},
		{"MapWrites", "died", "fatal error: concurrent map writes", "In[5]:3", 2, ""},
		{"RawGoroutinePanic", "died", "panic: in a goroutine", "In[6]:2", 2, ""},
		{"CAbort", "died", "SIGABRT: abort", ".CAbort()", 2, ""},
		{"CNull", "died", "SIGSEGV: segmentation violation", ".CNull()", 2, ""},
		{"Killed", "died", "signal 9 (killed), perhaps because the machine ran out of memory", "", 0, ""},
	}
	var resets []string
	s := open(t, func(c *Config) { c.OnReset = func(reason string) { resets = append(resets, reason) } })
	for i, tt := range tests {
		call(t, s, "Count", nil)
		d, out := call(t, s, tt.entry, nil)
		f := d.Err
		if f == nil || f.Kind != tt.kind || !strings.Contains(f.Message, tt.message) || !strings.Contains(f.Stack, tt.stack) || f.Code != tt.code {
			t.Errorf("%s: %+v", tt.entry, f)
			continue
		}
		if got := out.all(); !strings.HasSuffix(got, tt.output) || tt.output == "" && got != "" {
			t.Errorf("%s wrote %.2000q", tt.entry, got)
		}
		if strings.Contains(f.Stack, "runtime.") || strings.Contains(f.Stack, "kernel/session") || strings.Contains(f.Stack, "sp=") {
			t.Errorf("%s: the stack shows the runtime:\n%s", tt.entry, f.Stack)
		}
		if len(resets) != i+1 || s.Generation() != i+2 {
			t.Errorf("%s: told of %d resets, generation %d", tt.entry, len(resets), s.Generation())
		}
		d, out = call(t, s, "Count", nil)
		if d.Err != nil || d.Value.Text["text/plain"] != "1" {
			t.Errorf("after %s: %+v", tt.entry, d)
		}
		if got := out.all(); !strings.HasPrefix(got, "err:Note: the session was restarted") {
			t.Errorf("after %s the next cell shows %q", tt.entry, got)
		}
		if _, out = call(t, s, "Count", nil); out.all() != "" {
			t.Errorf("the notice is shown twice: %q", out.all())
		}
	}
}

func TestWordsOfACrashAreShownWhenThereIsNone(t *testing.T) {
	s := open(t, nil)
	d, out := call(t, s, "Liar", nil)
	if d.Err != nil || out.all() != "err:panic: just kidding\n" {
		t.Errorf("%+v, shown %q", d.Err, out.all())
	}
}

func TestOutputAfterTheCell(t *testing.T) {
	later := &output{}
	s := open(t, func(c *Config) { c.Background = later })
	_, out := call(t, s, "Background", nil)
	_, next := call(t, s, "Count", nil)
	deadline := time.Now().Add(10 * time.Second)
	for later.all() != "out:later\n" && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	if out.all() != "" || next.all() != "" || later.all() != "out:later\n" {
		t.Errorf("cell %q, next %q, background %q", out.all(), next.all(), later.all())
	}
}

func TestCosts(t *testing.T) {
	s := open(t, nil)
	d, _ := call(t, s, "Allocate", nil)
	if d.Allocs < 100<<20 || d.Allocs > 110<<20 || d.Mallocs < 100 || d.Wall <= 0 || d.CPU <= 0 {
		t.Errorf("%+v", d)
	}
}

func TestGenerationOfAUnit(t *testing.T) {
	s := open(t, nil)
	r := unit("Nothing")
	r.Generation = 2
	if _, err := s.Run(context.Background(), r, &output{}, nil); err != ErrReset {
		t.Errorf("error %v", err)
	}
}

func TestRestartAndClose(t *testing.T) {
	s := open(t, nil)
	call(t, s, "Count", nil)
	if err := s.Restart(context.Background()); err != nil {
		t.Fatal(err)
	}
	if d, out := call(t, s, "Count", nil); d.Value.Text["text/plain"] != "1" || out.all() != "" {
		t.Errorf("after a restart: %+v %q", d, out.all())
	}
	s.Close()
	s.Close()
	if _, err := s.Run(context.Background(), unit("Count"), &output{}, nil); err == nil {
		t.Error("a closed session runs units")
	}
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	s := open(t, nil)
	r := unit("Nobody")
	d, err := s.Run(context.Background(), r, &output{}, nil)
	if err != nil || d.Err == nil || d.Err.Kind != "load" || !strings.Contains(d.Err.Message, "Nobody") {
		t.Errorf("%v %+v", err, d)
	}
	if _, err := Start(context.Background(), Config{Command: []string{"/bin/false"}}); err == nil || !strings.Contains(err.Error(), "/bin/false") {
		t.Errorf("a program that ends at once: %v", err)
	}
}

// TestTenThousandUnits looks for what grows with the number of units.
func TestTenThousandUnits(t *testing.T) {
	s := open(t, nil)
	r := unit("Count")
	out := &output{}
	run := func(n int) {
		for range n {
			if d, err := s.Run(context.Background(), r, out, nil); err != nil || d.Err != nil {
				t.Fatal(err, d)
			}
		}
	}
	pid := s.Ready().PID
	count := func(dir string) int {
		all, err := os.ReadDir(dir)
		if err != nil {
			t.Skipf("SKIPPED: %v; growth of file descriptors was NOT checked", err)
		}
		return len(all)
	}
	memory := func() int {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		var size, resident int
		fmt.Sscan(string(b), &size, &resident)
		return resident * os.Getpagesize()
	}
	run(500)
	own, files, mem, goroutines := count("/proc/self/fd"), count(fmt.Sprintf("/proc/%d/fd", pid)), memory(), runtime.NumGoroutine()
	start := time.Now()
	run(10_000)
	t.Logf("%v a unit; the session process has %d MiB resident, %d before", time.Since(start)/10_000, memory()>>20, mem>>20)
	if n := count("/proc/self/fd"); n > own {
		t.Errorf("our file descriptors grow from %d to %d", own, n)
	}
	if n := count(fmt.Sprintf("/proc/%d/fd", pid)); n > files+2 { // the runtime opens some when it likes
		t.Errorf("the session's file descriptors grow from %d to %d", files, n)
	}
	if n := runtime.NumGoroutine(); n > goroutines+2 {
		t.Errorf("our goroutines grow from %d to %d", goroutines, n)
	}
	if m := memory(); m > mem*3/2+(8<<20) {
		t.Errorf("the session process grows from %d to %d bytes", mem, m)
	}
	vars, err := s.Vars(context.Background(), "counter")
	if err != nil || len(vars) != 1 || vars[0].Value != "10500" {
		t.Errorf("%v %+v", err, vars)
	}
}

// TestStrangersOnTheTape writes to the tape's socket from one that is not the session's.
func TestStrangersOnTheTape(t *testing.T) {
	tp, files, err := newTape()
	if err != nil {
		t.Fatal(err)
	}
	defer tp.close()
	defer closeAll(files[:]...)
	files[0].WriteString("mine")
	if s, msg, err := tp.receive(); err != nil || s != fromStdout || string(msg) != "mine" {
		t.Errorf("%v %q %v", s, msg, err)
	}
	if _, _, ok := tp.poll(); ok {
		t.Error("a message where there is none")
	}
	if _, err := os.Stat(tp.conn.LocalAddr().String()); err == nil {
		t.Error("the tape's address can be found")
	}
}

func TestPartialRune(t *testing.T) {
	for s, want := range map[string]int{"": 0, "a": 0, "ä": 0, "ä"[:1]: 1, "a€"[:3]: 2, "😀"[:3]: 3, "\x80\x80\x80\x80": 0, "a\xff": 0, "😀": 0, "ä\xe2": 1} {
		if got := partialRune([]byte(s)); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}

// TestWithoutToolchain runs a session in a program that loads no plugins, as the gander command itself is.
func TestWithoutToolchain(t *testing.T) {
	s, err := Start(context.Background(), Config{Command: []string{os.Args[0]}, Env: []string{"GANDER_TEST_SESSION=1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Ready().Native {
		t.Error("it says that it loads plugins")
	}
	out := &output{}
	r := link.Run{Unit: link.Unit{Engine: link.EngineInterp, Symbols: []string{"fmt"}, Source: "package cell\n\nimport \"gander.session/std/fmt\"\n\nfunc Cell() { fmt.Println(\"hello\") }\n"}}
	d, err := s.Run(context.Background(), r, out, nil)
	if err != nil || d.Err != nil || out.all() != "out:hello\n" {
		t.Errorf("interpreting: %v %+v %q", err, d, out.all())
	}
	d, err = s.Run(context.Background(), link.Run{Unit: link.Unit{Engine: link.EngineNative, Plugins: []string{"x.so"}}}, out, nil)
	if err != nil || d.Err == nil || d.Err.Kind != "load" {
		t.Errorf("loading: %v %+v", err, d)
	}
}

func TestRecording(t *testing.T) {
	s := open(t, nil)
	ctx := context.Background()
	if _, err := s.StopRecording(ctx); err == nil {
		t.Error("a recording that was not started can be stopped")
	}
	if err := s.StartRecording(ctx, []byte(`{"NoSuchOption":1}`)); err == nil {
		t.Error("a wrong option is accepted")
	}
	for range 2 {
		if err := s.StartRecording(ctx, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		call(t, s, "Spans", nil)
		b, err := s.StopRecording(ctx)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := trace.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		var n int64 // calls that are many and short are counted rather than kept one by one
		for _, row := range analyze.KeyAverages(tr, analyze.KeyOptions{}).Rows {
			if row.Key == "work" {
				n += row.Count
			}
		}
		if n != 100_000 {
			t.Errorf("%d spans in %d bytes", n, len(b))
		}
	}
}
