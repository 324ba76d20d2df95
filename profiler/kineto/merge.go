package kineto

import (
	"unsafe"

	"github.com/gander-go/gander/profiler/trace"
)

// merger joins the batches of all scanners, in the order of their text, into one trace. It belongs to one goroutine.
type merger struct {
	t    *trace.Trace
	lost [numProblems]int64

	slices   column[trace.Slice]
	ops      column[trace.OpArgs]
	calls    column[trace.CallArgs]
	kernels  column[trace.KernelArgs]
	copies   column[trace.CopyArgs]
	syncs    column[trace.SyncArgs]
	generics column[trace.GenericArgs]
	memory   column[trace.MemEvent]
	instants column[trace.Instant]
	points   column[flowPoint]
	edges    column[edge]
	values   column[counterValue]
	samples  column[sampleEvent]

	events      int64
	stringBytes int64

	processes  map[processKey]trace.ProcessID
	tracks     map[mergedTrack]trace.TrackID
	categories map[trace.Category]trace.CategoryID
	frames     []byte // the value of stackFrames
}

type processKey struct {
	pid int64
	key trace.StringID
}

type mergedTrack struct {
	process  trace.ProcessID
	tid      int64
	key      trace.StringID
	kind     trackUse
	category trace.StringID
}

// translation maps the ids of one scanner to those of the trace.
type translation struct {
	strings    []trace.StringID
	tracks     []trackKey      // with strings of the trace
	made       []trace.TrackID // by local track, NoTrack until something is on it
	categories []trace.CategoryID
}

func newMerger() *merger {
	m := &merger{
		t:          &trace.Trace{},
		processes:  make(map[processKey]trace.ProcessID),
		tracks:     make(map[mergedTrack]trace.TrackID),
		categories: make(map[trace.Category]trace.CategoryID),
	}
	m.t.Categories = []trace.Category{{}}
	m.categories[trace.Category{}] = 0
	return m
}

// add moves what b holds to the trace. b may be used again afterwards.
func (m *merger) add(b *batch, x *translation) {
	m.learn(b, x)
	m.events += b.events
	for k, n := range b.lost {
		m.lost[k] += n
	}
	for i := range b.notes {
		m.note(&b.notes[i], x)
	}
	base := [...]uint32{
		trace.ArgOp: uint32(m.ops.n), trace.ArgCall: uint32(m.calls.n), trace.ArgKernel: uint32(m.kernels.n),
		trace.ArgCopy: uint32(m.copies.n), trace.ArgSync: uint32(m.syncs.n), trace.ArgGeneric: uint32(m.generics.n),
	}
	slice := func(s *trace.Slice) {
		s.Track, s.Name, s.Cat = m.track(x, s.Track), x.strings[s.Name], x.categories[s.Cat]
		s.Args += base[s.Kind]
	}
	for i := range b.slices {
		slice(&b.slices[i])
	}
	for i := range b.edges {
		slice(&b.edges[i].slice)
	}
	for i := range b.ops {
		a := &b.ops[i]
		a.Dims, a.Strides, a.Types, a.Concrete = x.strings[a.Dims], x.strings[a.Strides], x.strings[a.Types], x.strings[a.Concrete]
		a.StackText, a.Module, a.Extra = x.strings[a.StackText], x.strings[a.Module], x.strings[a.Extra]
	}
	for i := range b.calls {
		b.calls[i].Shapes, b.calls[i].Extra = x.strings[b.calls[i].Shapes], x.strings[b.calls[i].Extra]
	}
	for i := range b.kernels {
		b.kernels[i].Extra = x.strings[b.kernels[i].Extra]
	}
	for i := range b.copies {
		b.copies[i].Extra = x.strings[b.copies[i].Extra]
	}
	for i := range b.syncs {
		b.syncs[i].Kind, b.syncs[i].Extra = x.strings[b.syncs[i].Kind], x.strings[b.syncs[i].Extra]
	}
	for i := range b.generics {
		b.generics[i].JSON = x.strings[b.generics[i].JSON]
	}
	for i := range b.memory {
		b.memory[i].Track, b.memory[i].Name = m.track(x, b.memory[i].Track), x.strings[b.memory[i].Name]
	}
	for i := range b.instants {
		n := &b.instants[i]
		n.Track, n.Name, n.Cat, n.Args = m.track(x, n.Track), x.strings[n.Name], x.categories[n.Cat], x.strings[n.Args]
	}
	for i := range b.points {
		p := &b.points[i]
		p.track, p.cat, p.name = m.track(x, p.track), x.strings[p.cat], x.strings[p.name]
	}
	for i := range b.values {
		v := &b.values[i]
		v.track, v.name, v.series = trace.TrackID(m.process(x.tracks[v.track])), x.strings[v.name], x.strings[v.series]
	}
	for i := range b.samples {
		p := &b.samples[i]
		p.track, p.frame = m.track(x, p.track), x.strings[p.frame]
	}
	m.slices.addAll(b.slices)
	m.ops.addAll(b.ops)
	m.calls.addAll(b.calls)
	m.kernels.addAll(b.kernels)
	m.copies.addAll(b.copies)
	m.syncs.addAll(b.syncs)
	m.generics.addAll(b.generics)
	m.memory.addAll(b.memory)
	m.instants.addAll(b.instants)
	m.points.addAll(b.points)
	m.edges.addAll(b.edges)
	m.values.addAll(b.values)
	m.samples.addAll(b.samples)
}

// learn extends the translation by what the scanner has met for the first time.
func (m *merger) learn(b *batch, x *translation) {
	if b.fresh {
		*x = translation{strings: []trace.StringID{0}}
	}
	for _, s := range b.strings {
		before := m.t.Strings.Len()
		id := m.t.Strings.ID(s)
		if int(id) == before {
			m.stringBytes += int64(len(s)) + 32
		}
		x.strings = append(x.strings, id)
	}
	for _, k := range b.tracks {
		k.pidKey, k.tidKey, k.category = x.strings[k.pidKey], x.strings[k.tidKey], x.strings[k.category]
		x.tracks = append(x.tracks, k)
		x.made = append(x.made, trace.NoTrack)
	}
	for _, c := range b.categories {
		id, ok := m.categories[c]
		if !ok && len(m.t.Categories) < 2*maxCategories {
			id = trace.CategoryID(len(m.t.Categories))
			m.t.Categories = append(m.t.Categories, c)
			m.categories[c] = id
		}
		x.categories = append(x.categories, id)
	}
}

// process returns the process that a track belongs to.
func (m *merger) process(k trackKey) trace.ProcessID {
	pk := processKey{k.pid, k.pidKey}
	id, ok := m.processes[pk]
	if !ok {
		id = trace.ProcessID(len(m.t.Processes))
		m.t.Processes = append(m.t.Processes, trace.Process{PID: k.pid, Key: m.t.Strings.Get(k.pidKey), Device: trace.NoDevice})
		m.processes[pk] = id
	}
	return id
}

// track returns the track of the trace that a scanner's is.
func (m *merger) track(x *translation, local trace.TrackID) trace.TrackID {
	if id := x.made[local]; id != trace.NoTrack {
		return id
	}
	k := x.tracks[local]
	mk := mergedTrack{m.process(k), k.tid, k.tidKey, k.kind, k.category}
	id, ok := m.tracks[mk]
	if !ok {
		id = trace.TrackID(len(m.t.Tracks))
		tr := trace.Track{Process: mk.process, ID: k.tid, Key: m.t.Strings.Get(k.tidKey), Device: trace.NoDevice}
		switch k.kind {
		case useAsync:
			tr.Kind, tr.Key, tr.Name = trace.TrackOther, asyncKey+m.t.Strings.Get(k.category), m.t.Strings.Get(k.category)
		case useState:
			tr.Kind, tr.Key, tr.Name = trace.TrackOther, stateKey+tr.Key, "states"
		}
		m.t.Tracks = append(m.t.Tracks, tr)
		m.tracks[mk] = id
	}
	x.made[local] = id
	return id
}

// Keys of tracks that no thread is behind begin so.
const (
	asyncKey = "async:"
	stateKey = "states:"
)

// note applies a metadata event.
func (m *merger) note(n *note, x *translation) {
	text := m.t.Strings.Get(x.strings[n.text])
	switch n.key {
	case noteOther:
		if text != "" {
			m.setValue(m.t.Strings.Get(x.strings[n.name]), text)
		}
		return
	case noteThreadName:
		m.t.Tracks[m.track(x, n.track)].Name = text
		return
	case noteThreadSort:
		m.t.Tracks[m.track(x, n.track)].Sort = n.value
		return
	}
	p := &m.t.Processes[m.process(x.tracks[n.track])]
	switch n.key {
	case noteProcessName:
		p.Name = text
	case noteProcessLabels:
		p.Labels = text
	case noteProcessSort:
		p.Sort = n.value
	}
}

// maxValues bounds the number of metadata values, which are searched linearly.
const maxValues = 1000

// setValue keeps a metadata value; the last one of a key counts.
func (m *merger) setValue(key, value string) {
	for i := range m.t.Meta.Values {
		if m.t.Meta.Values[i].Key == key {
			m.t.Meta.Values[i].Value = value
			return
		}
	}
	if len(m.t.Meta.Values) < maxValues {
		m.t.Meta.Values = append(m.t.Meta.Values, trace.KeyValue{Key: key, Value: value})
	}
}

// bytes estimates the memory of what has been collected.
func (m *merger) bytes() int64 {
	return size[trace.Slice](m.slices.n) + size[trace.OpArgs](m.ops.n) + size[trace.CallArgs](m.calls.n) +
		size[trace.KernelArgs](m.kernels.n) + size[trace.CopyArgs](m.copies.n) + size[trace.SyncArgs](m.syncs.n) +
		size[trace.GenericArgs](m.generics.n) + size[trace.MemEvent](m.memory.n) + size[trace.Instant](m.instants.n) +
		size[flowPoint](m.points.n) + size[edge](m.edges.n) + size[counterValue](m.values.n) + size[sampleEvent](m.samples.n) +
		size[trace.Track](2*len(m.t.Tracks)) + size[trace.Process](2*len(m.t.Processes)) + m.stringBytes
}

func size[T any](n int) int64 {
	var v T
	return int64(n) * int64(unsafe.Sizeof(v))
}
