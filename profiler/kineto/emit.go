package kineto

import (
	"bytes"
	"math"

	"github.com/gander-go/gander/profiler/trace"
)

// emit adds to the batch what the scanned event says. Local ids everywhere.
func (s *scanner) emit(e *event) {
	switch e.phase {
	case 'X':
		s.complete(e)
	case 's', 't', 'f':
		s.flow(e)
	case 'i', 'I', 'R':
		s.instant(e)
	case 'M':
		s.note(e)
	case 'B', 'E':
		s.edge(e, s.track(e))
	case 'b', 'e', 'S', 'F':
		s.edge(e, s.beside(e, useAsync, s.category(e).name))
	case 'n', 'p':
		s.instant(e)
	case 'T':
		if e.dur.given() {
			s.state(e)
		} else {
			s.instant(e) // a step of an asynchronous event, in the spelling before 'n'
		}
	case 'C':
		s.counter(e)
	case 'P':
		s.sample(e)
	case 0:
		s.out.lost[lostElement]++
	case 'N', 'O', 'D', 'V', 'v', 'c', '(', ')':
		// Objects, memory dumps, clock synchronisation and contexts: nothing for a timeline of work.
		s.out.lost[lostPhase]++
	default:
		s.out.lost[lostPhase]++
	}
}

// times reads ts and, where asked, dur. ok is false, and the loss counted, when the event has no usable time.
func (s *scanner) times(e *event, withDur bool) (start, dur int64, flags trace.SliceFlags, ok bool) {
	start, ok = nanoseconds(e.ts.of(e.b))
	if !ok {
		s.out.lost[lostTime]++
		return
	}
	if !withDur {
		return
	}
	if string(e.take(keyFinished)) == "false" {
		flags |= trace.FlagUnfinished
	}
	if !e.dur.given() || string(e.dur.of(e.b)) == "null" {
		s.out.lost[fixedNoDuration]++
		return start, 0, flags | trace.FlagUnfinished, true
	}
	raw := e.dur.of(e.b)
	if dur, ok = nanoseconds(raw); !ok {
		if raw[0] == '"' {
			s.out.lost[lostTime]++
			return
		}
		s.out.lost[fixedNoDuration]++ // NaN and the like
		return start, 0, flags | trace.FlagUnfinished, true
	}
	if dur < 0 {
		s.out.lost[fixedNegative]++
		dur, flags = 0, flags|trace.FlagUnfinished
	}
	if start > 0 && dur > math.MaxInt64-start {
		dur = math.MaxInt64 - start
	}
	return start, dur, flags, true
}

// complete adds an event that has a duration, by far the most frequent kind.
func (s *scanner) complete(e *event) {
	c := s.category(e)
	if c.skip {
		return
	}
	start, dur, flags, ok := s.times(e, true)
	if !ok {
		return
	}
	sl := trace.Slice{Start: start, Dur: dur, Track: s.track(e), Name: s.text(e.name.of(e.b)), Flags: flags}
	s.classify(e, c, &sl)
	s.out.slices = append(s.out.slices, sl)
}

// classify gives the slice its category, its ids and its arguments.
func (s *scanner) classify(e *event, c category, sl *trace.Slice) {
	sl.Cat = c.id
	class := c.class
	if c.step != c.id && bytes.HasPrefix(unquoted(e.name.of(e.b)), []byte(stepPrefix)) {
		sl.Cat, class = c.step, trace.ClassStep
	}
	sl.Ext, _ = s.int(e, keyExternalID, 0)
	sl.Corr, _ = s.int(e, keyCorrelation, 0)
	sl.Kind, sl.Args = s.args(e, argsOf(class))
}

// state adds a thread state as Perfetto's own exporter writes it: beside the thread, whose slices it does not nest with.
func (s *scanner) state(e *event) {
	start, dur, flags, ok := s.times(e, true)
	if !ok {
		return
	}
	sl := trace.Slice{Start: start, Dur: dur, Track: s.beside(e, useState, 0), Name: s.text(e.name.of(e.b)), Flags: flags}
	s.classify(e, s.category(e), &sl)
	s.out.slices = append(s.out.slices, sl)
}

func (s *scanner) flow(e *event) {
	time, _, _, ok := s.times(e, false)
	if !ok {
		return
	}
	s.out.points = append(s.out.points, flowPoint{
		id: s.eventID(e), time: time, track: s.track(e), cat: s.category(e).name, name: s.text(e.name.of(e.b)), phase: e.phase,
	})
}

// eventID reads "id" or what "id2" holds.
func (s *scanner) eventID(e *event) int64 {
	if e.id.given() {
		return identifier(e.id.of(e.b))
	}
	if !e.id2.given() {
		return 0
	}
	id := e.id2.of(e.b)
	if i := bytes.IndexByte(id, ':'); i >= 0 {
		v := id[space(id, i+1):]
		if end := endOfValue(v, 0); end > 0 {
			return identifier(v[:end])
		}
	}
	return identifier(id)
}

func (s *scanner) edge(e *event, track trace.TrackID) {
	time, _, _, ok := s.times(e, false)
	if !ok {
		return
	}
	ed := edge{phase: e.phase}
	switch e.phase {
	case 'S':
		ed.phase = 'b'
	case 'F':
		ed.phase = 'e'
	}
	if ed.phase == 'b' || ed.phase == 'e' {
		ed.id = s.eventID(e)
	}
	ed.slice = trace.Slice{Start: time, Track: track, Name: s.text(e.name.of(e.b))}
	c := s.category(e)
	ed.slice.Cat = c.id
	if ed.phase == 'B' || ed.phase == 'b' {
		if c.skip {
			ed.slice.Dur = -1 // the pair is left out, but must still match
		}
		s.classify(e, c, &ed.slice)
		if ed.phase == 'b' {
			ed.slice.Flags |= trace.FlagAsync
			ed.slice.Ext = ed.id
		}
	}
	s.out.edges = append(s.out.edges, ed)
}

func (s *scanner) instant(e *event) {
	time, _, _, ok := s.times(e, false)
	if !ok {
		return
	}
	name := unquoted(e.name.of(e.b))
	if e.has(keyMemBytes) && (string(name) == "[memory]" || string(name) == "[OutOfMemory]") {
		if s.memory(e, time, string(name) == "[OutOfMemory]") {
			return
		}
	}
	in := trace.Instant{Time: time, Track: s.track(e), Name: s.text(e.name.of(e.b)), Cat: s.category(e).id, Scope: e.scope}
	if in.Scope != 'g' && in.Scope != 'p' {
		in.Scope = 't'
	}
	in.Args = s.object(e)
	s.out.instants = append(s.out.instants, in)
}

// memory adds an allocation or release; ok is false when its numbers are none.
func (s *scanner) memory(e *event, time int64, oom bool) bool {
	bytes, ok := s.int(e, keyMemBytes, 0)
	if !ok {
		return false
	}
	m := trace.MemEvent{Time: time, Track: s.track(e), OOM: oom, Device: trace.NoDevice, Bytes: bytes, Space: trace.MemOther}
	addr, _ := s.int(e, keyAddr, 0)
	m.Addr = uint64(addr)
	kind, _ := s.int(e, keyDeviceType, 0)
	id, _ := s.int(e, keyDeviceID, -1)
	if kind == 0 {
		m.Space = trace.MemHost
	} else if id >= 0 && id <= math.MaxInt32 {
		// CUDA is 1, HIP 6, XPU 12, …: whatever is not the host and has an id is a device.
		m.Space, m.Device = trace.MemDevice, trace.DeviceID(id)
	}
	m.DeviceRaw, m.IDRaw = int32(kind), int32(id)
	m.Allocated, _ = s.int(e, keyAllocated, -1)
	m.Reserved, _ = s.int(e, keyReserved, -1)
	m.Index = s.index(e)
	m.Name = s.plainText(e, keyName)
	s.out.memory = append(s.out.memory, m)
	return true
}

func (s *scanner) note(e *event) {
	n := note{track: s.track(e)}
	switch string(unquoted(e.name.of(e.b))) {
	case "process_name":
		n.key, n.text = noteProcessName, s.text(e.take(keyName))
	case "process_labels":
		n.key, n.text = noteProcessLabels, s.text(e.take(keyLabels))
	case "thread_name":
		n.key, n.text = noteThreadName, s.text(e.take(keyName))
	case "process_sort_index":
		n.key = noteProcessSort
		n.value, _ = s.int(e, keySortIndex, 0)
	case "thread_sort_index":
		n.key = noteThreadSort
		n.value, _ = s.int(e, keySortIndex, 0)
	default:
		n.name, n.text = s.text(e.name.of(e.b)), s.object(e)
	}
	s.out.notes = append(s.out.notes, n)
}

// counter adds one value for each argument that is a number.
func (s *scanner) counter(e *event) {
	time, _, _, ok := s.times(e, false)
	if !ok {
		return
	}
	v := counterValue{time: time, track: s.track(e), name: s.text(e.name.of(e.b))}
	add := func(key, value []byte) {
		if v.value, ok = number(value); !ok {
			s.out.lost[lostCounter]++
			return
		}
		v.series, _ = s.names.id(nameText, key)
		s.out.values = append(s.out.values, v)
	}
	for k := argKey(1); k < numKeys; k++ {
		if e.has(k) {
			add([]byte(keyNames[k]), e.known[k].of(e.b))
		}
	}
	for _, a := range e.others {
		add(a.key.of(e.b), a.value.of(e.b))
	}
}

// sample adds a sample of the process's stack.
func (s *scanner) sample(e *event) {
	time, _, _, ok := s.times(e, false)
	if !ok {
		return
	}
	weight, ok := s.int(e, keyWeight, 1)
	if !ok {
		weight = 1
	}
	s.out.samples = append(s.out.samples, sampleEvent{time: time, track: s.track(e), frame: s.text(e.frame.of(e.b)), weight: weight})
}
