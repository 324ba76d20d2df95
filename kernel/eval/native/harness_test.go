package native

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gander-go/gander/kernel/eval/check"
	"github.com/gander-go/gander/kernel/eval/mods"
	"github.com/gander-go/gander/kernel/session"
)

type request struct {
	Plugin, Entry string
	Interrupt     time.Duration
	Spans         bool
}

type reply struct {
	Load, Err, Stack string
	Interrupted      bool
	Shown            []string
	Spans            []string
	Vars             []string
	Open, Run        time.Duration
}

// tools is what all tests share: the host program and the packages.
type tools struct {
	ws   *session.Workspace
	host string
	mods *mods.Modules
}

var shared = sync.OnceValues(func() (*tools, error) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		return nil, err
	}
	goCmd, err := exec.LookPath("go")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gander-native-test-")
	if err != nil {
		return nil, err
	}
	cleanup = append(cleanup, dir)
	env := append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	t := &tools{host: filepath.Join(dir, "host"), ws: &session.Workspace{Dir: root, Go: goCmd, Env: env, Flags: []string{"-buildvcs=false"}}}
	cmd := exec.Command(goCmd, "build", "-buildvcs=false", "-o", t.host, "./kernel/eval/native/testdata/host")
	cmd.Dir, cmd.Env = root, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building host: %w\n%s", err, out)
	}
	t.mods, err = mods.New(context.Background(), mods.Config{Go: goCmd, Dir: filepath.Join(dir, "module"), Env: env})
	return t, err
})

var (
	cleanup []string
	discard = slog.New(slog.DiscardHandler)
)

func TestMain(m *testing.M) {
	code := m.Run()
	for _, d := range cleanup {
		os.RemoveAll(d)
	}
	os.Exit(code)
}

// process is a session process with the front's parts that a test needs.
type process struct {
	t      testing.TB
	engine *Engine
	check  *check.Session
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	dir    string
	stdout string
	n      int
}

func start(t testing.TB) *process { return startCached(t, t.TempDir()) }

func startCached(t testing.TB, cacheDir string) *process {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return startWith(t, Options{Workspace: s.ws, CacheDir: cacheDir}, check.New(s.mods))
}

func startWith(t testing.TB, o Options, c *check.Session) *process {
	t.Helper()
	return startIn(t, "", o, c)
}

// startIn starts the process in a folder.
func startIn(t testing.TB, dir string, o Options, c *check.Session) *process {
	t.Helper()
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, dir: dir, engine: e, check: c, stdout: filepath.Join(t.TempDir(), "stdout")}
	p.launch()
	t.Cleanup(func() {
		p.stop()
		e.Close()
	})
	return p
}

func (p *process) launch() {
	p.t.Helper()
	s, _ := shared()
	f, err := os.Create(p.stdout)
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	r, w, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	p.cmd = exec.Command(s.host)
	p.cmd.Dir = p.dir
	p.cmd.Stdout, p.cmd.Stderr = f, f
	p.cmd.ExtraFiles = []*os.File{w}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	w.Close()
	p.out = bufio.NewReader(r)
}

func (p *process) stop() {
	p.in.Close()
	done := make(chan struct{})
	go func() { p.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		p.cmd.Process.Kill()
		<-done
	}
}

// exited reports whether err says that the process is gone, and it ended by os.Exit(0).
func (p *process) exited(err error) bool {
	if !strings.HasPrefix(err.Error(), "the process died") {
		return false
	}
	p.stop()
	return p.cmd.ProcessState.Success()
}

// printed is all that the process has written.
func (p *process) printed() string {
	b, err := os.ReadFile(p.stdout)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

// run runs a cell as the front would.
func (p *process) run(code string) (*reply, *check.Checked, error) {
	return p.runWith(code, check.BuildOptions{}, request{})
}

func (p *process) runWith(code string, o check.BuildOptions, q request) (*reply, *check.Checked, error) {
	p.n++
	c := p.check.Check(p.n, code)
	if len(c.Errors) > 0 {
		return nil, c, fmt.Errorf("check: %v", c.Errors)
	}
	unit, commit, err := p.engine.Build(context.Background(), c, o)
	if err != nil {
		return nil, c, err
	}
	q.Plugin, q.Entry = unit.Plugins[len(unit.Plugins)-1], unit.Entry
	b, _ := json.Marshal(q)
	if _, err := p.in.Write(append(b, '\n')); err != nil {
		return nil, c, err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return nil, c, fmt.Errorf("the process died: %w\n%s", err, p.printed())
	}
	var r reply
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, c, err
	}
	if r.Load != "" {
		return &r, c, fmt.Errorf("load: %s", r.Load)
	}
	commit()
	p.check.Commit(c, -1)
	if r.Err != "" {
		return &r, c, fmt.Errorf("run: %s\n%s", r.Err, p.engine.Translate(r.Stack))
	}
	return &r, c, nil
}

// program is a file of cells and what they print.
type program struct {
	cells  []programCell
	stdout string
}

type programCell struct {
	code string
	fail bool
}

func readProgram(t testing.TB, path string) program {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var p program
	kind := ""
	var cur []string
	flush := func() {
		text := strings.Join(cur, "\n")
		switch {
		case strings.HasPrefix(kind, "cell"):
			p.cells = append(p.cells, programCell{text, strings.Contains(kind, "fail")})
		case kind == "stdout":
			p.stdout = strings.TrimSuffix(text, "\n")
		}
		cur = nil
	}
	for _, l := range strings.Split(string(b), "\n") {
		if strings.HasPrefix(l, "-- ") && strings.HasSuffix(l, " --") {
			flush()
			kind = strings.TrimSuffix(strings.TrimPrefix(l, "-- "), " --")
			continue
		}
		cur = append(cur, l)
	}
	flush()
	return p
}

// play runs a program and reports whether it printed what it should.
func (p *process) play(prog program) {
	p.t.Helper()
	for i, c := range prog.cells {
		_, checked, err := p.run(c.code)
		if (err != nil) == c.fail {
			continue
		}
		p.t.Errorf("cell %d: error %v, want failure %v\n%s\n%s", i+1, err, c.fail, c.code, p.emitted(checked))
		return
	}
	if got := strings.TrimSuffix(p.printed(), "\n"); got != strings.TrimSuffix(prog.stdout, "\n") {
		p.t.Errorf("printed\n%s\nwant\n%s", got, prog.stdout)
	}
}

// emitted is the text that the engine makes of a cell, for messages.
func (p *process) emitted(c *check.Checked) string {
	if c == nil || len(c.Errors) > 0 {
		return ""
	}
	defer func() { recover() }()
	p.engine.mu.Lock()
	defer p.engine.mu.Unlock()
	q, err := newUnit(p.engine, c, check.BuildOptions{}).emit(context.Background())
	if err != nil {
		return err.Error()
	}
	return "--- declarations ---\n" + q.declText + "\n--- statements ---\n" + q.cellText
}
