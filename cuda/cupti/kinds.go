package cupti

import "fmt"

// Kind is CUPTI's number of an activity: what to enable, and what a record is about.
type Kind uint32

const (
	KindMemcpy     Kind = 1
	KindMemset     Kind = 2
	KindSerial     Kind = 3 // KERNEL: enabling it makes kernels run one after another; never enabled
	KindDriver     Kind = 4
	KindRuntime    Kind = 5
	KindDevice     Kind = 8
	KindContext    Kind = 9
	KindKernel     Kind = 10 // CONCURRENT_KERNEL
	KindName       Kind = 11
	KindMarker     Kind = 12
	KindOverhead   Kind = 17
	KindMemcpyPeer Kind = 22 // MEMCPY2
	KindEvent      Kind = 36 // CUDA_EVENT
	KindStream     Kind = 37
	KindSync       Kind = 38
	KindExternal   Kind = 39 // EXTERNAL_CORRELATION
	KindInternal   Kind = 48 // INTERNAL_LAUNCH_API
	KindMemory     Kind = 49 // MEMORY2
	KindPool       Kind = 50
	KindGraph      Kind = 51 // GRAPH_TRACE
)

var kindNames = map[Kind]string{
	KindMemcpy: "copies", KindMemset: "sets", KindSerial: "serialised kernels", KindDriver: "driver calls",
	KindRuntime: "runtime calls", KindDevice: "devices", KindContext: "contexts", KindKernel: "kernels", KindName: "names",
	KindMarker: "NVTX ranges", KindOverhead: "overhead", KindMemcpyPeer: "copies between devices", KindEvent: "events",
	KindStream: "streams", KindSync: "synchronisation", KindExternal: "external correlation", KindInternal: "internal launches",
	KindMemory: "allocations", KindPool: "memory pools", KindGraph: "graphs",
}

// String says in words what is recorded.
func (k Kind) String() string {
	if s, ok := kindNames[k]; ok {
		return s
	}
	return fmt.Sprintf("activity %d", uint32(k))
}

// toolkit is one known version: 1204 is 12.4. API is what cuptiGetVersion says; sizes are those of records.
type toolkit struct {
	version uint16
	api     uint32
	sizes   map[Kind]uint16
}

// Toolkit returns the toolkit version (1204 is 12.4) of a library by what cuptiGetVersion said and the size of its kernel
// records, which tells apart 11.8 and 12.0: both, and 12.1, call themselves 18. A version that is newer than the table is
// returned as such where the number says it.
func Toolkit(api uint32, kernel int) int {
	if api >= 130000 {
		return int(api/10000)*100 + int(api/100%100)
	}
	if api == 27 {
		return 1209 // before its update 1, whose number the table has
	}
	best := 0
	for _, t := range toolkits {
		if t.api <= api && (t.api != api || int(t.sizes[KindKernel]) <= kernel) {
			if t.version == 1201 && api == 18 {
				continue // not to be told from 12.0, and the same
			}
			best = int(t.version)
		}
	}
	return best
}

// FormatVersion writes 1204 as "12.4".
func FormatVersion(v int) string { return fmt.Sprintf("%d.%d", v/100, v%100) }

// field is where a number lies in a record, and since which toolkit version.
type field struct {
	offset, size uint8
	since        uint16
}
