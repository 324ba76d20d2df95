package kineto

import (
	"hash/maphash"

	"github.com/gander-go/gander/profiler/trace"
)

// textKind says how a raw text is turned into what the model keeps.
type textKind uint8

const (
	nameText textKind = iota // the inside of a JSON string, unescaped
	jsonText                 // a JSON value, cleaned
)

// Bounds of one scanner's table. Beyond them it starts anew: then the distinct strings of the input cost memory once, in
// the trace, and not once more for every scanner.
const (
	maxLocalStrings = 1 << 19
	maxLocalBytes   = 64 << 20
)

// interner gives out ids for raw texts, local to one scanner, so that scanners share nothing. Looking up by raw text means
// that escapes are undone and JSON is checked once a distinct text.
type interner struct {
	seed  maphash.Seed
	slots []uint32 // position in raw and out; 0 is free
	raw   []string
	hash  []uint32
	out   []string // by local id, which is the position
	bytes int
	arena []byte
	buf   []byte
}

func newInterner() *interner {
	t := &interner{seed: maphash.MakeSeed()}
	t.reset()
	return t
}

func (t *interner) reset() {
	t.slots = make([]uint32, 1<<12)
	t.raw, t.hash, t.out = []string{""}, []uint32{0}, []string{""}
	t.bytes, t.arena = 0, nil
}

func (t *interner) full() bool { return len(t.out) > maxLocalStrings || t.bytes > maxLocalBytes }

// id returns the local id of raw; fixed is what had to be repaired, told once a distinct text.
func (t *interner) id(kind textKind, raw []byte) (id trace.StringID, fixed repairs) {
	if len(raw) == 0 {
		return 0, 0
	}
	h := uint32(maphash.Bytes(t.seed, raw))<<1 | uint32(kind)
	mask := uint32(len(t.slots) - 1)
	i := (h >> 1) & mask
	for ; t.slots[i] != 0; i = (i + 1) & mask {
		if n := t.slots[i]; t.hash[n] == h && t.raw[n] == string(raw) {
			return trace.StringID(n), 0
		}
	}
	key := t.keep(raw)
	text := key
	switch {
	case kind == jsonText:
		t.buf, fixed = clean(t.buf[:0], raw)
		if string(t.buf) != key {
			text = t.keep(t.buf)
		}
	case !plain(raw):
		t.buf, fixed = unescape(t.buf[:0], raw)
		if string(t.buf) != key {
			text = t.keep(t.buf)
		}
	}
	n := uint32(len(t.out))
	t.raw, t.hash, t.out = append(t.raw, key), append(t.hash, h), append(t.out, text)
	t.slots[i] = n
	if len(t.out)*2 > len(t.slots) {
		t.grow()
	}
	return trace.StringID(n), fixed
}

// keep copies b to memory of its own. Short strings share blocks, which saves the allocator's rounding.
func (t *interner) keep(b []byte) string {
	t.bytes += len(b) + 48
	if len(b) > 4096 {
		return string(b)
	}
	if cap(t.arena)-len(t.arena) < len(b) {
		t.arena = make([]byte, 0, 64<<10)
	}
	from := len(t.arena)
	t.arena = append(t.arena, b...)
	return view(t.arena[from:])
}

func (t *interner) grow() {
	t.slots = make([]uint32, 2*len(t.slots))
	mask := uint32(len(t.slots) - 1)
	for n := 1; n < len(t.hash); n++ {
		i := (t.hash[n] >> 1) & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = uint32(n)
	}
}
