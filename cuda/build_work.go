package cuda

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gander-go/gander/cuda/cupti"
	"github.com/gander-go/gander/profiler/trace"
)

// apiCalls adds the calls of the runtime and the driver. Noise without consequence is left out, unless it failed.
func (b *builder) apiCalls() {
	caused := b.causes()
	runtime := b.t.Category("cuda_runtime", trace.ClassRuntime)
	driver := b.t.Category("cuda_driver", trace.ClassDriver)
	for i := range b.records.Calls {
		c := &b.records.Calls[i]
		if c.Start == 0 || !b.w.Holds(b.clock.record(c.Start)) {
			continue
		}
		if !b.timed(c.Start, c.End) {
			continue
		}
		name := b.apiName(c)
		if noisy[name] && c.Result == 0 && !caused[c.Correlation] {
			continue
		}
		cat := runtime
		if c.Driver {
			cat = driver
		}
		b.slice(c.Start, c.End, c.Correlation, b.thread(c.Thread), b.t.Strings.ID(name), cat, trace.ArgGeneric, b.apiArgs(c))
	}
}

// causes returns the correlation ids of everything that a call caused.
func (b *builder) causes() map[uint32]bool {
	r := b.records
	m := make(map[uint32]bool, len(r.Kernels)+len(r.Copies)+len(r.Sets)+len(r.Memory))
	for i := range r.Kernels {
		m[r.Kernels[i].Correlation] = true
	}
	for i := range r.Copies {
		m[r.Copies[i].Correlation] = true
	}
	for i := range r.Sets {
		m[r.Sets[i].Correlation] = true
	}
	for i := range r.Memory {
		m[r.Memory[i].Correlation] = true
	}
	for i := range r.Graphs {
		m[r.Graphs[i].Correlation] = true
	}
	return m
}

// callKey is a function of one of the two interfaces, and room for what it returned.
func callKey(c *cupti.Call) uint64 {
	k := uint64(c.ID) << 32
	if c.Driver {
		k |= 1 << 63
	}
	return k
}

func (b *builder) apiName(c *cupti.Call) string {
	k := callKey(c)
	name, ok := b.callName[k]
	if !ok {
		full := ""
		if b.name != nil {
			full = b.name(c.Driver, c.ID)
		}
		name = callName(full, c.Driver, c.ID)
		b.callName[k] = name
	}
	return name
}

// apiArgs returns the row of a call's arguments. Calls of one function share it, unless they failed in different ways.
func (b *builder) apiArgs(c *cupti.Call) int {
	k := callKey(c) | uint64(c.Result)
	n, ok := b.callArgs[k]
	if !ok {
		text := `{"cbid":` + strconv.FormatUint(uint64(c.ID), 10)
		if c.Result != 0 {
			text += `,"result":` + strconv.FormatUint(uint64(c.Result), 10)
		}
		n = uint32(len(b.t.Generics))
		b.t.Generics = append(b.t.Generics, trace.GenericArgs{JSON: b.t.Strings.ID(text + "}")})
		b.callArgs[k] = n
	}
	return int(n)
}

// work adds what devices did.
func (b *builder) work() {
	r := b.records
	cat := b.t.Category("kernel", trace.ClassKernel)
	for i := range r.Kernels {
		k := &r.Kernels[i]
		if !b.inWindow(k.Correlation, k.Start) || !b.timed(k.Start, k.End) {
			continue
		}
		b.t.Kernels = append(b.t.Kernels, b.kernelArgs(k))
		b.slice(k.Start, k.End, k.Correlation, b.stream(k.Device, k.Context, k.Stream), b.kernelName(k.Name), cat, trace.ArgKernel, len(b.t.Kernels)-1)
	}
	cat = b.t.Category("gpu_memcpy", trace.ClassMemcpy)
	for i := range r.Copies {
		c := &r.Copies[i]
		if !b.inWindow(c.Correlation, c.Start) || !b.timed(c.Start, c.End) {
			continue
		}
		args := trace.CopyArgs{
			Bytes: int64(min(c.Bytes, 1<<62)), Device: b.place(c.Device).device, Context: int64(c.Context), Stream: int64(c.Stream),
			GraphID: graph(c.Graph, c.GraphNode), GraphNode: graphNode(c.GraphNode),
		}
		args.Bandwidth = bandwidth(c.Bytes, c.End-c.Start)
		if c.Peer {
			args.Extra = b.json(map[string]any{"fromDevice": c.SrcDevice, "inDevice": c.Device, "toDevice": c.DstDevice,
				"fromContext": c.SrcContext, "inContext": c.Context, "toContext": c.DstContext})
		}
		b.t.Copies = append(b.t.Copies, args)
		b.slice(c.Start, c.End, c.Correlation, b.stream(c.Device, c.Context, c.Stream), b.t.Strings.ID(copyName(c)), cat, trace.ArgCopy, len(b.t.Copies)-1)
	}
	cat = b.t.Category("gpu_memset", trace.ClassMemset)
	for i := range r.Sets {
		s := &r.Sets[i]
		if !b.inWindow(s.Correlation, s.Start) || !b.timed(s.Start, s.End) {
			continue
		}
		b.t.Copies = append(b.t.Copies, trace.CopyArgs{
			Bytes: int64(min(s.Bytes, 1<<62)), Bandwidth: bandwidth(s.Bytes, s.End-s.Start), Device: b.place(s.Device).device, Context: int64(s.Context),
			Stream: int64(s.Stream), GraphID: graph(s.Graph, s.GraphNode), GraphNode: graphNode(s.GraphNode),
		})
		b.slice(s.Start, s.End, s.Correlation, b.stream(s.Device, s.Context, s.Stream), b.t.Strings.ID(setName(s)), cat, trace.ArgCopy, len(b.t.Copies)-1)
	}
	b.graphs()
}

// graphs adds runs of whole graphs as if each were a kernel: there is no record of what ran in them.
func (b *builder) graphs() {
	cat := b.t.Category("kernel", trace.ClassKernel)
	for i := range b.records.Graphs {
		g := &b.records.Graphs[i]
		if !b.inWindow(g.Correlation, g.Start) || !b.timed(g.Start, g.End) {
			continue
		}
		b.t.Kernels = append(b.t.Kernels, trace.KernelArgs{
			BlocksPerSM: -1, WarpsPerSM: -1, Occupancy: -1, Device: b.place(g.Device).device, Context: int64(g.Context), Stream: int64(g.Stream), Queued: -1,
			GraphID: int64(g.ID), GraphNode: -1,
		})
		name := b.t.Strings.ID("CUDA graph " + strconv.FormatUint(uint64(g.ID), 10))
		b.slice(g.Start, g.End, g.Correlation, b.stream(g.Device, g.Context, g.Stream), name, cat, trace.ArgKernel, len(b.t.Kernels)-1)
	}
}

func graph(id uint32, node uint64) int64 {
	if id == 0 && node == 0 {
		return -1
	}
	return int64(id)
}

func graphNode(node uint64) int64 {
	if node == 0 {
		return -1
	}
	return int64(node & (1<<63 - 1))
}

// bandwidth is in GB/s: bytes a nanosecond.
func bandwidth(bytes, ns uint64) float64 { return float64(bytes) / float64(max(1, ns)) }

func (b *builder) kernelName(mangled string) trace.StringID {
	id, ok := b.kernels[mangled]
	if !ok {
		name := mangled
		if b.symbol != nil && strings.HasPrefix(mangled, "_Z") {
			name = b.symbol(mangled)
		}
		id = b.t.Strings.ID(name)
		b.kernels[mangled] = id
	}
	return id
}

func (b *builder) kernelArgs(k *cupti.Kernel) trace.KernelArgs {
	p := b.place(k.Device)
	a := trace.KernelArgs{
		Grid: k.Grid, Block: k.Block, Registers: int32(k.Registers), SharedMem: k.StaticShared + k.DynamicShared,
		BlocksPerSM: -1, WarpsPerSM: -1, Occupancy: -1, Device: p.device, Context: int64(k.Context), Stream: int64(k.Stream), Queued: -1,
		GraphID: graph(k.Graph, k.GraphNode), GraphNode: graphNode(k.GraphNode),
	}
	if k.Queued != 0 && k.Queued <= k.Start {
		a.Queued = int64(k.Start - k.Queued)
	}
	extra := map[string]any{"channel": k.Channel, "channel_type": k.ChannelType}
	if k.HasPriority {
		extra["priority"] = k.Priority
	}
	if k.LocalPerThread > 0 {
		extra["local memory per thread"] = k.LocalPerThread
	}
	if k.Cluster[0] > 1 || k.Cluster[1] > 1 || k.Cluster[2] > 1 {
		extra["cluster"] = k.Cluster
	}
	if k.LaunchType == 1 || k.LaunchType == 2 {
		extra["cooperative"] = true
	}
	if k.DeviceLaunched {
		extra["launched by device"] = true
	}
	if o := estimate(p.info, k); o.known {
		a.BlocksPerSM, a.WarpsPerSM, a.Occupancy = o.blocksPerSM, o.warpsPerSM, o.achieved
		extra["occupancy"] = map[string]any{
			"activeBlocksPerMultiprocessor": o.active, "limitingFactors": o.limiting(), "blockLimitWarps": o.byWarps,
			"blockLimitBlocks": o.byBlocks, "blockLimitRegs": o.byRegisters, "blockLimitSharedMem": o.byShared,
			"allocatedRegistersPerBlock": o.registersPerBlock, "allocatedSharedMemPerBlock": o.sharedPerBlock,
		}
	}
	a.Extra = b.json(extra)
	return a
}

// json interns an object; keys are in alphabetical order.
func (b *builder) json(m map[string]any) trace.StringID {
	text, err := json.Marshal(m)
	if err != nil {
		return 0
	}
	return b.t.Strings.IDBytes(text)
}
