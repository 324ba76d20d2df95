package cupti

import "encoding/binary"

// Decoder turns activity records into Records.
type Decoder struct {
	// Version is the toolkit's (1204 is 12.4): fields that came later are not read even where the record has room.
	Version int
	// Sizes are the sizes of records as the library gives them.
	Sizes map[Kind]int
	// Text reads the C string at an address. Addresses are the library's: valid only while the buffer is decoded.
	Text func(address uint64) string
	// Max is how many records are kept; 0 is all.
	Max int

	Records Records
	kept    int
}

// record is one record's bytes.
type record struct {
	b       []byte
	version uint16
}

// num reads a field, 0 when the record has none.
func (r record) num(f field) uint64 {
	end := int(f.offset) + int(f.size)
	if f.since > r.version || end > len(r.b) {
		return 0
	}
	switch b := r.b[f.offset:end]; f.size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case 8:
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r record) u8(f field) uint8   { return uint8(r.num(f)) }
func (r record) u16(f field) uint16 { return uint16(r.num(f)) }
func (r record) u32(f field) uint32 { return uint32(r.num(f)) }
func (r record) i32(f field) int32  { return int32(r.num(f)) }
func (r record) has(f field) bool {
	return f.since <= r.version && int(f.offset)+int(f.size) <= len(r.b)
}

func (d *Decoder) text(r record, f field) string {
	if p := r.num(f); p != 0 && d.Text != nil {
		return d.Text(p)
	}
	return ""
}

// smallest are the sizes of 11.8: a record of a library that has less is not what it says.
var smallest = toolkits[0].sizes

// Add decodes the records of buf that begin at the offsets, which are in ascending order. A record reaches to the next one
// at most. What cannot be decoded is counted.
func (d *Decoder) Add(buf []byte, offsets []uint32) {
	for i, at := range offsets {
		end := len(buf)
		if i+1 < len(offsets) {
			end = min(end, int(offsets[i+1]))
		}
		if int(at)+4 > end {
			d.short(0)
			continue
		}
		kind := Kind(binary.LittleEndian.Uint32(buf[at:]))
		size := d.Sizes[kind]
		if size == 0 {
			size = end - int(at)
		}
		size = min(size, end-int(at))
		if least, known := smallest[kind]; known && size < int(least) {
			d.short(kind)
			continue
		}
		if d.Max > 0 && d.kept >= d.Max {
			d.Records.Lost.Excess++
			continue
		}
		d.kept++
		if !d.record(kind, record{buf[at : int(at)+size], uint16(min(d.Version, 1<<16-1))}) {
			count(&d.Records.Lost.Unknown, kind)
		}
	}
}

func (d *Decoder) short(k Kind) { count(&d.Records.Lost.Short, k) }

func count[K comparable](m *map[K]uint64, k K) {
	if *m == nil {
		*m = make(map[K]uint64)
	}
	(*m)[k]++
}

// record decodes one record; false when it is of a kind that has no table.
func (d *Decoder) record(k Kind, r record) bool {
	out := &d.Records
	switch k {
	case KindKernel, KindSerial:
		out.Kernels = append(out.Kernels, d.kernel(r))
	case KindMemcpy:
		out.Copies = append(out.Copies, copyOf(r))
	case KindMemcpyPeer:
		out.Copies = append(out.Copies, peerCopy(r))
	case KindMemset:
		out.Sets = append(out.Sets, set(r))
	case KindRuntime, KindDriver, KindInternal:
		f := &apiLayout
		out.Calls = append(out.Calls, Call{
			Driver: k != KindRuntime, ID: r.u32(f.cbid), Start: r.num(f.start), End: r.num(f.end), Process: r.u32(f.processId),
			Thread: r.u32(f.threadId), Correlation: r.u32(f.correlationId), Result: r.u32(f.returnValue),
		})
	case KindExternal:
		f := &externalCorrelationLayout
		out.External = append(out.External, External{r.u32(f.externalKind), r.num(f.externalId), r.u32(f.correlationId)})
	case KindSync:
		f := &synchronizationLayout
		out.Syncs = append(out.Syncs, Sync{
			Type: r.u32(f.typ), Start: r.num(f.start), End: r.num(f.end), Context: r.u32(f.contextId), Stream: r.u32(f.streamId),
			Correlation: r.u32(f.correlationId), Event: r.u32(f.cudaEventId), EventSync: r.num(f.cudaEventSyncId),
		})
	case KindEvent:
		f := &cudaEventLayout
		out.Events = append(out.Events, Event{r.u32(f.contextId), r.u32(f.streamId), r.u32(f.correlationId), r.u32(f.eventId), r.num(f.cudaEventSyncId)})
	case KindOverhead:
		f := &overheadLayout
		out.Overheads = append(out.Overheads, Overhead{
			Kind: r.u32(f.overheadKind), Start: r.num(f.start), End: r.num(f.end), Object: r.u32(f.objectKind),
			Process: r.u32(f.objectIdPtProcessId), Thread: r.u32(f.objectIdPtThreadId), Correlation: r.u32(f.correlationId),
		})
	case KindMemory:
		out.Memory = append(out.Memory, d.memory(r))
	case KindPool:
		f := &memoryPoolLayout
		out.Pools = append(out.Pools, Pool{
			Operation: r.u32(f.memoryPoolOperationType), Imported: r.u32(f.memoryPoolType) == 2, Process: r.u32(f.processId), Device: r.u32(f.deviceId),
			Address: r.num(f.address), Size: r.num(f.size), Used: r.num(f.utilizedSize), Time: r.num(f.timestamp),
		})
	default:
		return d.thing(k, r)
	}
	return true
}

// thing decodes records about things that exist rather than happen, and NVTX's.
func (d *Decoder) thing(k Kind, r record) bool {
	out := &d.Records
	switch k {
	case KindDevice:
		out.Devices = append(out.Devices, d.device(r))
	case KindContext:
		f := &contextLayout
		out.Contexts = append(out.Contexts, Context{r.u32(f.contextId), r.u32(f.deviceId), r.u16(f.nullStreamId)})
	case KindStream:
		f := &streamLayout
		out.Streams = append(out.Streams, Stream{r.u32(f.contextId), r.u32(f.streamId), r.u32(f.priority), r.u32(f.flag)})
	case KindGraph:
		f := &graphTraceLayout
		out.Graphs = append(out.Graphs, Graph{
			Start: r.num(f.start), End: r.num(f.end), Device: r.u32(f.deviceId), Context: r.u32(f.contextId), Stream: r.u32(f.streamId),
			Correlation: r.u32(f.correlationId), ID: r.u32(f.graphId),
		})
	case KindMarker:
		f := &markerLayout
		flags := r.u32(f.flags)
		out.Markers = append(out.Markers, Marker{
			Instant: flags&1 != 0, Start: flags&2 != 0, End: flags&4 != 0, Time: r.num(f.timestamp), ID: r.u32(f.id),
			Process: r.u32(f.objectIdPtProcessId), Thread: r.u32(f.objectIdPtThreadId), Name: d.text(r, f.name), Domain: d.text(r, f.domain),
		})
	case KindName:
		f := &nameLayout
		n := Name{Object: r.u32(f.objectKind), Name: d.text(r, f.name)}
		if n.Object <= 2 {
			n.Process, n.Thread = r.u32(f.objectIdPtProcessId), r.u32(f.objectIdPtThreadId)
		} else {
			n.Device, n.Context, n.Stream = r.u32(f.objectIdDcsDeviceId), r.u32(f.objectIdDcsContextId), r.u32(f.objectIdDcsStreamId)
		}
		out.Names = append(out.Names, n)
	default:
		return false
	}
	return true
}

func (d *Decoder) kernel(r record) Kernel {
	f := &kernelLayout
	return Kernel{
		Name: d.text(r, f.name), Start: r.num(f.start), End: r.num(f.end), Queued: r.num(f.queued), Submitted: r.num(f.submitted),
		Device: r.u32(f.deviceId), Context: r.u32(f.contextId), Stream: r.u32(f.streamId), Correlation: r.u32(f.correlationId),
		Grid:      [3]int32{r.i32(f.gridX), r.i32(f.gridY), r.i32(f.gridZ)},
		Block:     [3]int32{r.i32(f.blockX), r.i32(f.blockY), r.i32(f.blockZ)},
		Cluster:   [3]uint32{r.u32(f.clusterX), r.u32(f.clusterY), r.u32(f.clusterZ)},
		Registers: r.u16(f.registersPerThread), StaticShared: r.i32(f.staticSharedMemory), DynamicShared: r.i32(f.dynamicSharedMemory),
		SharedExecuted: r.u32(f.sharedMemoryExecuted), LocalPerThread: r.u32(f.localMemoryPerThread), LaunchType: r.u8(f.launchType),
		DeviceLaunched: r.u8(f.isDeviceLaunched) != 0, Priority: r.i32(f.priority), HasPriority: r.has(f.priority),
		GraphNode: r.num(f.graphNodeId), Graph: r.u32(f.graphId), Channel: r.u32(f.channelID), ChannelType: r.u32(f.channelType),
	}
}

func copyOf(r record) Copy {
	f := &memcpyLayout
	return Copy{
		Kind: r.u8(f.copyKind), From: r.u8(f.srcKind), To: r.u8(f.dstKind), Async: r.u8(f.flags)&1 != 0, DeviceLaunched: r.u8(f.isDeviceLaunched) != 0, Bytes: r.num(f.bytes),
		Start: r.num(f.start), End: r.num(f.end), Device: r.u32(f.deviceId), Context: r.u32(f.contextId), Stream: r.u32(f.streamId),
		Correlation: r.u32(f.correlationId), GraphNode: r.num(f.graphNodeId), Graph: r.u32(f.graphId), Count: r.num(f.copyCount),
	}
}

func peerCopy(r record) Copy {
	f := &memcpyPeerLayout
	return Copy{
		Kind: r.u8(f.copyKind), From: r.u8(f.srcKind), To: r.u8(f.dstKind), Async: r.u8(f.flags)&1 != 0, Peer: true, Bytes: r.num(f.bytes),
		Start: r.num(f.start), End: r.num(f.end), Device: r.u32(f.deviceId), Context: r.u32(f.contextId), Stream: r.u32(f.streamId),
		SrcDevice: r.u32(f.srcDeviceId), SrcContext: r.u32(f.srcContextId), DstDevice: r.u32(f.dstDeviceId), DstContext: r.u32(f.dstContextId),
		Correlation: r.u32(f.correlationId), GraphNode: r.num(f.graphNodeId), Graph: r.u32(f.graphId),
	}
}

func set(r record) Set {
	f := &memsetLayout
	return Set{
		Value: r.u32(f.value), MemoryKind: r.u16(f.memoryKind), DeviceLaunched: r.u8(f.isDeviceLaunched) != 0, Bytes: r.num(f.bytes), Start: r.num(f.start), End: r.num(f.end),
		Device: r.u32(f.deviceId), Context: r.u32(f.contextId), Stream: r.u32(f.streamId), Correlation: r.u32(f.correlationId),
		GraphNode: r.num(f.graphNodeId), Graph: r.u32(f.graphId),
	}
}

func (d *Decoder) memory(r record) Memory {
	f := &memoryLayout
	m := Memory{
		Release: r.u32(f.memoryOperationType) == 2, Kind: r.u32(f.memoryKind), Address: r.num(f.address), Bytes: r.num(f.bytes),
		Time: r.num(f.timestamp), Process: r.u32(f.processId), Device: r.u32(f.deviceId), Context: r.u32(f.contextId),
		Stream: r.u32(f.streamId), Correlation: r.u32(f.correlationId), Name: d.text(r, f.name), Async: r.u32(f.isAsync) != 0,
	}
	if kind := r.u32(f.memoryPoolConfigMemoryPoolType); kind != 0 {
		m.Pool = r.num(f.memoryPoolConfigAddress)
		if kind == 1 { // the field is a process id in imported pools
			m.PoolSize, m.PoolUsed = r.num(f.memoryPoolConfigPoolSize), r.num(f.memoryPoolConfigUtilizedSize)
		}
	}
	return m
}

func (d *Decoder) device(r record) Device {
	f := &deviceLayout
	return Device{
		ID: r.u32(f.id), Name: d.text(r, f.name), Major: r.u32(f.computeCapabilityMajor), Minor: r.u32(f.computeCapabilityMinor),
		Memory: r.num(f.globalMemorySize), Bandwidth: r.num(f.globalMemoryBandwidth), SMs: r.u32(f.numMultiprocessors),
		WarpSize: r.u32(f.numThreadsPerWarp), MaxWarpsPerSM: r.u32(f.maxWarpsPerMultiprocessor),
		MaxBlocksPerSM: r.u32(f.maxBlocksPerMultiprocessor), MaxThreadsPerBlock: r.u32(f.maxThreadsPerBlock),
		RegistersPerSM: r.u32(f.maxRegistersPerMultiprocessor), RegistersPerBlock: r.u32(f.maxRegistersPerBlock),
		SharedPerSM: r.u32(f.maxSharedMemoryPerMultiprocessor), SharedPerBlock: r.u32(f.maxSharedMemoryPerBlock),
		ClockKHz: r.u32(f.coreClockRate), MIG: r.u8(f.isMigEnabled) != 0, GPUInstance: r.u32(f.gpuInstanceId), ComputeInst: r.u32(f.computeInstanceId),
	}
}
