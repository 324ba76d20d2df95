package analyze

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"sort"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// keyTable finds the row of an event. Grouping by name alone is an array look-up; anything more is a map with one entry
// per row.
type keyTable struct {
	plain []int32 // by name, side and kind of annotation: row+1
	full  map[rowKey]int32
	steps []stepRange
}

type rowKey struct {
	name   trace.StringID
	kind   uint8
	shapes trace.StringID
	track  trace.TrackID
	step   int32
	over   uint64
	stack  uint64
}

type stepRange struct {
	start, end int64
	name       string
}

const rowKinds = 4

func (k *keyTable) init(names int, o KeyOptions) {
	if o.ByShape || o.ByStack > 0 || o.ByOverload || o.ByTrack || o.ByStep {
		k.full = make(map[rowKey]int32)
		return
	}
	k.plain = make([]int32, names*rowKinds)
}

// rowKind tells apart rows of the same name.
func rowKind(c trace.Class) uint8 {
	var kind uint8
	if deviceRow(c) {
		kind = 1
	}
	if c == trace.ClassAnnotation || c == trace.ClassStep || c == trace.ClassDeviceAnnotation {
		kind |= 2
	}
	return kind
}

func (k *keyTable) find(b *builder, i int32) int32 {
	if k.plain != nil {
		return k.plain[int(b.name[b.t.Slices[i].Name])*rowKinds+int(rowKind(b.x.class[i]))] - 1
	}
	if r, ok := k.full[k.key(b, i)]; ok {
		return r
	}
	return -1
}

func (k *keyTable) set(b *builder, i, row int32) {
	if k.plain != nil {
		k.plain[int(b.name[b.t.Slices[i].Name])*rowKinds+int(rowKind(b.x.class[i]))] = row + 1
		return
	}
	k.full[k.key(b, i)] = row
}

func (k *keyTable) key(b *builder, i int32) rowKey {
	s := &b.t.Slices[i]
	key := rowKey{name: b.name[s.Name], kind: rowKind(b.x.class[i])}
	if b.o.ByShape {
		key.shapes = b.shapesOf(i)
	}
	if b.o.ByTrack {
		key.track = s.Track
	}
	if b.o.ByStep {
		key.step = k.stepOf(b, i)
	}
	if b.o.ByStack > 0 || b.o.ByOverload {
		if b.stacks == nil {
			b.stacks = newStackReader(b.x, b.o.ByStack)
		}
		if b.o.ByStack > 0 {
			key.stack = hashStrings(b.stacks.frames(i))
		}
		if b.o.ByOverload {
			key.over = hashStrings([]string{b.stacks.overload(b.t, i)})
		}
	}
	return key
}

func hashStrings(list []string) uint64 {
	h := fnv.New64a()
	for _, s := range list {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return h.Sum64()
}

// stepOf returns the step in which slice i ran on the host, or, for device work, in which it was launched: its index in
// k.steps, or -1 outside steps.
func (k *keyTable) stepOf(b *builder, i int32) int32 {
	if k.steps == nil {
		k.steps = b.x.stepRanges()
		if k.steps == nil {
			k.steps = []stepRange{}
		}
	}
	at := b.t.Slices[i].Start
	if b.x.class[i].OnDevice() {
		if o := b.launcher(i); o >= 0 {
			at = b.t.Slices[o].Start
		} else if c := b.x.callOf(i); c >= 0 {
			at = b.t.Slices[c].Start
		}
	}
	j := sort.Search(len(k.steps), func(j int) bool { return k.steps[j].start > at }) - 1
	if j < 0 || at >= k.steps[j].end && !(at == k.steps[j].start) {
		return -1
	}
	return int32(j)
}

func (k *keyTable) stepName(i int32) string {
	if i < 0 {
		return ""
	}
	return k.steps[i].name
}

// stepRanges returns the recorded steps in order of time.
func (x *index) stepRanges() []stepRange {
	var list []stepRange
	for i, c := range x.class {
		if c == trace.ClassStep {
			s := &x.t.Slices[i]
			list = append(list, stepRange{s.Start, s.End(), strings.TrimPrefix(x.t.Name(s), stepPrefix)})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].start < list[j].start })
	return list
}

// stackReader finds the call stack of an event, innermost frame first: as recorded with it, else by nesting.
type stackReader struct {
	t     *trace.Trace
	n     int
	nest  *tree
	extra map[trace.StringID]string
}

func newStackReader(x *index, n int) *stackReader {
	r := &stackReader{t: x.t, n: n, extra: map[trace.StringID]string{}}
	if n > 0 {
		r.nest = buildTree(x, nests, nil)
	}
	return r
}

// nests reports whether slices of class c nest with others of their thread into call stacks.
func nests(c trace.Class) bool {
	switch c {
	case trace.ClassOp, trace.ClassAnnotation, trace.ClassStep, trace.ClassCall, trace.ClassPython, trace.ClassRuntime,
		trace.ClassDriver, trace.ClassComm, trace.ClassOther:
		return true
	}
	return false
}

// frames returns the innermost n frames of slice i.
func (r *stackReader) frames(i int32) []string {
	s := &r.t.Slices[i]
	var text trace.StringID
	var id trace.StackID
	switch s.Kind {
	case trace.ArgOp:
		text, id = r.t.Ops[s.Args].StackText, r.t.Ops[s.Args].Stack
	case trace.ArgCall:
		id = r.t.Calls[s.Args].Stack
	}
	switch {
	case text != 0:
		list := strings.Split(r.t.Strings.Get(text), ";")
		return list[:min(r.n, len(list))]
	case id != 0:
		return stackFrames(r.t, id, r.n)
	}
	var list []string
	for p := r.nest.parent[i]; p >= 0 && len(list) < r.n; p = r.nest.parent[p] {
		list = append(list, r.t.Name(&r.t.Slices[p]))
	}
	return list
}

// stackFrames returns at most n frames of a stack, innermost first.
func stackFrames(t *trace.Trace, id trace.StackID, n int) []string {
	var list []string
	for ; id != 0 && len(list) < n && int(id) < len(t.Stacks); id = t.Stacks[id].Parent {
		list = append(list, frameText(t, t.Stacks[id].Frame))
	}
	return list
}

func frameText(t *trace.Trace, id trace.FrameID) string {
	if int(id) >= len(t.Frames) {
		return "?"
	}
	f := t.Frames[id]
	name, file := t.Strings.Get(f.Func), t.Strings.Get(f.File)
	if file == "" || strings.HasPrefix(name, file+":") { // the statements of a cell are named by their place
		return name
	}
	return fmt.Sprintf("%s(%d): %s", file, f.Line, name)
}

// overload returns the overload name of an operator, which Kineto writes among its other arguments.
func (r *stackReader) overload(t *trace.Trace, i int32) string {
	s := &t.Slices[i]
	if s.Kind != trace.ArgOp {
		return ""
	}
	id := t.Ops[s.Args].Extra
	if id == 0 {
		return ""
	}
	if name, ok := r.extra[id]; ok {
		return name
	}
	var args struct {
		Name string `json:"Overload Name"`
	}
	// Extra is the source's text; one that is not JSON has no overload name.
	_ = json.Unmarshal([]byte(t.Strings.Get(id)), &args)
	r.extra[id] = args.Name
	return args.Name
}

// trackName returns the name of a track for people.
func trackName(t *trace.Trace, id trace.TrackID) string {
	if id < 0 || int(id) >= len(t.Tracks) {
		return ""
	}
	tr := &t.Tracks[id]
	switch {
	case tr.Name != "":
		return strings.TrimSpace(tr.Name)
	case tr.Key != "":
		return tr.Key
	case tr.Kind == trace.TrackGoroutine:
		return fmt.Sprintf("goroutine %d", tr.ID)
	case tr.Kind == trace.TrackStream:
		return fmt.Sprintf("stream %d", tr.ID)
	}
	return fmt.Sprintf("thread %d", tr.ID)
}
