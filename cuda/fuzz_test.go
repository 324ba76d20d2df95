package cuda

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/gander-go/gander/cuda/cupti"
	"github.com/gander-go/gander/profiler/kineto"
	"github.com/gander-go/gander/profiler/record"
)

// sizes124 are the sizes of records of CUDA 12.4.
var sizes124 = map[cupti.Kind]int{
	cupti.KindMemcpy: 88, cupti.KindMemset: 88, cupti.KindDriver: 40, cupti.KindRuntime: 40, cupti.KindDevice: 184, cupti.KindContext: 24, cupti.KindKernel: 208,
	cupti.KindName: 32, cupti.KindMarker: 56, cupti.KindOverhead: 56, cupti.KindMemcpyPeer: 96, cupti.KindEvent: 24, cupti.KindStream: 24, cupti.KindSync: 40,
	cupti.KindExternal: 24, cupti.KindMemory: 120, cupti.KindPool: 72, cupti.KindGraph: 56,
}

// FuzzBuild has records of any content, one behind the other, make a trace that is valid, can be written and read again, and
// holds nothing that has no track.
func FuzzBuild(f *testing.F) {
	for _, seed := range []uint64{0, 1, 1 << 20, 1<<63 | 5, ^uint64(0)} {
		var all []byte
		for _, k := range slices.Sorted(func(yield func(cupti.Kind) bool) {
			for k := range sizes124 {
				if !yield(k) {
					return
				}
			}
		}) {
			r := make([]byte, sizes124[k])
			for i := 8; i+8 <= len(r); i += 8 {
				binary.LittleEndian.PutUint64(r[i:], seed+uint64(i%3))
			}
			binary.LittleEndian.PutUint32(r, uint32(k))
			all = append(all, r...)
		}
		f.Add(all, uint16(1204), int64(0), int64(1<<21))
	}
	f.Fuzz(func(t *testing.T, buf []byte, version uint16, start, end int64) {
		d := cupti.Decoder{Version: int(version), Sizes: sizes124, Text: func(p uint64) string { return fmt.Sprint("_Z", p%5) }}
		var offsets []uint32
		for at := 0; at+4 <= len(buf); {
			n := sizes124[cupti.Kind(binary.LittleEndian.Uint32(buf[at:]))]
			if n == 0 {
				break
			}
			offsets = append(offsets, uint32(at))
			at += n
		}
		d.Add(buf, offsets)
		w := record.Window{Epoch: start, Start: start, End: max(start, end)}
		if w.End-w.Start < 0 || w.End-w.Start > 1<<60 { // no window is a century long
			return
		}
		rec := &recording{records: &d.Records, clock: &clock{pairs: []pair{{0, 0}, {1 << 20, 1 << 20}}}, version: int(version), devices: []cupti.Device{hopper}, symbol: func(s string) string { return s }}
		tr := traced(t, rec, w)
		var b bytes.Buffer
		if err := kineto.Write(&b, tr, kineto.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := kineto.Read(&b, kineto.ReadOptions{}); err != nil {
			t.Fatal(err)
		}
	})
}
