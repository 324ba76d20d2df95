package analyze

import (
	"sort"

	"github.com/gander-go/gander/profiler/trace"
)

// maker builds small traces by hand. Times are in microseconds.
type maker struct {
	*trace.Trace
	corr int64
}

func newMaker() *maker {
	m := &maker{Trace: &trace.Trace{}}
	m.Meta.Rank = trace.NoRank
	m.Ops, m.Calls, m.Kernels = make([]trace.OpArgs, 1), make([]trace.CallArgs, 1), make([]trace.KernelArgs, 1)
	m.Copies, m.Syncs = make([]trace.CopyArgs, 1), make([]trace.SyncArgs, 1)
	m.Stacks = make([]trace.Stack, 1)
	m.Processes = []trace.Process{{PID: 1, Device: trace.NoDevice}}
	return m
}

func (m *maker) track(kind trace.TrackKind, id int64, d trace.DeviceID) trace.TrackID {
	m.Tracks = append(m.Tracks, trace.Track{Kind: kind, ID: id, Device: d})
	return trace.TrackID(len(m.Tracks) - 1)
}

func (m *maker) thread(id int64) trace.TrackID { return m.track(trace.TrackThread, id, trace.NoDevice) }

func (m *maker) device(memory int64, major int) trace.DeviceID {
	m.Devices = append(m.Devices, trace.Device{ID: int64(len(m.Devices)), Name: "Test GPU", TotalMemory: memory, Major: major})
	return trace.DeviceID(len(m.Devices) - 1)
}

// add adds a slice and returns a pointer to it that holds until the next one.
func (m *maker) add(c trace.Class, cat string, track trace.TrackID, name string, start, dur int64) *trace.Slice {
	m.Slices = append(m.Slices, trace.Slice{Start: start * 1000, Dur: dur * 1000, Track: track, Name: m.Strings.ID(name), Cat: m.Category(cat, c)})
	return &m.Slices[len(m.Slices)-1]
}

func (m *maker) op(track trace.TrackID, name string, start, dur, ext int64, args trace.OpArgs) {
	m.Ops = append(m.Ops, args)
	s := m.add(trace.ClassOp, "cpu_op", track, name, start, dur)
	s.Ext, s.Kind, s.Args = ext, trace.ArgOp, uint32(len(m.Ops)-1)
}

// launch adds a call and a kernel that it launches.
func (m *maker) launch(thread, stream trace.TrackID, kernel string, callStart, callDur, start, dur, ext int64) {
	m.corr++
	call := m.add(trace.ClassRuntime, "cuda_runtime", thread, "cudaLaunchKernel", callStart, callDur)
	call.Corr, call.Ext = m.corr, ext
	tr := m.Tracks[stream]
	m.Kernels = append(m.Kernels, trace.KernelArgs{BlocksPerSM: 0.5, Occupancy: 40, Device: tr.Device, Stream: tr.ID})
	k := m.add(trace.ClassKernel, "kernel", stream, kernel, start, dur)
	k.Corr, k.Ext, k.Kind, k.Args = m.corr, ext, trace.ArgKernel, uint32(len(m.Kernels)-1)
}

func (m *maker) memory(track trace.TrackID, at int64, addr uint64, bytes int64) {
	m.Memory = append(m.Memory, trace.MemEvent{Time: at * 1000, Track: track, Addr: addr, Bytes: bytes, Device: trace.NoDevice, Allocated: -1, Reserved: -1})
}

func (m *maker) stack(frames ...string) trace.StackID { // outermost first
	id := trace.StackID(0)
	for _, f := range frames {
		m.Frames = append(m.Frames, trace.Frame{Func: m.Strings.ID(f)})
		m.Stacks = append(m.Stacks, trace.Stack{Parent: id, Frame: trace.FrameID(len(m.Frames) - 1)})
		id = trace.StackID(len(m.Stacks) - 1)
	}
	return id
}

func (m *maker) done() *trace.Trace {
	m.Sort()
	sort.SliceStable(m.Memory, func(i, j int) bool { return m.Memory[i].Time < m.Memory[j].Time })
	return m.Trace
}
