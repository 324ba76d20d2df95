package cuda

import (
	"strconv"

	"github.com/gander-go/gander/cuda/cupti"
	"github.com/gander-go/gander/profiler/trace"
)

// syncTracks sets the ids of tracks of waits off those of streams; torch.profiler's files have the same number.
const syncTracks = 1000000

// waits adds synchronisation. A stream's wait for an event lies on the stream; waits of the host lie on tracks of their own
// beside it, because they overlap what they wait for.
func (b *builder) waits() {
	events := b.recordedEvents()
	cat := b.t.Category("cuda_sync", trace.ClassSync)
	for i := range b.records.Syncs {
		s := &b.records.Syncs[i]
		if !b.inWindow(s.Correlation, s.Start) || !b.timed(s.Start, s.End) {
			continue
		}
		name := nameOf(syncNames, s.Type)
		device := b.contexts[s.Context]
		p := b.place(device)
		a := trace.SyncArgs{
			Kind: b.t.Strings.ID(name), Device: p.device, Context: int64(s.Context), Stream: streamID(s.Stream), WaitStream: -1, WaitEvent: -1, WaitRecordCorr: -1,
		}
		if s.Type == syncEvent || s.Type == syncStreamWait {
			a.WaitEvent = streamID(s.Event)
			if e := events.before(s); e != nil {
				a.WaitStream, a.WaitRecordCorr = streamID(e.Stream), int64(e.Correlation)
			}
		}
		b.t.Syncs = append(b.t.Syncs, a)
		b.slice(s.Start, s.End, s.Correlation, b.syncTrack(s, device, p), b.t.Strings.ID(name), cat, trace.ArgSync, len(b.t.Syncs)-1)
	}
}

func (b *builder) syncTrack(s *cupti.Sync, device uint32, p place) trace.TrackID {
	if s.Type == syncStreamWait && s.Stream != cupti.None {
		return b.stream(device, s.Context, s.Stream)
	}
	id, name := int64(syncTracks)+int64(s.Stream), "stream "+strconv.FormatUint(uint64(s.Stream), 10)+" (sync)"
	if s.Stream == cupti.None || s.Type == syncContext {
		id, name = 2*syncTracks+int64(s.Context), "context "+strconv.FormatUint(uint64(s.Context), 10)+" (sync)"
	}
	track := b.tracks.ID(b.process(device), trace.TrackOther, id, name)
	k := &b.t.Tracks[track]
	k.Device, k.Context = p.device, int64(s.Context)
	return track
}

// streamID is an id of CUPTI's, -1 for none.
func streamID(id uint32) int64 {
	if id == cupti.None {
		return -1
	}
	return int64(id)
}

// recordedEvents finds the record of an event that a wait is for.
type recordedEvents struct {
	bySync map[uint64]*cupti.Event
	byID   map[[2]uint32][]*cupti.Event // by context and event, in no order
}

func (b *builder) recordedEvents() recordedEvents {
	e := recordedEvents{map[uint64]*cupti.Event{}, map[[2]uint32][]*cupti.Event{}}
	for i := range b.records.Events {
		v := &b.records.Events[i]
		if v.Sync != 0 {
			e.bySync[v.Sync] = v
		}
		k := [2]uint32{v.Context, v.ID}
		e.byID[k] = append(e.byID[k], v)
	}
	return e
}

// before returns the last record of the event before the wait: correlation ids rise with time.
func (e recordedEvents) before(s *cupti.Sync) *cupti.Event {
	if v := e.bySync[s.EventSync]; s.EventSync != 0 && v != nil {
		return v
	}
	var last *cupti.Event
	for _, v := range e.byID[[2]uint32{s.Context, s.Event}] {
		if v.Correlation < s.Correlation && (last == nil || v.Correlation > last.Correlation) {
			last = v
		}
	}
	return last
}

// marks adds overhead and the program's NVTX ranges.
func (b *builder) marks() {
	cat := b.t.Category("overhead", trace.ClassOverhead)
	for i := range b.records.Overheads {
		o := &b.records.Overheads[i]
		if !b.w.Holds(b.clock.record(o.Start)) || !b.timed(o.Start, o.End) {
			continue
		}
		track := b.tracks.ID(b.overheadProcess(), trace.TrackOther, int64(o.Thread), "thread "+strconv.FormatUint(uint64(o.Thread), 10))
		b.slice(o.Start, o.End, o.Correlation, track, b.t.Strings.ID(overheadName(o.Kind)), cat, trace.NoArgs, 0)
	}
	b.ranges()
}

// overheadProcess is where torch.profiler's files put overhead.
func (b *builder) overheadProcess() trace.ProcessID {
	const pid, sort = -1, 0x100000A
	p := b.t.Process(pid, "CUDA overhead")
	b.t.Processes[p].Labels, b.t.Processes[p].Sort = "", sort
	return p
}

// ranges adds NVTX ranges and marks. The ends of a range share its id; a range that is open at an end of the capture is
// left out.
func (b *builder) ranges() {
	cat := b.t.Category("nvtx", trace.ClassAnnotation)
	open := map[uint32]*cupti.Marker{}
	for i := range b.records.Markers {
		if m := &b.records.Markers[i]; m.Start {
			open[m.ID] = m
		}
	}
	for i := range b.records.Markers {
		m := &b.records.Markers[i]
		switch s := open[m.ID]; {
		case m.Instant && b.w.Holds(b.clock.record(m.Time)):
			b.t.Instants = append(b.t.Instants, trace.Instant{
				Time: b.at(m.Time), Track: b.thread(m.Thread), Name: b.t.Strings.ID(m.Name), Cat: b.t.Category("nvtx", trace.ClassOther), Scope: 't',
			})
		case m.End && s != nil && b.w.Holds(b.clock.record(s.Time)) && b.timed(s.Time, m.Time):
			name := s.Name
			if s.Domain != "" {
				name = s.Domain + ": " + name
			}
			b.slice(s.Time, m.Time, 0, b.thread(s.Thread), b.t.Strings.ID(name), cat, trace.NoArgs, 0)
		}
	}
}
