package native

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval/check"
	"github.com/gander-go/gander/kernel/session"
	"github.com/gander-go/gander/kernel/session/link"
)

// Options say what an engine builds with.
type Options struct {
	// Workspace is where the session program was built: its toolchain, flags and environment are those of the cells.
	Workspace *session.Workspace
	// Dir is the directory whose module provides the packages that cells import; the workspace's when empty.
	Dir string
	// CacheDir keeps built cells; below os.UserCacheDir() when empty. It is shared by all engines of the machine.
	CacheDir string
	// CacheBytes bounds the cache; DefaultCacheBytes when 0.
	CacheBytes int64
	Log        *slog.Logger // nil: nothing is logged
	Note       string       // the first of Engine.Notes; empty for none
}

// DefaultCacheBytes is how large the cache of built cells may grow.
const DefaultCacheBytes = 1 << 30

// Engine builds checked cells for one session. It implements eval.Engine. Its methods are safe for concurrent use.
type Engine struct {
	opt    Options
	tools  *toolchain
	cache  *cache
	work   string       // this engine's own directory: what its session process has loaded
	moving sync.RWMutex // guards work

	tables *tables

	// mu guards what follows.
	mu        sync.Mutex
	codes     map[int]string // cell number -> text
	tags      map[string]int // tag -> the latest cell with that text
	places    map[*check.Symbol]place
	live      map[*check.Symbol]*declared
	replaced  map[*check.Symbol]*check.Symbol
	vars      map[string]*check.Symbol
	anon      map[string]place
	left      string             // the directory before that one, when its disk is full
	notes     []string           // for the user
	discarded map[string]bool    // plugins that the session process could not load
	again     map[string]string  // what their names get to be built again
	loaded    map[string]bool    // cells' import paths that the session process has
	probes    map[string]*module // modules of nothing but probes, see loadedProbes
	used      map[string]bool    // other packages that it has, but those of the standard library
}

// New makes an engine. Close must be called when it is no longer used.
func New(o Options) (*Engine, error) {
	if o.Workspace == nil {
		return nil, errors.New("making the compiled engine: no workspace")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Dir == "" {
		o.Dir = o.Workspace.Dir
	}
	removeLeftovers(os.TempDir())
	work, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", workPrefix, os.Getpid()))
	if err != nil {
		return nil, fmt.Errorf("making the compiled engine: %w", err)
	}
	e := &Engine{opt: o, work: work, cache: openCache(o.CacheDir, o.CacheBytes, o.Log), tables: newTables()}
	if e.tools, err = newToolchain(o, e.cache); err != nil {
		os.RemoveAll(work)
		return nil, fmt.Errorf("making the compiled engine: %w", err)
	}
	e.forget()
	if o.Note != "" {
		e.notes = []string{o.Note}
	}
	return e, nil
}

const workPrefix = "gander-cells-"

// removeLeftovers removes the directories of engines whose process ended without closing them.
func removeLeftovers(dir string) {
	old, err := filepath.Glob(filepath.Join(dir, workPrefix+"*-*"))
	if err != nil {
		return
	}
	for _, d := range old {
		id, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(d), workPrefix), "-")
		if pid, err := strconv.Atoi(id); err == nil && isGone(pid) {
			os.RemoveAll(d)
		}
	}
}

func (e *Engine) forget() {
	e.codes, e.tags = map[int]string{}, map[string]int{}
	e.places, e.live = map[*check.Symbol]place{}, map[*check.Symbol]*declared{}
	e.replaced, e.vars = map[*check.Symbol]*check.Symbol{}, map[string]*check.Symbol{}
	e.anon, e.loaded, e.used = map[string]place{}, map[string]bool{}, map[string]bool{}
	e.probes = map[string]*module{}
}

// Reset forgets what was committed: the session process is a new one.
func (e *Engine) Reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.forget()
	e.tools.reset()
	e.tables.forget()
}

// Close removes the engine's temporary files. It is idempotent.
func (e *Engine) Close() error {
	e.tables.stop()
	if e.left != "" {
		os.RemoveAll(e.left)
	}
	return os.RemoveAll(e.work)
}

// Supports reports that the compiled engine runs every cell that checks.
func (e *Engine) Supports(c *check.Checked) (ok bool, reason string) { return true, "" }

// Warm builds what every first cell needs: the standard packages in the form that plugins link, and the runtime. It returns
// early when the context ends.
func (e *Engine) Warm(ctx context.Context, pkgs ...string) error {
	return e.tools.need(ctx, append([]string{"fmt", "strings", "errors", "sort", "time", "sync", "os", "math"}, pkgs...))
}

// Build makes the unit that runs c. See eval.Engine.
func (e *Engine) Build(ctx context.Context, c *check.Checked, o check.BuildOptions) (unit link.Unit, commit func(), err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("emitting cell %d: %v\n%s", c.N, r, debug.Stack())
		}
	}()
	e.remember(c.N, c.Code)
	u := newUnit(e, c, o)
	p, err := u.emit(ctx)
	if err != nil {
		return link.Unit{}, nil, e.explain(c, err)
	}
	so, err := e.build(ctx, p)
	if err != nil {
		return link.Unit{}, nil, e.explain(c, err)
	}
	unit = link.Unit{Engine: link.EngineNative, Plugins: []string{so}, Entry: "Cell", Olds: u.olds}
	return unit, func() { e.commit(u, p) }, nil
}

// commit makes what u defines known to later cells.
func (e *Engine) commit(u *unit, p *packages) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for s, pl := range u.places {
		e.places[s] = pl
	}
	for k, pl := range u.anon {
		e.anon[k] = pl
	}
	for o, n := range u.replaced {
		e.replaced[o] = n
		delete(e.live, o)
	}
	for _, rd := range u.c.Redefined {
		delete(e.live, rd.Old)
	}
	for _, d := range u.c.Rebound {
		for _, s := range d.Syms {
			delete(e.live, s.Origin)
		}
	}
	for _, d := range u.emitted {
		for _, s := range d.decl.Syms {
			e.live[s] = d
		}
	}
	for _, v := range u.c.Vars {
		e.vars[v.Sym.Name] = v.Sym
	}
	e.tools.noteUsed(p.imports, e.used)
	e.loaded[p.cellPath] = true
	if p.declPath != "" {
		e.loaded[p.declPath] = true
	}
	if u.probeKey != "" {
		e.probes[u.probeKey] = u.mod
	}
}

// resolve follows a symbol to what has taken its place in earlier cells.
func (e *Engine) resolve(s *check.Symbol) *check.Symbol {
	for range 1000 {
		n := e.replaced[s]
		if n == nil || n == s {
			break
		}
		s = n
	}
	return s
}

// sorted are the live declarations in the order in which they were made.
func (e *Engine) sorted() []*declared {
	var l []*declared
	for _, d := range e.live {
		l = append(l, d)
	}
	slices.SortFunc(l, func(a, b *declared) int { return int(a.decl.Sym.ID - b.decl.Sym.ID) })
	return slices.Compact(l)
}

// remember notes the text of cell n, for tags.
func (e *Engine) remember(n int, code string) {
	e.codes[n] = code
	e.tags[tag(code)] = n
}

// tagOf turns "In[3]" into the tag of cell 3's text.
func (e *Engine) tagOf(name string) string {
	if code := e.codeOf(name); code != "" {
		return tag(code)
	}
	return name
}

// codeOf is the text of the cell that name, "In[3]", means; empty when it is not known.
func (e *Engine) codeOf(name string) string {
	if m := inCell.FindStringSubmatch(name); m != nil {
		n, _ := strconv.Atoi(m[1])
		return e.codes[n]
	}
	return ""
}

// Translate puts the numbers of cells into text that names them by tags, and the user's names into what the engine spells
// otherwise: stack traces, messages of panics and compiler output.
func (e *Engine) Translate(text string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.translate(text)
}

func (e *Engine) translate(text string) string {
	return tagged.ReplaceAllStringFunc(strings.ReplaceAll(text, "G__", ""), func(t string) string {
		if n, ok := e.tags[t]; ok {
			return fmt.Sprintf("In[%d]", n)
		}
		return t
	})
}

// explain turns the complaints of the go command and the compiler into the cell's error. The checker should have found all of the compiler's, so
// each is one that emitting caused; but the user can still see where.
func (e *Engine) explain(c *check.Checked, err error) error {
	var te *toolError
	switch {
	case errors.As(err, &te) && te.tool == "list" && te.output != "":
		return &cell.UserError{Name: "ImportError", Message: te.output}
	case te == nil || te.tool != "compile":
		return err
	}
	ue := &cell.UserError{Name: "CompileError", Message: "the compiler refuses the cell"}
	for _, l := range strings.Split(e.translate(te.output), "\n") {
		m := compilerLine.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		d := cell.Diagnostic{Message: m[3]}
		d.Cell, _ = strconv.Atoi(m[1])
		d.Line, _ = strconv.Atoi(m[2])
		d.Col = 1
		ue.Diags = append(ue.Diags, d)
	}
	if len(ue.Diags) == 0 {
		return fmt.Errorf("compiling cell %d: %s", c.N, te.output)
	}
	ue.Message = ue.Diags[0].Message
	return ue
}

// path is where the engine keeps a file of its session.
func (e *Engine) path(name string) string {
	e.moving.RLock()
	defer e.moving.RUnlock()
	return filepath.Join(e.work, name)
}
