// Package cellstack makes call stacks of notebook cells read as a user thinks of them: they start at the cell, In[3]:2, and not
// in the process that runs it; functions have the names that the cell gave them; what the recording itself does is one frame.
//
// It knows how the compiled engine names packages and files, and nothing of engines otherwise. Its one invariant: a trace
// without frames of cells and of the process that runs them is left as it is, and a second pass changes nothing.
package cellstack

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// Frames that stand for what is nobody's code.
const (
	Recording = "(recording)"        // the profiler noting a span or a sample
	Loading   = "(loading the cell)" // the plugin of a cell being opened
	Session   = "(session)"          // anything else that the process does around cells
)

const (
	root    = "github.com/gander-go/gander/"
	session = root + "kernel/session/"
)

// Plain rewrites the stacks of t. number puts the numbers of cells into text that names them by their hash, In[#1f2e3d4c];
// nil leaves that as it is.
//
//  1. Each frame gets its plain name, and the part it plays.
//  2. The prefix tree is walked from the roots: frames of the process are left out, the first one of the recording takes
//     all that it calls, and a literal that is called where it is written is part of what it is written in.
//     Tracks that are named after the function of a goroutine get the plain name too.
//  3. Everything that refers to a stack is moved to its new one.
func Plain(t *trace.Trace, number func(string) string) {
	for i := range t.Tracks {
		if k := &t.Tracks[i]; strings.Contains(k.Name, "gander/") {
			k.Name = strings.ReplaceAll(trackFunc.ReplaceAllString(k.Name, ""), "G__", "")
			k.Name = strings.Replace(k.Name, session+"rt.Do.func1", "(the cell)", 1)
			k.Name = strings.Replace(k.Name, session, "(session) ", 1)
		}
	}
	frames, any := classify(t, number)
	if !any || len(t.Stacks) == 0 {
		return
	}
	old := t.Stacks
	t.Stacks = nil
	x := t.StackIndex()
	moved := make([]trace.StackID, len(old)) // by old stack
	ends := make([]bool, len(old))           // the new one ends in a frame that takes what it calls
	foreign := make([]string, len(old))      // what a stack is called that is only the process's
	for i := 1; i < len(old); i++ {
		s := old[i]
		if int(s.Parent) >= i || int(s.Frame) >= len(frames) {
			continue // Validate tells of it
		}
		up, f := moved[s.Parent], &frames[s.Frame]
		ends[i], foreign[i] = ends[s.Parent], foreign[s.Parent]
		switch {
		case ends[i]:
			moved[i] = up
		case f.part == recording:
			moved[i], ends[i], foreign[i] = x.Push(up, x.Frame(Recording, "", 0)), true, ""
		case f.part == process:
			moved[i] = up
			if up == 0 {
				foreign[i] = Session
			}
		case f.part == loading && up == 0 && foreign[i] != "":
			moved[i], foreign[i] = up, Loading
		case up == 0 && foreign[i] != "" && !f.cell && strings.HasPrefix(t.Strings.Get(f.name), "runtime."):
			moved[i] = up // what the process does in the runtime
		case up != 0 && f.literal && sameLine(t, x, up, f):
			moved[i] = up
		default:
			moved[i], foreign[i] = x.Push(up, x.Frame(t.Strings.Get(f.name), t.Strings.Get(f.file), f.line)), ""
		}
	}
	for i, what := range foreign {
		if what != "" && moved[i] == 0 {
			moved[i] = x.Push(0, x.Frame(what, "", 0))
		}
	}
	move := func(id *trace.StackID) {
		if int(*id) < len(moved) {
			*id = moved[*id]
		}
	}
	for i := range t.Samples {
		move(&t.Samples[i].Stack)
	}
	for i := range t.Ops {
		move(&t.Ops[i].Stack)
	}
	for i := range t.Calls {
		move(&t.Calls[i].Stack)
	}
	for i := range t.Memory {
		move(&t.Memory[i].Stack)
	}
}

// part is what a frame is to the user.
type part uint8

const (
	program   part = iota // the program's, or a library's
	process               // of the process that runs cells
	loading               // of package plugin
	recording             // of the profiler
)

type frame struct {
	name, file trace.StringID
	line       int32
	part       part
	cell       bool // of a cell
	literal    bool // a function literal: name is that of what it is written in and a suffix
}

var (
	trackFunc = regexp.MustCompile(`\bgander/[ds][0-9a-f]{20}\.`)
	cellFunc  = regexp.MustCompile(`^gander/[ds][0-9a-f]{20}\.`)
	suffix    = regexp.MustCompile(`(\.func\d+(\.\d+)*(\.gowrap\d+)?|\.gowrap\d+|\.deferwrap\d+)$`)
)

// classify finds out about the frames; any is false when no frame belongs to a cell or to the process.
func classify(t *trace.Trace, number func(string) string) (list []frame, any bool) {
	list = make([]frame, len(t.Frames))
	for i, f := range t.Frames {
		out := frame{name: f.Func, file: f.File, line: f.Line}
		name, file := t.Strings.Get(f.Func), t.Strings.Get(f.File)
		switch {
		case recorder(name):
			out.part = recording
		case strings.HasPrefix(name, session):
			out.part = process
		case strings.HasPrefix(name, "plugin."):
			out.part = loading
		case cellFunc.MatchString(name), strings.HasPrefix(file, "In["):
			out.cell = true
			if number != nil {
				file, name = number(file), number(name)
			}
			name = strings.ReplaceAll(cellFunc.ReplaceAllString(name, ""), "G__", "")
			out.literal = suffix.MatchString(name)
			if name == "Cell" || strings.HasPrefix(name, "Cell.func") { // the statements of the cell
				name = file + ":" + strconv.Itoa(int(f.Line))
			}
			out.name, out.file = t.Strings.ID(name), t.Strings.ID(file)
		}
		any = any || out.cell || out.part == process || out.part == recording && strings.Contains(name, "/insession.")
		list[i] = out
	}
	return list, any
}

// recorder reports whether a function belongs to what records: it is called by instrumented code and by the spans of users.
func recorder(name string) bool {
	rest, ok := strings.CutPrefix(name, root)
	if !ok {
		return strings.HasPrefix(name, "runtime/pprof.profileWriter") || strings.HasPrefix(name, "runtime/pprof.(*profileBuilder)")
	}
	for _, p := range []string{"profiler/record.", "profiler/insession.", "profiler/goruntime.", "kernel/session/rt.Begin", "kernel/session/rt.Span.", "kernel/session/rt.(*Span)."} {
		if strings.HasPrefix(rest, p) {
			return true
		}
	}
	return false
}

// sameLine reports whether the literal f stands at the line of stack up's frame, in a function of that name.
func sameLine(t *trace.Trace, x *trace.StackIndex, up trace.StackID, f *frame) bool {
	g := t.Frames[t.Stacks[up].Frame]
	if g.File != f.file || g.Line != f.line {
		return false
	}
	caller, name := t.Strings.Get(g.Func), t.Strings.Get(f.name)
	return name == caller || suffix.ReplaceAllString(name, "") == suffix.ReplaceAllString(caller, "")
}
