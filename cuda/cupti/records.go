package cupti

// Times are nanoseconds of CUPTI's clock (see Library.Timestamp); 0 is unknown. Ids are CUPTI's own; None is "no such
// thing". Fields that the library's version does not have are zero.

// None is the id of what does not exist: a stream of a synchronisation of a whole context, an event that is not one.
const None = 0xFFFFFFFF

// Kernel is one run of a kernel.
type Kernel struct {
	Name                    string // as compiled: mangled for C++
	Start, End              uint64
	Queued, Submitted       uint64 // 0 unless latency timestamps are on
	Device, Context, Stream uint32
	Correlation             uint32
	Grid, Block             [3]int32
	Cluster                 [3]uint32
	Registers               uint16 // per thread
	StaticShared            int32  // bytes
	DynamicShared           int32  // bytes
	SharedExecuted          uint32 // bytes of shared memory that the multiprocessor was set to
	LocalPerThread          uint32 // bytes
	LaunchType              uint8  // 0 regular, 1 cooperative, 2 cooperative on several devices
	DeviceLaunched          bool
	Priority                int32
	HasPriority             bool
	GraphNode               uint64
	Graph                   uint32
	Channel                 uint32
	ChannelType             uint32
}

// Copy is a copy that a device did. Its memory kinds are 0 unknown, 1 pageable, 2 pinned, 3 device, 4 array, 5 managed,
// 6 static, 7 managed static.
type Copy struct {
	Kind                    uint8 // 1 HtoD, 2 DtoH, 3 HtoA, 4 AtoH, 5 AtoA, 6 AtoD, 7 DtoA, 8 DtoD, 9 HtoH, 10 PtoP
	From, To                uint8
	Async                   bool
	DeviceLaunched          bool
	Peer                    bool // between devices: the fields Src… and Dst… are set
	Bytes                   uint64
	Start, End              uint64
	Device, Context, Stream uint32
	SrcDevice, SrcContext   uint32
	DstDevice, DstContext   uint32
	Correlation             uint32
	GraphNode               uint64
	Graph                   uint32
	Count                   uint64 // copies in one record, 0 where the version does not say
}

// Set is a memory set.
type Set struct {
	Value                   uint32
	MemoryKind              uint16
	DeviceLaunched          bool
	Bytes                   uint64
	Start, End              uint64
	Device, Context, Stream uint32
	Correlation             uint32
	GraphNode               uint64
	Graph                   uint32
}

// Call is a call of the runtime or driver API.
type Call struct {
	Driver          bool
	ID              uint32 // CUPTI's id of the function
	Start, End      uint64
	Process, Thread uint32
	Correlation     uint32
	Result          uint32
}

// ExternalSpan is the kind of external ids that Capture.Push pushes; others are of OpenACC and of other users of CUPTI.
const ExternalSpan = 3

// External ties a call to what was pushed before it.
type External struct {
	Kind        uint32
	ID          uint64
	Correlation uint32
}

// Sync is a wait of the host, or of a stream for an event.
type Sync struct {
	Type            uint32 // 1 event, 2 stream waits for an event, 3 stream, 4 context
	Start, End      uint64
	Context, Stream uint32
	Correlation     uint32
	Event           uint32
	EventSync       uint64 // ties it to the Event that was recorded, 0 where the version does not say
}

// Event is a recorded CUDA event.
type Event struct {
	Context, Stream uint32
	Correlation     uint32
	ID              uint32
	Sync            uint64
}

// Overhead is time that profiling and the driver took for themselves.
type Overhead struct {
	Kind            uint32
	Start, End      uint64
	Object          uint32 // 1 process, 2 thread, 3 device, 4 context, 5 stream
	Process, Thread uint32
	Correlation     uint32
}

// Memory is an allocation or release.
type Memory struct {
	Release                 bool
	Kind                    uint32 // as in Copy
	Address, Bytes          uint64
	Time                    uint64
	Process                 uint32
	Device, Context, Stream uint32
	Correlation             uint32
	Name                    string // of a variable, for static memory
	Async                   bool
	Pool                    uint64 // address of the pool it is taken from, 0 for none
	PoolSize, PoolUsed      uint64 // bytes of the pool after it; local pools only
}

// Pool is a change of a memory pool.
type Pool struct {
	Operation  uint32 // 1 created, 2 destroyed, 3 trimmed
	Imported   bool
	Process    uint32
	Device     uint32
	Address    uint64
	Size, Used uint64
	Time       uint64
}

// Device is a GPU.
type Device struct {
	ID                       uint32
	Name                     string
	Major, Minor             uint32 // compute capability
	Memory                   uint64 // bytes
	Bandwidth                uint64 // of its memory, kB/s
	SMs                      uint32
	WarpSize                 uint32
	MaxWarpsPerSM            uint32
	MaxBlocksPerSM           uint32
	MaxThreadsPerBlock       uint32
	RegistersPerSM           uint32
	RegistersPerBlock        uint32
	SharedPerSM              uint32 // bytes
	SharedPerBlock           uint32 // bytes
	ClockKHz                 uint32
	MIG                      bool
	GPUInstance, ComputeInst uint32
}

// Context is a CUDA context.
type Context struct {
	ID, Device uint32
	NullStream uint16
}

// Stream is a CUDA stream.
type Stream struct {
	Context, ID uint32
	Priority    uint32
	Flag        uint32 // 1 default, 2 non-blocking, 3 null
}

// Graph is the run of a whole CUDA graph.
type Graph struct {
	Start, End              uint64
	Device, Context, Stream uint32
	Correlation             uint32
	ID                      uint32
}

// Marker is one end of an NVTX range, or a mark.
type Marker struct {
	Instant, Start, End bool
	Time                uint64
	ID                  uint32
	Process, Thread     uint32
	Name, Domain        string
}

// Name is a name that the program gave to a thread, device, context or stream.
type Name struct {
	Object                  uint32 // as in Overhead
	Process, Thread         uint32
	Device, Context, Stream uint32
	Name                    string
}

// Loss counts what was not decoded.
type Loss struct {
	Dropped  uint64          // records that CUPTI itself dropped
	Bytes    uint64          // bytes of records whose buffer was used again before it was decoded
	Excess   uint64          // records beyond Config.Max
	Refused  uint64          // requests for buffers that were refused
	Unknown  map[Kind]uint64 // records of kinds that nobody asked for
	Short    map[Kind]uint64 // records that are shorter than 11.8's
	Broken   map[Result]int  // buffers that could not be walked to their end, by why
	Disabled map[Kind]Result // kinds that the library refused
}

// Records is what a capture recorded. Nothing is in any order.
type Records struct {
	Kernels   []Kernel
	Copies    []Copy
	Sets      []Set
	Calls     []Call
	External  []External
	Syncs     []Sync
	Events    []Event
	Overheads []Overhead
	Memory    []Memory
	Pools     []Pool
	Devices   []Device
	Contexts  []Context
	Streams   []Stream
	Graphs    []Graph
	Markers   []Marker
	Names     []Name
	Lost      Loss
}

// Len is the number of records that were decoded.
func (r *Records) Len() int {
	return len(r.Kernels) + len(r.Copies) + len(r.Sets) + len(r.Calls) + len(r.External) + len(r.Syncs) + len(r.Events) +
		len(r.Overheads) + len(r.Memory) + len(r.Pools) + len(r.Devices) + len(r.Contexts) + len(r.Streams) + len(r.Graphs) +
		len(r.Markers) + len(r.Names)
}
