package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"
)

// Run is a folder of traces: the spans that its workers wrote.
type Run struct {
	Name   string // folder, relative to the root; "." for the root itself
	Spans  []*Span
	Others []*File // files of one trace each, that no worker name can be read of
}

// Title is the run's folder, or what stands for the root itself.
func (r *Run) Title() string {
	if r.Name == "." {
		return "this folder"
	}
	return r.Name
}

// Span is one recording: the files that several workers wrote at about the same time.
type Span struct {
	ID      string // stable while the files are the same
	Time    time.Time
	Workers []*File
}

// File is one trace file.
type File struct {
	ID       string
	Path     string // relative to the root
	Worker   string
	Size     int64
	Modified time.Time
}

// tensorBoard is the name that torch's tensorboard_trace_handler gives a file; the number is its time in ns (or ms).
var tensorBoard = regexp.MustCompile(`^(.+?)(?:\.(\d+))?\.pt\.trace\.json(?:\.gz)?$`)

// traceFile reports whether a file name looks like something that can be opened.
func traceFile(name string) bool {
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	switch filepath.Ext(name) {
	case ".json", ".trace", ".pprof", ".prof", ".pb", ".gander":
		return true
	}
	return false
}

// maxFiles bounds what one folder tree may list.
const maxFiles = 10_000

// scan lists the traces below root. Folders that cannot be read are left out.
func scan(root string) []*Run {
	byDir := map[string]*Run{}
	n := 0
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case d.IsDir():
			if path != root && strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || !traceFile(d.Name()):
			return nil
		case n >= maxFiles:
			return filepath.SkipAll
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		n++
		rel, _ := filepath.Rel(root, path)
		dir := filepath.Dir(rel)
		r := byDir[dir]
		if r == nil {
			r = &Run{Name: dir}
			byDir[dir] = r
		}
		r.add(&File{ID: id(rel, info.ModTime().String()), Path: rel, Size: info.Size(), Modified: info.ModTime()}, d.Name())
		return nil
	})
	var runs []*Run
	for _, r := range byDir {
		r.sort()
		runs = append(runs, r)
	}
	sort.Slice(runs, func(i, j int) bool { return less(runs[i].Name, runs[j].Name) })
	return runs
}

func id(parts ...string) string {
	h := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(h[:12])
}

// add files f under its recording. The workers of one job write within moments of each other, each under its own time:
// the n-th file of every worker belongs to the n-th recording.
func (r *Run) add(f *File, name string) {
	m := tensorBoard.FindStringSubmatch(name)
	if m == nil {
		f.Worker = name
		r.Others = append(r.Others, f)
		return
	}
	f.Worker = m[1]
	r.Spans = append(r.Spans, &Span{Workers: []*File{f}, Time: stamp(m[2], f.Modified)})
}

func stamp(digits string, otherwise time.Time) time.Time {
	var n int64
	for _, c := range digits {
		if n = n*10 + int64(c-'0'); n < 0 {
			return otherwise
		}
	}
	switch {
	case n == 0:
		return otherwise
	case n > 1e17:
		return time.Unix(0, n)
	case n > 1e14:
		return time.UnixMicro(n)
	}
	return time.UnixMilli(n)
}

// sort joins single files to recordings and orders everything.
func (r *Run) sort() {
	sort.Slice(r.Others, func(i, j int) bool { return less(r.Others[i].Path, r.Others[j].Path) })
	sort.Slice(r.Spans, func(i, j int) bool { return r.Spans[i].Time.Before(r.Spans[j].Time) })
	var joined []*Span
	count := map[string]int{}
	for _, s := range r.Spans {
		f := s.Workers[0]
		n := count[f.Worker]
		count[f.Worker]++
		if n == len(joined) {
			joined = append(joined, &Span{Time: s.Time})
		}
		joined[n].Workers = append(joined[n].Workers, f)
	}
	for _, s := range joined {
		sort.Slice(s.Workers, func(i, j int) bool { return less(s.Workers[i].Worker, s.Workers[j].Worker) })
		parts := []string{r.Name}
		for _, f := range s.Workers {
			parts = append(parts, f.ID)
		}
		s.ID = id(parts...)
	}
	r.Spans = joined
}

// less orders names as people count: numbers in them by their value.
func less(a, b string) bool {
	for a != "" && b != "" {
		m, n := digits(a), digits(b)
		if m == 0 || n == 0 {
			if a[0] != b[0] {
				return a[0] < b[0]
			}
			a, b = a[1:], b[1:]
			continue
		}
		x, y := strings.TrimLeft(a[:m], "0"), strings.TrimLeft(b[:n], "0")
		switch {
		case len(x) != len(y):
			return len(x) < len(y)
		case x != y:
			return x < y
		case m != n:
			return m < n
		}
		a, b = a[m:], b[n:]
	}
	return len(a) < len(b)
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
