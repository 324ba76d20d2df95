package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// wire encodes to or decodes from one section's payload. Each of its methods does both, so that the two directions cannot
// drift apart: when encoding it reads what its argument points to, when decoding it fills it.
//
// Integers are zigzag varints, floats are varints of their bits in reverse byte order (which makes small integers short),
// strings are a length and bytes.
type wire struct {
	decoding bool
	b        []byte // encoded so far, or to be decoded
	pos      int    // how much of it is decoded; moving an index costs less than moving the slice
	err      error
}

var errShort = errors.New("it ends in the middle of a value")

type integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32
}

// num codes an integer of any size; a value that does not fit its type is an error.
func num[T integer](w *wire, p *T) {
	if w.decoding {
		v := w.varint()
		if *p = T(v); int64(*p) != v && w.err == nil {
			w.err = fmt.Errorf("%d does not fit its field", v)
		}
		return
	}
	w.b = binary.AppendVarint(w.b, int64(*p))
}

// diff codes *p as its difference to base.
func diff[T integer](w *wire, p *T, base T) {
	d := int64(*p) - int64(base)
	num(w, &d)
	if w.decoding {
		v := int64(base) + d
		if *p = T(v); int64(*p) != v && w.err == nil {
			w.err = fmt.Errorf("%d does not fit its field", v)
		}
	}
}

func (w *wire) varint() int64 {
	if w.pos < len(w.b) && w.b[w.pos] < 0x80 {
		u := w.b[w.pos]
		w.pos++
		return int64(u>>1) ^ -int64(u&1)
	}
	v, n := binary.Varint(w.b[w.pos:])
	if n <= 0 {
		w.fail()
		return 0
	}
	w.pos += n
	return v
}

func (w *wire) uvarint() uint64 {
	v, n := binary.Uvarint(w.b[w.pos:])
	if n <= 0 {
		w.fail()
		return 0
	}
	w.pos += n
	return v
}

// left is the number of bytes still to be decoded.
func (w *wire) left() int { return len(w.b) - w.pos }

// fail ends decoding: what is left is not read.
func (w *wire) fail() {
	if w.err == nil {
		w.err = errShort
	}
	w.pos = len(w.b)
}

func (w *wire) u64(p *uint64) {
	if w.decoding {
		*p = w.uvarint()
		return
	}
	w.b = binary.AppendUvarint(w.b, *p)
}

func (w *wire) f64(p *float64) {
	u := bits.ReverseBytes64(math.Float64bits(*p))
	w.u64(&u)
	if w.decoding {
		*p = math.Float64frombits(bits.ReverseBytes64(u))
	}
}

func (w *wire) f32(p *float32) {
	f := float64(*p)
	w.f64(&f)
	if w.decoding {
		*p = float32(f)
	}
}

func (w *wire) flag(p *bool) {
	var n uint8
	if *p {
		n = 1
	}
	num(w, &n)
	if w.decoding {
		*p = n != 0
	}
}

func (w *wire) str(p *string) {
	if w.decoding {
		*p = string(w.take())
		return
	}
	w.b = binary.AppendUvarint(w.b, uint64(len(*p)))
	w.b = append(w.b, *p...)
}

func (w *wire) bytes(p *[]byte) {
	if w.decoding {
		*p = append([]byte(nil), w.take()...)
		return
	}
	w.b = binary.AppendUvarint(w.b, uint64(len(*p)))
	w.b = append(w.b, *p...)
}

// take returns the bytes of a string that is being decoded.
func (w *wire) take() []byte {
	n := w.uvarint()
	if n > uint64(w.left()) {
		w.fail()
		return nil
	}
	b := w.b[w.pos : w.pos+int(n)]
	w.pos += int(n)
	return b
}

// length codes the number of elements of a list. When decoding, a number that what is left cannot hold, at one byte an
// element, is an error: nothing is allocated on the word of a length.
func (w *wire) length(n int) int {
	if !w.decoding {
		w.b = binary.AppendUvarint(w.b, uint64(n))
		return n
	}
	u := w.uvarint()
	if u > uint64(w.left()) {
		w.fail()
		return 0
	}
	return int(u)
}
