package cupti

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// writer makes records of one layout.
type writer struct {
	version uint16
	sizes   map[Kind]uint16
}

// record makes a record of a kind and sets fields, each by its place in the table. Fields that the version does not have
// are left out, as the library would.
func (w writer) record(k Kind, set map[field]uint64) []byte {
	b := make([]byte, w.sizes[k])
	binary.LittleEndian.PutUint32(b, uint32(k))
	for f, v := range set {
		if f.since > w.version {
			continue
		}
		switch at := b[f.offset:]; f.size {
		case 1:
			at[0] = byte(v)
		case 2:
			binary.LittleEndian.PutUint16(at, uint16(v))
		case 4:
			binary.LittleEndian.PutUint32(at, uint32(v))
		case 8:
			binary.LittleEndian.PutUint64(at, v)
		}
	}
	return b
}

// texts are what addresses in the records of tests stand for.
func texts(address uint64) string { return fmt.Sprintf("text %d", address) }

func (w writer) decoder() *Decoder {
	d := &Decoder{Version: int(w.version), Sizes: map[Kind]int{}, Text: texts}
	for k, n := range w.sizes {
		d.Sizes[k] = int(n)
	}
	return d
}

// add decodes records one after the other.
func add(d *Decoder, records ...[]byte) {
	var buf []byte
	var offsets []uint32
	for _, r := range records {
		offsets = append(offsets, uint32(len(buf)))
		buf = append(buf, r...)
	}
	d.Add(buf, offsets)
}

// TestEveryLayout writes and reads a kernel in the layout of every toolkit: what the version has is read, and what it does
// not have is zero, even where the record has room for it.
func TestEveryLayout(t *testing.T) {
	f := &kernelLayout
	full := map[field]uint64{
		f.start: 1000, f.end: 5000, f.deviceId: 1, f.contextId: 2, f.streamId: 3, f.gridX: 4, f.gridY: 5, f.gridZ: 6, f.blockX: 7, f.blockY: 8,
		f.blockZ: 9, f.registersPerThread: 70, f.staticSharedMemory: 11, f.dynamicSharedMemory: 12, f.correlationId: 13, f.name: 14,
		f.graphNodeId: 15, f.graphId: 16, f.channelID: 17, f.channelType: 1, f.clusterX: 18, f.launchType: 1, f.isDeviceLaunched: 1,
		f.priority: 0xFFFFFFFD, f.queued: 900, f.submitted: 950, f.sharedMemoryExecuted: 19, f.localMemoryPerThread: 20,
	}
	for _, v := range toolkits {
		w := writer{v.version, v.sizes}
		d := w.decoder()
		copied := w.record(KindMemcpy, map[field]uint64{memcpyLayout.bytes: 77, memcpyLayout.copyCount: 5})
		copied[memcpyLayout.isDeviceLaunched.offset] = 1 // padding before 13.0, where anything may lie
		add(d, w.record(KindKernel, full), copied)
		want := Kernel{
			Name: "text 14", Start: 1000, End: 5000, Queued: 900, Submitted: 950, Device: 1, Context: 2, Stream: 3, Correlation: 13,
			Grid: [3]int32{4, 5, 6}, Block: [3]int32{7, 8, 9}, Cluster: [3]uint32{18, 0, 0}, Registers: 70, StaticShared: 11, DynamicShared: 12,
			SharedExecuted: 19, LocalPerThread: 20, LaunchType: 1, GraphNode: 15, Graph: 16, Channel: 17, ChannelType: 1,
			DeviceLaunched: v.version >= 1300, HasPriority: v.version >= 1301,
		}
		if v.version >= 1301 {
			want.Priority = -3
		}
		if len(d.Records.Kernels) != 1 || d.Records.Kernels[0] != want {
			t.Errorf("%d: got %+v\nwant %+v", v.version, d.Records.Kernels, want)
		}
		count := uint64(0)
		if v.version >= 1208 {
			count = 5
		}
		if c := d.Records.Copies; len(c) != 1 || c[0].Bytes != 77 || c[0].Count != count || c[0].DeviceLaunched != (v.version >= 1300) {
			t.Errorf("%d: got %+v", v.version, c)
		}
	}
}

// TestAgainstFacts reads records that are filled by the facts alone, without the generated table: for every toolkit, kind and
// field that is decoded, the value at the field's offset must come out.
func TestAgainstFacts(t *testing.T) {
	dir := os.Getenv("GANDER_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	b, err := os.ReadFile(filepath.Join(dir, "facts", "cupti_layouts.json"))
	if err != nil {
		t.Skipf("SKIPPED: the facts are not here, layouts are checked against themselves only: %v", err)
	}
	type fact struct {
		Size   int
		Fields map[string]struct {
			Offset, Size int
			Type         string
		}
	}
	var facts map[string]json.RawMessage
	if err := json.Unmarshal(b, &facts); err != nil {
		t.Fatal(err)
	}
	checks := map[Kind]map[string]func(*Records) any{
		KindKernel: {
			"start": func(r *Records) any { return r.Kernels[0].Start }, "end": func(r *Records) any { return r.Kernels[0].End },
			"gridY": func(r *Records) any { return r.Kernels[0].Grid[1] }, "blockZ": func(r *Records) any { return r.Kernels[0].Block[2] },
			"registersPerThread": func(r *Records) any { return r.Kernels[0].Registers }, "correlationId": func(r *Records) any { return r.Kernels[0].Correlation },
			"dynamicSharedMemory": func(r *Records) any { return r.Kernels[0].DynamicShared }, "graphNodeId": func(r *Records) any { return r.Kernels[0].GraphNode },
			"priority": func(r *Records) any { return r.Kernels[0].Priority }, "streamId": func(r *Records) any { return r.Kernels[0].Stream },
		},
		KindMemcpy:     {"bytes": func(r *Records) any { return r.Copies[0].Bytes }, "copyKind": func(r *Records) any { return r.Copies[0].Kind }, "dstKind": func(r *Records) any { return r.Copies[0].To }, "correlationId": func(r *Records) any { return r.Copies[0].Correlation }, "copyCount": func(r *Records) any { return r.Copies[0].Count }},
		KindMemcpyPeer: {"bytes": func(r *Records) any { return r.Copies[0].Bytes }, "dstDeviceId": func(r *Records) any { return r.Copies[0].DstDevice }, "correlationId": func(r *Records) any { return r.Copies[0].Correlation }},
		KindMemset:     {"bytes": func(r *Records) any { return r.Sets[0].Bytes }, "memoryKind": func(r *Records) any { return r.Sets[0].MemoryKind }, "correlationId": func(r *Records) any { return r.Sets[0].Correlation }},
		KindRuntime:    {"cbid": func(r *Records) any { return r.Calls[0].ID }, "threadId": func(r *Records) any { return r.Calls[0].Thread }, "correlationId": func(r *Records) any { return r.Calls[0].Correlation }, "returnValue": func(r *Records) any { return r.Calls[0].Result }},
		KindDriver:     {"start": func(r *Records) any { return r.Calls[0].Start }, "correlationId": func(r *Records) any { return r.Calls[0].Correlation }},
		KindExternal:   {"externalId": func(r *Records) any { return r.External[0].ID }, "correlationId": func(r *Records) any { return r.External[0].Correlation }},
		KindSync:       {"type": func(r *Records) any { return r.Syncs[0].Type }, "cudaEventId": func(r *Records) any { return r.Syncs[0].Event }, "cudaEventSyncId": func(r *Records) any { return r.Syncs[0].EventSync }},
		KindOverhead:   {"overheadKind": func(r *Records) any { return r.Overheads[0].Kind }, "objectId.pt.threadId": func(r *Records) any { return r.Overheads[0].Thread }, "correlationId": func(r *Records) any { return r.Overheads[0].Correlation }},
		KindMemory:     {"address": func(r *Records) any { return r.Memory[0].Address }, "bytes": func(r *Records) any { return r.Memory[0].Bytes }, "timestamp": func(r *Records) any { return r.Memory[0].Time }, "deviceId": func(r *Records) any { return r.Memory[0].Device }},
		KindPool:       {"size": func(r *Records) any { return r.Pools[0].Size }, "utilizedSize": func(r *Records) any { return r.Pools[0].Used }, "timestamp": func(r *Records) any { return r.Pools[0].Time }},
		KindDevice:     {"numMultiprocessors": func(r *Records) any { return r.Devices[0].SMs }, "globalMemorySize": func(r *Records) any { return r.Devices[0].Memory }, "id": func(r *Records) any { return r.Devices[0].ID }, "maxWarpsPerMultiprocessor": func(r *Records) any { return r.Devices[0].MaxWarpsPerSM }},
		KindContext:    {"deviceId": func(r *Records) any { return r.Contexts[0].Device }, "nullStreamId": func(r *Records) any { return r.Contexts[0].NullStream }},
		KindStream:     {"priority": func(r *Records) any { return r.Streams[0].Priority }, "flag": func(r *Records) any { return r.Streams[0].Flag }},
		KindGraph:      {"graphId": func(r *Records) any { return r.Graphs[0].ID }, "end": func(r *Records) any { return r.Graphs[0].End }},
		KindMarker:     {"timestamp": func(r *Records) any { return r.Markers[0].Time }, "objectId.pt.threadId": func(r *Records) any { return r.Markers[0].Thread }},
		KindEvent:      {"eventId": func(r *Records) any { return r.Events[0].ID }, "cudaEventSyncId": func(r *Records) any { return r.Events[0].Sync }},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	checked := 0
	for _, version := range slices.Sorted(maps.Keys(facts)) {
		if strings.HasPrefix(version, "_") {
			continue
		}
		var byKind map[string]fact
		if err := json.Unmarshal(facts[version], &byKind); err != nil {
			t.Fatal(err)
		}
		var n, m int
		fmt.Sscanf(version, "%d.%d", &n, &m)
		for kind, values := range checks {
			layout, ok := byKind[fmt.Sprint(uint32(kind))]
			if !ok {
				t.Errorf("%s has no facts of kind %d", version, kind)
				continue
			}
			for name, get := range values {
				d := &Decoder{Version: n*100 + m, Sizes: map[Kind]int{kind: layout.Size}}
				b := make([]byte, layout.Size)
				value := rng.Uint64() | 1
				f, has := layout.Fields[name]
				if has {
					var raw [8]byte
					binary.LittleEndian.PutUint64(raw[:], value)
					copy(b[f.Offset:f.Offset+f.Size], raw[:])
					value &= 1<<(8*f.Size) - 1
				} else {
					value = 0
				}
				binary.LittleEndian.PutUint32(b, uint32(kind))
				add(d, b)
				got := reflect.ValueOf(get(&d.Records))
				var u uint64
				if got.CanInt() {
					u = uint64(got.Int()) & (1<<(8*got.Type().Size()) - 1)
				} else {
					u = got.Uint()
				}
				if u != value {
					t.Errorf("%s: %s of kind %d is %#x, want %#x", version, name, kind, u, value)
				}
				checked++
			}
		}
	}
	t.Logf("%d fields of %d versions", checked, len(toolkits))
}

func TestToolkit(t *testing.T) {
	for _, c := range []struct {
		api          uint32
		kernel, want int
	}{
		{18, 200, 1108}, {18, 208, 1200}, {20, 208, 1202}, {22, 208, 1204}, {26, 208, 1208}, {27, 208, 1209}, {28, 208, 1209},
		{130000, 216, 1300}, {130001, 216, 1300}, {130100, 224, 1301}, {130400, 248, 1304}, {130500, 256, 1305}, {140200, 300, 1402}, {17, 176, 0},
	} {
		if got := Toolkit(c.api, c.kernel); got != c.want {
			t.Errorf("API %d with kernels of %d bytes is %d, want %d", c.api, c.kernel, got, c.want)
		}
	}
}

// TestLoss counts what cannot be decoded, and decodes what is around it.
func TestLoss(t *testing.T) {
	v := toolkits[len(toolkits)-1]
	w := writer{v.version, v.sizes}
	d := w.decoder()
	good := w.record(KindRuntime, map[field]uint64{apiLayout.correlationId: 9})
	unknown := w.record(KindDevice, nil)
	binary.LittleEndian.PutUint32(unknown, 54)
	add(d, good, unknown, good, w.record(KindKernel, nil)[:100])
	d.Add(good, []uint32{0, 30, 39, 1000})
	full := w.decoder()
	full.Max = 3
	add(full, good, good, good, good, good)
	if n := len(full.Records.Calls); n != 3 || full.Records.Lost.Excess != 2 {
		t.Errorf("%d of at most 3 records are kept, %d are left out", n, full.Records.Lost.Excess)
	}
	r := &d.Records
	if len(r.Calls) != 2 || len(r.Kernels) != 0 || r.Lost.Unknown[54] != 1 || r.Lost.Short[KindKernel] != 1 || r.Lost.Short[KindRuntime] != 1 {
		t.Errorf("got %+v", r)
	}
}

// FuzzDecode has no bytes make the decoder panic, and every record be decoded or counted.
func FuzzDecode(f *testing.F) {
	for _, v := range toolkits {
		w := writer{v.version, v.sizes}
		var buf, offsets []byte
		for k := range w.sizes {
			offsets = binary.LittleEndian.AppendUint16(offsets, uint16(len(buf)))
			buf = append(buf, w.record(k, nil)...)
		}
		f.Add(v.version, buf, offsets, uint16(0), uint16(0))
	}
	f.Fuzz(func(t *testing.T, version uint16, buf, at []byte, kind, size uint16) {
		v := toolkits[int(version)%len(toolkits)]
		d := writer{version, v.sizes}.decoder()
		d.Sizes[Kind(kind)] = int(size)
		var offsets []uint32
		for ; len(at) >= 2; at = at[2:] {
			offsets = append(offsets, uint32(binary.LittleEndian.Uint16(at)))
		}
		slices.Sort(offsets)
		d.Add(buf, offsets)
		n := uint64(d.Records.Len())
		for _, m := range []map[Kind]uint64{d.Records.Lost.Unknown, d.Records.Lost.Short} {
			for _, c := range m {
				n += c
			}
		}
		if n != uint64(len(offsets)) {
			t.Errorf("%d records were decoded or counted, of %d", n, len(offsets))
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	v := toolkits[len(toolkits)-1]
	w := writer{v.version, v.sizes}
	d := w.decoder()
	d.Text = func(uint64) string { return "kernel" }
	var buf []byte
	var offsets []uint32
	for i := range 4096 {
		offsets = append(offsets, uint32(len(buf)))
		buf = append(buf, w.record([]Kind{KindKernel, KindRuntime, KindExternal}[i%3], nil)...)
	}
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		d.Records = Records{}
		d.Add(buf, offsets)
	}
}
