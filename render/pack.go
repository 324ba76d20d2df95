package render

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/klauspost/compress/gzip"
)

// The packed forms that pages carry. Both are gzipped and then base64 text. Fixed-width numbers are little-endian, v is
// an unsigned LEB128 varint, z a zigzag one.
//
// Timeline, "GTL" 0x01:
//
//	u32 tick     ns per unit of time
//	u32 rows     lines of the picture
//	u32 events
//	u32 flows
//	v[rows]      events of each row
//	v[events]    gap from the end of the row's previous event to the start, in ticks
//	v[events]    duration in ticks
//	v[events]    index of the name
//	v[events]    index of the arguments, 0 for none
//	(v z)[flows] delta of the source's index among all events, delta of the target's
//
// Curves, "GCV" 0x01:
//
//	u32 series; then for each
//	u32 points
//	f64 scale    value of one unit
//	v[points]    time since the previous point, ns
//	z[points]    value minus the previous value, in units
const (
	timelineMagic = "GTL\x01"
	curveMagic    = "GCV\x01"
)

// packedTimeline holds the columns of the timeline form. Events are ordered by row, then by start; those of one row do
// not overlap.
type packedTimeline struct {
	Tick       uint32
	Rows       []int // events of each row
	Start, End []int64
	Name, Args []uint32
	Flows      [][2]uint32 // ordered by source
}

func (p *packedTimeline) bytes() []byte {
	b := make([]byte, 0, 20+len(p.Start)*6)
	b = append(b, timelineMagic...)
	for _, v := range []int{int(p.Tick), len(p.Rows), len(p.Start), len(p.Flows)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	for _, n := range p.Rows {
		b = binary.AppendUvarint(b, uint64(n))
	}
	tick := int64(p.Tick)
	i := 0
	for _, n := range p.Rows {
		var at int64
		for range n {
			s := p.Start[i] / tick
			b = binary.AppendUvarint(b, uint64(s-at))
			at = p.End[i] / tick
			i++
		}
	}
	for i := range p.Start {
		b = binary.AppendUvarint(b, uint64(p.End[i]/tick-p.Start[i]/tick))
	}
	for _, n := range p.Name {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, a := range p.Args {
		b = binary.AppendUvarint(b, uint64(a))
	}
	var from, to uint32
	for _, f := range p.Flows {
		b = binary.AppendUvarint(b, uint64(f[0]-from))
		b = binary.AppendVarint(b, int64(f[1])-int64(to))
		from, to = f[0], f[1]
	}
	return b
}

// packedCurve is one series of the curve form; values are whole numbers of scale.
type packedCurve struct {
	Times  []int64
	Values []int64
	Scale  float64
}

func packCurves(series []packedCurve) []byte {
	b := append([]byte(nil), curveMagic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(series)))
	for _, s := range series {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s.Times)))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.Scale))
		var at int64
		for _, t := range s.Times {
			b = binary.AppendUvarint(b, uint64(t-at))
			at = t
		}
		at = 0
		for _, v := range s.Values {
			b = binary.AppendVarint(b, v-at)
			at = v
		}
	}
	return b
}

// squeeze compresses b into the text that a script element carries.
func squeeze(b []byte, level int) (string, error) {
	var out bytes.Buffer
	enc := base64.NewEncoder(base64.StdEncoding, &out)
	zip, err := gzip.NewWriterLevel(enc, level)
	if err != nil {
		return "", fmt.Errorf("compressing report data: %w", err)
	}
	if _, err := zip.Write(b); err != nil {
		return "", fmt.Errorf("compressing report data: %w", err)
	}
	if err := zip.Close(); err != nil {
		return "", fmt.Errorf("compressing report data: %w", err)
	}
	if err := enc.Close(); err != nil {
		return "", fmt.Errorf("compressing report data: %w", err)
	}
	return out.String(), nil
}
