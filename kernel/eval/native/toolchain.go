package native

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gander-go/gander/kernel/session/rt"
)

// emitVersion changes whenever the same cell would be emitted as other text that the text itself does not show.
const emitVersion = "5"

// pkg is a package that cells can import, compiled for plugins.
type pkg struct {
	Export string // archive
	Std    bool
	Deps   []string // transitive
}

// toolchain runs the compiler and the linker, and knows the archives of packages.
type toolchain struct {
	opt     Options
	cache   *cache
	toolDir string
	cc      string
	lang    string
	common  string // what every key starts with
	extld   []string
	temp    atomic.Pointer[string] // where the tools keep temporary files, when not in the usual place

	// mu guards what follows. It is held while the go command compiles packages.
	mu    lock
	pkgs  map[string]*pkg
	remap map[string]string // import path -> path of the version that new cells use
}

// base are the packages that every plugin links.
var base = []string{rtPath, "runtime/cgo", "runtime", "reflect", "unsafe", "fmt"}

func newToolchain(o Options, c *cache) (*toolchain, error) {
	ws := o.Workspace
	t := &toolchain{opt: o, cache: c, mu: make(lock, 1), pkgs: map[string]*pkg{}, remap: map[string]string{}}
	cmd := exec.Command(ws.Go, "env", "-json", "GOTOOLDIR", "CC", "GOVERSION", "GOEXPERIMENT", "GOAMD64", "GOARM64")
	cmd.Dir, cmd.Env = ws.Dir, ws.Env
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("asking %s for its environment: %w", ws.Go, err)
	}
	var env map[string]string
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, fmt.Errorf("asking %s for its environment: %w", ws.Go, err)
	}
	t.toolDir, t.cc = env["GOTOOLDIR"], env["CC"]
	t.lang = "go1.26"
	if v := strings.TrimPrefix(env["GOVERSION"], "go"); v != "" {
		if p := strings.SplitN(v, ".", 3); len(p) >= 2 {
			t.lang = "go" + p[0] + "." + leadingDigits(p[1])
		}
	}
	// A workspace's folder is named for the sources in it, which every plugin must fit.
	t.common = strings.Join([]string{filepath.Base(ws.Dir), rt.Version, emitVersion, string(out), runtime.GOOS, runtime.GOARCH, strings.Join(ws.Flags, " "), ws.LDFlags}, "\x00")
	t.extld = []string{"-extld=" + t.cc}
	if _, err := exec.LookPath("ld.gold"); err == nil && runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		t.extld = []string{"-extld=" + unasked(t.cc), "-extldflags=-fuse-ld=gold"}
	}
	t.load()
	return t, nil
}

func leadingDigits(s string) string {
	for i, r := range s {
		if r < '0' || r > '9' {
			return s[:i]
		}
	}
	return s
}

// hash is the name of a text and what it depends on.
func (t *toolchain) hash(kind, text, deps string) string {
	h := sha256.New()
	for _, s := range []string{t.common, kind, text, deps} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))[:20]
}

// fingerprint names the state of packages outside the standard library, which the toolchain's version does not fix.
func (t *toolchain) fingerprint(paths []string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	seen := map[string]bool{}
	var l []string
	add := func(p string) {
		if q := t.pkgs[p]; q != nil && !q.Std && !seen[p] {
			seen[p] = true
			l = append(l, p+"="+q.Export)
		}
	}
	for _, p := range append([]string{rtPath}, paths...) {
		if m := t.remap[p]; m != "" {
			p = m
		}
		add(p)
		if q := t.pkgs[p]; q != nil && !q.Std {
			for _, d := range q.Deps {
				add(d)
			}
		}
	}
	slices.Sort(l)
	return strings.Join(l, "\n")
}

// noteUsed adds the packages outside the standard library that importing paths loads.
func (t *toolchain) noteUsed(paths []string, used map[string]bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range paths {
		if p == rtPath {
			continue
		}
		if q := t.pkgs[p]; q != nil && !q.Std {
			used[p] = true
			for _, d := range q.Deps {
				if r := t.pkgs[d]; r != nil && !r.Std {
					used[d] = true
				}
			}
		}
	}
}

// fixed reports whether a package cannot change while the engine lives: the standard library, rt and what rt imports. It is called with mu
// held.
func (t *toolchain) fixed(p string, q *pkg) bool {
	r := t.pkgs[rtPath]
	return q.Std || p == rtPath || r != nil && slices.Contains(r.Deps, p)
}

// reset forgets packages outside the standard library: a new process can load them as they are.
func (t *toolchain) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remap = map[string]string{}
	for p, q := range t.pkgs {
		if !t.fixed(p, q) {
			delete(t.pkgs, p)
		}
	}
}

// need makes sure that the archives of paths are known, compiling them where they are missing.
func (t *toolchain) need(ctx context.Context, paths []string) error {
	if err := t.mu.LockContext(ctx); err != nil {
		return err
	}
	defer t.mu.Unlock()
	var ours, theirs []string
	for _, p := range append(slices.Clone(base), paths...) {
		if p == "unsafe" || t.pkgs[p] != nil {
			continue
		}
		if strings.HasPrefix(p, ganderPath) {
			ours = append(ours, p)
		} else {
			theirs = append(theirs, p)
		}
	}
	if err := t.list(ctx, t.opt.Workspace.Dir, ours); err != nil {
		return err
	}
	if err := t.list(ctx, t.opt.Dir, theirs); err != nil {
		return err
	}
	return nil
}

// list asks the go command, which compiles what it has not.
func (t *toolchain) list(ctx context.Context, dir string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	ws := t.opt.Workspace
	args := append([]string{"list"}, ws.Flags...)
	args = append(args, "-buildmode=plugin", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.Standard}}\t{{range .Deps}}{{.}} {{end}}", "--")
	cmd := command(ctx, ws.Go, append(args, paths...)...)
	cmd.Dir, cmd.Env = dir, t.env()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &toolError{tool: "list", output: strings.TrimSpace(stderr.String()), err: err}
	}
	std := false
	for _, l := range strings.Split(string(out), "\n") {
		f := strings.Split(l, "\t")
		if len(f) != 4 || f[1] == "" {
			continue
		}
		if old := t.pkgs[f[0]]; old != nil && dir != ws.Dir && (t.fixed(f[0], old) || strings.HasPrefix(f[0], ganderPath)) {
			continue // what the session process holds stays, whatever another module thinks of it
		}
		q := &pkg{Export: f[1], Std: f[2] == "true"}
		if !q.Std {
			q.Deps = strings.Fields(f[3])
		}
		t.pkgs[f[0]] = q
		std = std || q.Std
	}
	if std {
		t.save()
	}
	return nil
}

// The archives of the standard library are remembered between sessions: asking the go command takes longer than opening a
// built cell.

func (t *toolchain) listFile() string {
	return "std-" + t.hash("std", t.opt.Workspace.Dir, "") + ".json"
}

func (t *toolchain) load() {
	b, err := os.ReadFile(filepath.Join(t.cache.dir, t.listFile()))
	if err != nil {
		return
	}
	var m map[string]*pkg
	if json.Unmarshal(b, &m) != nil {
		return
	}
	for _, q := range m {
		if q == nil {
			return
		}
		if _, err := os.Stat(q.Export); err != nil {
			return // go clean -cache, or trimmed: ask again
		}
	}
	t.pkgs = m
}

// save is called with mu held.
func (t *toolchain) save() {
	m := map[string]*pkg{}
	for p, q := range t.pkgs {
		if t.fixed(p, q) {
			m[p] = q
		}
	}
	if b, err := json.Marshal(m); err == nil {
		t.cache.write(t.listFile(), b)
	}
}

// importcfg writes the files that tell the compiler and the linker where packages are: file and file + ".link". The import map
// is for the text of cells only.
func (t *toolchain) importcfg(file string, modules map[string]string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.writeImportcfg(file, modules, t.remap); err != nil {
		return err
	}
	return t.writeImportcfg(file+".link", modules, nil)
}

// writeImportcfg is called with mu held.
func (t *toolchain) writeImportcfg(file string, modules, remap map[string]string) error {
	var b bytes.Buffer
	for p, m := range remap {
		fmt.Fprintf(&b, "importmap %s=%s\n", p, m)
	}
	for p, q := range t.pkgs {
		fmt.Fprintf(&b, "packagefile %s=%s\n", p, q.Export)
	}
	for p, f := range modules {
		fmt.Fprintf(&b, "packagefile %s=%s\n", p, f)
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// toolError is a tool's complaint.
type toolError struct {
	tool, output string
	err          error
}

func (e *toolError) Error() string {
	if e.output == "" {
		return fmt.Sprintf("running %s: %v", e.tool, e.err)
	}
	return fmt.Sprintf("running %s: %s", e.tool, e.output)
}

func (e *toolError) Unwrap() error { return e.err }

// setTemp has the tools keep their temporary files in dir.
func (t *toolchain) setTemp(dir string) { t.temp.Store(&dir) }

// env is the environment of the tools.
func (t *toolchain) env() []string {
	if dir := t.temp.Load(); dir != nil {
		return slices.Concat(t.opt.Workspace.Env, []string{"TMPDIR=" + *dir})
	}
	return t.opt.Workspace.Env
}

func (t *toolchain) run(ctx context.Context, tool string, args ...string) error {
	cmd := command(ctx, filepath.Join(t.toolDir, tool), args...)
	cmd.Env = t.env()
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &toolError{tool, strings.TrimSpace(string(out)), err}
	}
	return nil
}

// compile compiles the package importPath, text file src, to the archive out.
func (t *toolchain) compile(ctx context.Context, importPath, src, cfg, out string) error {
	return t.compileFiles(ctx, importPath, t.lang, cfg, out, "-trimpath", filepath.Dir(src)+"=>gander", src)
}

func (t *toolchain) compileFiles(ctx context.Context, importPath, lang, cfg, out string, flagsAndFiles ...string) error {
	args := []string{"-o", out, "-p", importPath, "-lang=" + lang, "-complete", "-installsuffix", "dynlink", "-dynlink",
		"-nolocalimports", "-pack", "-c=2", "-buildid", importPath + "/" + importPath, "-importcfg", cfg}
	return t.run(ctx, "compile", append(args, flagsAndFiles...)...)
}

// link links the plugin importPath, archive main, to out.
func (t *toolchain) link(ctx context.Context, importPath, main, cfg, out string) error {
	args := []string{"-o", out, "-importcfg", cfg, "-installsuffix", "dynlink", "-pluginpath", importPath, "-buildmode=plugin",
		"-buildid", importPath, "-s", "-w"}
	args = append(args, t.extld...)
	return t.run(ctx, "link", append(args, main)...)
}
