package cuda

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gander-go/gander/cuda/cupti"
	"github.com/gander-go/gander/profiler/record"
	"github.com/gander-go/gander/profiler/trace"
)

// recording is what one capture saw, and what is needed to read it.
type recording struct {
	records *cupti.Records
	clock   *clock
	version int                                 // the toolkit's: 1204 is 12.4
	devices []cupti.Device                      // as the driver describes them; records win
	name    func(driver bool, id uint32) string // of API functions, as CUPTI spells them; may be nil
	symbol  func(mangled string) string         // of kernels; may be nil
}

// builder adds a recording to a trace.
//
//  1. Ids are collected: what was pushed around each call, the calls by correlation id, contexts, devices.
//  2. Calls, device work, waits, overhead and marks in the window become slices; those of calls go to threads' tracks.
//  3. Memory becomes events with running totals.
//  4. Losses become problems.
//
// Settle does what needs the spans.
type builder struct {
	*recording
	t      *trace.Trace
	w      record.Window
	tracks *trace.TrackIndex

	host     trace.ProcessID
	external map[uint32]uint64 // correlation id to span
	calls    map[uint32]*cupti.Call
	callName map[uint64]string // by id, the driver's shifted
	callArgs map[uint64]uint32 // rows of Generics, by id and result
	contexts map[uint32]uint32 // context to device
	places   map[uint32]place  // by CUPTI's device id
	threads  map[uint32]string // names that the program gave
	streams  map[[2]uint32]string
	kernels  map[string]trace.StringID // demangled names
	untimed  int64
}

// place is where a device is in the trace.
type place struct {
	device trace.DeviceID
	info   *cupti.Device
}

// addTo adds what lies in w to t.
func (r *recording) addTo(t *trace.Trace, w record.Window) {
	b := &builder{
		recording: r, t: t, w: w, external: map[uint32]uint64{}, calls: map[uint32]*cupti.Call{}, callName: map[uint64]string{},
		callArgs: map[uint64]uint32{}, contexts: map[uint32]uint32{}, places: map[uint32]place{}, threads: map[uint32]string{},
		streams: map[[2]uint32]string{}, kernels: map[string]trace.StringID{},
	}
	name := "go"
	if len(os.Args) > 0 {
		name = filepath.Base(os.Args[0])
	}
	b.host = t.Process(int64(os.Getpid()), name)
	t.Kernels, t.Copies, t.Syncs, t.Generics = first(t.Kernels), first(t.Copies), first(t.Syncs), first(t.Generics)
	b.ids()
	b.tracks = t.TrackIndex()
	b.apiCalls()
	b.work()
	b.waits()
	b.marks()
	b.memory()
	b.nameTracks()
	b.problems()
	b.meta()
}

// first makes row 0 of a side table, which nobody uses.
func first[T any](rows []T) []T {
	if len(rows) == 0 {
		return make([]T, 1)
	}
	return rows
}

func (b *builder) ids() {
	r := b.records
	for i := range r.External {
		if e := &r.External[i]; e.Kind == cupti.ExternalSpan {
			b.external[e.Correlation] = e.ID
		}
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		// A call of the runtime and the driver's that it makes may share an id: the earlier one made the launch.
		if old := b.calls[c.Correlation]; old == nil || c.Start != 0 && c.Start < old.Start {
			b.calls[c.Correlation] = c
		}
	}
	for _, c := range r.Contexts {
		b.contexts[c.ID] = c.Device
	}
	for i := range b.devices { // first, because they are in order
		b.place(b.devices[i].ID)
	}
	for i := range r.Devices {
		b.place(r.Devices[i].ID)
	}
	for _, n := range r.Names {
		switch n.Object {
		case 2:
			b.threads[n.Thread] = n.Name
		case 5:
			b.streams[[2]uint32{n.Context, n.Stream}] = n.Name
		}
	}
}

// place returns where a device is in the trace, adding it when it is new.
func (b *builder) place(id uint32) place {
	if p, ok := b.places[id]; ok {
		return p
	}
	d := b.describe(id)
	t := b.t
	at := trace.NoDevice
	for i := range t.Devices {
		if t.Devices[i].ID == int64(id) {
			at = trace.DeviceID(i)
		}
	}
	if at == trace.NoDevice {
		at = trace.DeviceID(len(t.Devices))
		t.Devices = append(t.Devices, deviceOf(d))
	}
	p := place{at, d}
	b.places[id] = p
	return p
}

// process returns the process that shows a device's work, adding it when it is new: devices without work have none.
func (b *builder) process(id uint32) trace.ProcessID {
	t, at := b.t, b.place(id).device
	for i := range t.Processes {
		if t.Processes[i].Device == at {
			return trace.ProcessID(i)
		}
	}
	n := strconv.FormatUint(uint64(id), 10)
	// The order of torch.profiler's files: devices after all processes of the host.
	t.Processes = append(t.Processes, trace.Process{PID: int64(id), Name: "GPU " + n, Labels: "GPU " + n, Sort: 5000000 + int64(id), Device: at})
	return trace.ProcessID(len(t.Processes) - 1)
}

// describe merges what the records and the driver know of a device.
func (b *builder) describe(id uint32) *cupti.Device {
	d := cupti.Device{ID: id}
	for i := range b.devices {
		if b.devices[i].ID == id {
			d = b.devices[i]
		}
	}
	for i := range b.records.Devices {
		if r := b.records.Devices[i]; r.ID == id {
			if r.Name == "" {
				r.Name = d.Name
			}
			d = r
		}
	}
	return &d
}

func deviceOf(d *cupti.Device) trace.Device {
	return trace.Device{
		ID: int64(d.ID), Name: d.Name, TotalMemory: int64(min(d.Memory, 1<<62)), Major: int(d.Major), Minor: int(d.Minor), SMs: int(d.SMs),
		MaxThreadsPerSM: int(d.MaxWarpsPerSM) * int(d.WarpSize), MaxThreadsPerBlk: int(d.MaxThreadsPerBlock), WarpSize: int(d.WarpSize),
		RegsPerSM: int(d.RegistersPerSM), SharedPerSM: int64(d.SharedPerSM),
	}
}

// at converts CUPTI's time to the trace's.
func (b *builder) at(t uint64) int64 { return b.w.Time(b.clock.record(t)) }

// inWindow reports whether device work belongs to the window: when it was launched, or else when it started.
func (b *builder) inWindow(correlation uint32, start uint64) bool {
	if c := b.calls[correlation]; c != nil && correlation != 0 {
		start = c.Start
	}
	return b.w.Holds(b.clock.record(start))
}

// timed reports whether a record has times that can be shown, and counts it otherwise.
func (b *builder) timed(start, end uint64) bool {
	if start == 0 || end < start || end-start > 1<<62 {
		b.untimed++
		return false
	}
	return true
}

func (b *builder) slice(start, end uint64, correlation uint32, track trace.TrackID, name trace.StringID, cat trace.CategoryID, kind trace.ArgKind, args int) {
	b.t.Slices = append(b.t.Slices, trace.Slice{
		Start: b.at(start), Dur: int64(end - start), Corr: int64(correlation), Ext: int64(b.external[correlation]), Track: track, Name: name,
		Cat: cat, Kind: kind, Args: uint32(args),
	})
}

// thread returns the track of a thread of the host.
func (b *builder) thread(tid uint32) trace.TrackID {
	n := strconv.FormatUint(uint64(tid), 10)
	return b.tracks.ID(b.host, trace.TrackThread, int64(tid), "thread "+n)
}

// stream returns the track of a stream.
func (b *builder) stream(device, context, stream uint32) trace.TrackID {
	p := b.place(device)
	id := b.tracks.ID(b.process(device), trace.TrackStream, int64(stream), "stream "+strconv.FormatUint(uint64(stream), 10))
	k := &b.t.Tracks[id]
	k.Device, k.Context = p.device, int64(context)
	return id
}

func (b *builder) nameTracks() {
	for i := range b.t.Tracks {
		k := &b.t.Tracks[i]
		name := ""
		switch k.Kind {
		case trace.TrackThread:
			name = b.threads[uint32(k.ID)]
		case trace.TrackStream:
			name = b.streams[[2]uint32{uint32(k.Context), uint32(k.ID)}]
		}
		if name != "" && !strings.HasSuffix(k.Name, ")") {
			k.Name += " (" + name + ")"
		}
	}
}

// meta notes the versions that the figures come from, as torch.profiler's files do.
func (b *builder) meta() {
	const key = "cupti_version"
	for _, v := range b.t.Meta.Values {
		if v.Key == key {
			return
		}
	}
	b.t.Meta.Values = append(b.t.Meta.Values, trace.KeyValue{Key: key, Value: strconv.Quote(cupti.FormatVersion(b.version))})
	// A window that ended while the device still worked reaches to the end of that work.
	for i := range b.t.Slices {
		if s := &b.t.Slices[i]; b.t.Class(s).DeviceWork() {
			b.t.Meta.End = max(b.t.Meta.End, s.End())
		}
	}
}
