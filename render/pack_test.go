package render

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The readers below follow the layouts in pack.go on their own, so that the writers and the script's readers are checked
// against a third party.

var errPacked = errors.New("not a packed form")

type byteReader struct {
	b   []byte
	err error
}

func (r *byteReader) u32() uint32 {
	if len(r.b) < 4 {
		r.err = errPacked
		return 0
	}
	v := binary.LittleEndian.Uint32(r.b)
	r.b = r.b[4:]
	return v
}

func (r *byteReader) f64() float64 {
	if len(r.b) < 8 {
		r.err = errPacked
		return 0
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(r.b))
	r.b = r.b[8:]
	return v
}

func (r *byteReader) v() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.err = errPacked
		return 0
	}
	r.b = r.b[n:]
	return v
}

// v32 is v for numbers that fit 32 bits.
func (r *byteReader) v32() uint32 {
	v := r.v()
	if v > math.MaxUint32 {
		r.err = errPacked
	}
	return uint32(v)
}

func (r *byteReader) z() int64 {
	v := r.v()
	return int64(v>>1) ^ -int64(v&1)
}

func readTimeline(b []byte) (*packedTimeline, error) {
	if len(b) < 20 || string(b[:4]) != timelineMagic {
		return nil, errPacked
	}
	r := &byteReader{b: b[4:]}
	p := &packedTimeline{Tick: r.u32()}
	rows, events, flows := int(r.u32()), int(r.u32()), int(r.u32())
	if rows+events+flows > len(b)*2 || p.Tick == 0 {
		return nil, errPacked
	}
	sum := 0
	for range rows {
		n := int(r.v())
		if n < 0 || n > events {
			return nil, errPacked
		}
		p.Rows = append(p.Rows, n)
		sum += n
	}
	if sum != events {
		return nil, errPacked
	}
	gaps := make([]uint64, events)
	for i := range gaps {
		gaps[i] = r.v()
	}
	i := 0
	for _, n := range p.Rows {
		var at uint64
		for range n {
			gap, dur := gaps[i], r.v()
			at += gap
			p.Start = append(p.Start, int64(at)*int64(p.Tick))
			at += dur
			if gap > 1<<53 || dur > 1<<53 || at > 1<<53/uint64(p.Tick) { // beyond what the script's numbers hold exactly
				return nil, errPacked
			}
			p.End = append(p.End, int64(at)*int64(p.Tick))
			i++
		}
	}
	for range events {
		p.Name = append(p.Name, r.v32())
	}
	for range events {
		p.Args = append(p.Args, r.v32())
	}
	var from, to int64
	for range flows {
		from += int64(r.v())
		to += r.z()
		if from < 0 || from >= int64(events) || to < 0 || to >= int64(events) {
			return nil, errPacked
		}
		p.Flows = append(p.Flows, [2]uint32{uint32(from), uint32(to)})
	}
	if r.err == nil && len(r.b) > 0 {
		r.err = errPacked
	}
	return p, r.err
}

func readCurves(b []byte) ([]packedCurve, error) {
	if len(b) < 8 || string(b[:4]) != curveMagic {
		return nil, errPacked
	}
	r := &byteReader{b: b[4:]}
	var out []packedCurve
	for range min(int(r.u32()), 1000) {
		n := int(r.u32())
		c := packedCurve{Scale: r.f64()}
		if n > len(r.b) {
			return nil, errPacked
		}
		var at int64
		for range n {
			at += int64(r.v())
			c.Times = append(c.Times, at)
		}
		at = 0
		for range n {
			at += r.z()
			c.Values = append(c.Values, at)
		}
		out = append(out, c)
		if r.err != nil {
			return nil, r.err
		}
	}
	return out, r.err
}

func unsqueeze(t testing.TB, s string) []byte {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// randomTimeline makes rows of sorted events that do not overlap.
func randomTimeline(rng *rand.Rand, tick uint32) *packedTimeline {
	p := &packedTimeline{Tick: tick}
	for range rng.IntN(6) {
		n, at := rng.IntN(40), int64(0)
		for range n {
			at += rng.Int64N(1 << uint(1+rng.IntN(40)))
			p.Start = append(p.Start, at)
			at += rng.Int64N(1 << uint(1+rng.IntN(30)))
			p.End = append(p.End, at)
			p.Name, p.Args = append(p.Name, rng.Uint32N(1000)), append(p.Args, rng.Uint32N(3))
		}
		p.Rows = append(p.Rows, n)
	}
	if n := len(p.Start); n > 0 {
		for range rng.IntN(10) {
			p.Flows = append(p.Flows, [2]uint32{rng.Uint32N(uint32(n)), rng.Uint32N(uint32(n))})
		}
		slices.SortFunc(p.Flows, func(a, b [2]uint32) int { return int(a[0]) - int(b[0]) })
	}
	return p
}

func TestTimelineRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		for _, tick := range []uint32{1, 100} {
			p := randomTimeline(rng, tick)
			q, err := readTimeline(p.bytes())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(p.Rows, q.Rows) || !slices.Equal(p.Name, q.Name) || !slices.Equal(p.Args, q.Args) || !slices.Equal(p.Flows, q.Flows) {
				t.Fatalf("came back changed: %+v, %+v", p, q)
			}
			for i := range p.Start {
				if k := int64(tick); p.Start[i]/k*k != q.Start[i] || p.End[i]/k*k != q.End[i] {
					t.Fatalf("event %d at tick %d: [%d, %d], want [%d, %d]", i, tick, q.Start[i], q.End[i], p.Start[i], p.End[i])
				}
			}
		}
	}
}

func TestCurveRoundTrip(t *testing.T) {
	in := []packedCurve{{Scale: 1}, {Times: []int64{0, 5, 5, 1 << 50}, Values: []int64{0, -3, 1 << 52, 7}, Scale: 0.25}}
	out, err := readCurves(packCurves(in))
	if err != nil || len(out) != 2 {
		t.Fatal(out, err)
	}
	if len(out[0].Times) != 0 || !slices.Equal(out[1].Times, in[1].Times) || !slices.Equal(out[1].Values, in[1].Values) || out[1].Scale != 0.25 {
		t.Errorf("came back as %+v", out)
	}
}

func FuzzTimeline(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 5 {
		f.Add(randomTimeline(rng, 1).bytes())
	}
	f.Add([]byte(timelineMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := readTimeline(b)
		if err != nil {
			return
		}
		q, err := readTimeline(p.bytes())
		if err != nil || !slices.Equal(p.Start, q.Start) || !slices.Equal(p.Name, q.Name) || !slices.Equal(p.Flows, q.Flows) {
			// Flows out of order are not representable; the writer sorts before.
			if slices.IsSortedFunc(p.Flows, func(a, b [2]uint32) int { return int(int64(a[0]) - int64(b[0])) }) {
				t.Fatalf("came back changed: %v", err)
			}
		}
	})
}

func FuzzCurves(f *testing.F) {
	f.Add(packCurves([]packedCurve{{Times: []int64{1, 2}, Values: []int64{3, -4}, Scale: 1}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := readCurves(b)
		if err != nil {
			return
		}
		d, err := readCurves(packCurves(c))
		if err != nil || len(c) != len(d) {
			t.Fatalf("came back changed: %v", err)
		}
	})
}
