package trace

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"

	"github.com/gander-go/gander/internal/golden"
)

func encode(t testing.TB, x *Trace) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, x); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// exported makes traces comparable: string tables by their list.
func exported(x *Trace) (Trace, []string) {
	c := *x
	list := c.Strings.List()
	c.Strings = Strings{}
	return c, list
}

func sameTrace(t *testing.T, want, got *Trace) {
	t.Helper()
	w, ws := exported(want)
	g, gs := exported(got)
	if !reflect.DeepEqual(ws, gs) {
		t.Fatalf("strings: want %q, got %q", ws, gs)
	}
	wv, gv := reflect.ValueOf(w), reflect.ValueOf(g)
	for i := range wv.NumField() {
		if a, b := wv.Field(i), gv.Field(i); !reflect.DeepEqual(a.Interface(), b.Interface()) {
			t.Errorf("%s: want %+v\ngot %+v", wv.Type().Field(i).Name, a, b)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for seed := range uint64(30) {
		want := everything(seed)
		got, err := Decode(bytes.NewReader(encode(t, want)))
		if err != nil {
			t.Fatal(err)
		}
		sameTrace(t, want, got)
	}
	t.Run("empty", func(t *testing.T) {
		got, err := Decode(bytes.NewReader(encode(t, new(Trace))))
		if err != nil {
			t.Fatal(err)
		}
		sameTrace(t, new(Trace), got)
	})
	t.Run("many blocks", func(t *testing.T) {
		want := &Trace{}
		cat := want.Category("c", ClassOther)
		p := want.Process(1, "p")
		k := want.TrackIndex().Goroutine(p, 1)
		for i := range 3*blockRows + 17 {
			want.Slices = append(want.Slices, Slice{Start: int64(i) * 3, Dur: 2, Track: k, Cat: cat})
		}
		got, err := Decode(bytes.NewReader(encode(t, want)))
		if err != nil {
			t.Fatal(err)
		}
		sameTrace(t, want, got)
	})
}

// TestEveryFieldTravels makes sure that a field added to the model is added to its row too: in a fixture every field of
// every row type is set to something that is not zero, and the round trip must keep it.
func TestEveryFieldTravels(t *testing.T) {
	x := everything(3)
	for _, list := range []any{x.Ops[1:], x.Calls[1:], x.Kernels[1:], x.Copies[1:], x.Syncs[1:], x.Generics[1:]} {
		fill(reflect.ValueOf(list).Index(0))
	}
	for _, list := range []any{x.Devices, x.Attachments, x.Problems, x.Processes, x.Tracks, x.Memory, x.Samples, x.Flows, x.Instants, x.Slices} {
		fill(reflect.ValueOf(list).Index(0))
	}
	fill(reflect.ValueOf(&x.Meta).Elem())
	got := new(Trace)
	// Encoded and decoded without Validate: the values are arbitrary.
	for kind := byte(kindMeta); kind < numKinds; kind++ {
		for from := 0; from < x.rowsOf(kind); from += blockOf(kind) {
			var w wire
			x.section(kind, &w, from, min(x.rowsOf(kind), from+blockOf(kind)))
			r := wire{decoding: true, b: w.b}
			got.section(kind, &r, 0, 0)
			if r.err != nil || r.left() > 0 {
				t.Fatalf("kind %d: %v, %d bytes left", kind, r.err, r.left())
			}
		}
	}
	sameTrace(t, x, got)
}

// fill sets every field of a struct to a value that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.String:
		v.SetString("filled")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(2.5)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(101)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(3)
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := encode(t, everything(1))
	at := func(i int, b byte) []byte {
		c := bytes.Clone(good)
		c[i] ^= b
		return c
	}
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"nothing", "no trace", nil},
		{"other magic", "no trace", at(0, 1)},
		{"other version", "version", at(7, 2)},
		{"flipped bit", "", at(len(good)/2, 0x10)},
		{"flipped checksum", "checksum", at(len(good)-1, 1)},
		{"cut", "unexpected EOF", good[:len(good)-3]},
		{"no end", "unexpected EOF", good[:len(good)-6]},
		{"huge section", "over the limit", append(good[:8:8], kindSlices, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)},
		{"long promise", "unexpected EOF", append(good[:8:8], kindSlices, 0xff, 0xff, 0xff, 0x7f, 1)},
		{"huge table", "middle", append(good[:8:8], kindSlices, 4, 0xff, 0xff, 0xff, 0x7f)},
		{"left over", "left over", append(good[:8:8], kindStrings, 3, 1, 0, 0)},
	} {
		if _, err := Decode(bytes.NewReader(c.data)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one with %q", c.name, err, c.want)
		}
	}
	for i := range good {
		if _, err := Decode(bytes.NewReader(good[:i])); err == nil {
			t.Errorf("the first %d of %d bytes decode", i, len(good))
		}
	}
}

func TestDecodeSkipsUnknownSections(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(magic)
	b.WriteByte(version)
	writeSection(&b, 99, []byte("from the future"))
	writeSection(&b, kindEnd, binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(b.Bytes())))
	got, err := Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Problems) != 1 || got.Problems[0].Kind != "unknown-section" {
		t.Errorf("problems: %+v", got.Problems)
	}
}

func FuzzDecode(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(encode(f, everything(seed)))
	}
	f.Add(encode(f, new(Trace)))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := Decode(bytes.NewReader(data))
		if err != nil {
			return
		}
		if err := x.Validate(); err != nil {
			t.Fatalf("decoded an invalid trace: %v", err)
		}
		y, err := Decode(bytes.NewReader(encode(t, x)))
		if err != nil {
			t.Fatalf("decoding what was encoded: %v", err)
		}
		var a, b bytes.Buffer
		if Dump(&a, x) != nil || Dump(&b, y) != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Fatal("the round trip changed the trace")
		}
	})
}

// FuzzSections feeds payloads past the checksum, which hides most of the decoder from FuzzDecode.
func FuzzSections(f *testing.F) {
	x := everything(2)
	for kind := byte(kindMeta); kind < numKinds; kind++ {
		var w wire
		x.section(kind, &w, 0, min(x.rowsOf(kind), 4))
		f.Add(kind, w.b)
	}
	f.Fuzz(func(t *testing.T, kind byte, payload []byte) {
		var got Trace
		w := wire{decoding: true, b: payload}
		got.section(kind, &w, 0, 0)
		if w.err == nil && got.Validate() == nil {
			var b bytes.Buffer
			if err := Dump(&b, &got); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestDumpGolden(t *testing.T) {
	var b bytes.Buffer
	if err := Dump(&b, everything(7)); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/everything.txt", b.Bytes())
}

func BenchmarkFile(b *testing.B) {
	x := &Trace{}
	cat := x.Category("c", ClassOther)
	k := x.TrackIndex().Goroutine(x.Process(1, "p"), 1)
	for i := range 1_000_000 {
		x.Slices = append(x.Slices, Slice{Start: int64(i) * 300, Dur: int64(i % 200), Track: k, Cat: cat})
	}
	var buf bytes.Buffer
	if err := Encode(&buf, x); err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			buf.Reset()
			if err := Encode(&buf, x); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(buf.Len())/1e6, "bytes/slice")
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if _, err := Decode(bytes.NewReader(buf.Bytes())); err != nil {
				b.Fatal(err)
			}
		}
	})
}
