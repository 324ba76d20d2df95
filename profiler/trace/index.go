package trace

import "strconv"

// TrackIndex finds tracks by what they show, adding those that are new. It belongs to one Trace and is valid as long as
// nobody else adds or moves tracks.
type TrackIndex struct {
	t   *Trace
	ids map[trackKey]TrackID
}

type trackKey struct {
	process ProcessID
	kind    TrackKind
	id      int64
}

// TrackIndex returns an index over the tracks of t.
func (t *Trace) TrackIndex() *TrackIndex {
	x := &TrackIndex{t, make(map[trackKey]TrackID, len(t.Tracks))}
	for i := range t.Tracks {
		k := &t.Tracks[i]
		x.ids[trackKey{k.Process, k.Kind, k.ID}] = TrackID(i)
	}
	return x
}

// ID returns the track of that kind and id in process p, adding it under name when it is new.
func (x *TrackIndex) ID(p ProcessID, kind TrackKind, id int64, name string) TrackID {
	k := trackKey{p, kind, id}
	if n, ok := x.ids[k]; ok {
		return n
	}
	n := TrackID(len(x.t.Tracks))
	x.t.Tracks = append(x.t.Tracks, Track{Process: p, Kind: kind, ID: id, Name: name, Sort: id, Device: NoDevice})
	x.ids[k] = n
	return n
}

// Goroutine returns the track of a goroutine of process p.
func (x *TrackIndex) Goroutine(p ProcessID, goid int64) TrackID {
	if n, ok := x.ids[trackKey{p, TrackGoroutine, goid}]; ok {
		return n
	}
	return x.ID(p, TrackGoroutine, goid, "goroutine "+strconv.FormatInt(goid, 10))
}

// Process returns the host process with that pid, adding it under name when it is new.
func (t *Trace) Process(pid int64, name string) ProcessID {
	for i := range t.Processes {
		if p := &t.Processes[i]; p.PID == pid && p.Key == "" && p.Device == NoDevice {
			return ProcessID(i)
		}
	}
	t.Processes = append(t.Processes, Process{PID: pid, Name: name, Labels: "CPU", Sort: pid, Device: NoDevice})
	return ProcessID(len(t.Processes) - 1)
}

// StackIndex interns frames and call stacks. It belongs to one Trace.
type StackIndex struct {
	t      *Trace
	frames map[Frame]FrameID
	stacks map[Stack]StackID
}

// StackIndex returns an index over the frames and stacks of t.
func (t *Trace) StackIndex() *StackIndex {
	if len(t.Stacks) == 0 {
		t.Stacks = append(t.Stacks, Stack{})
	}
	x := &StackIndex{t, make(map[Frame]FrameID, len(t.Frames)), make(map[Stack]StackID, len(t.Stacks))}
	for i, f := range t.Frames {
		x.frames[f] = FrameID(i)
	}
	for i, s := range t.Stacks[1:] {
		x.stacks[s] = StackID(i + 1)
	}
	return x
}

// Frame returns the id of a place in code.
func (x *StackIndex) Frame(function, file string, line int32) FrameID {
	f := Frame{x.t.Strings.ID(function), x.t.Strings.ID(file), line}
	if id, ok := x.frames[f]; ok {
		return id
	}
	id := FrameID(len(x.t.Frames))
	x.t.Frames = append(x.t.Frames, f)
	x.frames[f] = id
	return id
}

// Push returns the stack in which a frame at f was called from parent; parent 0 makes f the root.
func (x *StackIndex) Push(parent StackID, f FrameID) StackID {
	s := Stack{parent, f}
	if id, ok := x.stacks[s]; ok {
		return id
	}
	id := StackID(len(x.t.Stacks))
	x.t.Stacks = append(x.t.Stacks, s)
	x.stacks[s] = id
	return id
}
