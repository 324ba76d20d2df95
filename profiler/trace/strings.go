package trace

import (
	"hash/maphash"
	"unsafe"
)

// Strings is an interning table. The zero value is ready to use; id 0 is the empty string.
//
// Ids are found through an open-addressing table of ids (8 to 16 bytes a string) that is built when the first one is
// looked up, so that a table that is only read costs no more than its list.
type Strings struct {
	list  []string
	slots []StringID // 0 is free; length is a power of two
}

// seed makes the slot of a string unpredictable to who wrote it.
var seed = maphash.MakeSeed()

// ID returns the id of s, adding it when it is new.
func (t *Strings) ID(s string) StringID {
	if s == "" {
		return 0
	}
	t.grow()
	i := t.slot(maphash.String(seed, s), s)
	if t.slots[i] == 0 {
		t.list = append(t.list, s)
		t.slots[i] = StringID(len(t.list) - 1)
	}
	return t.slots[i]
}

// IDBytes is ID for a byte slice; it copies b only when the string is new.
func (t *Strings) IDBytes(b []byte) StringID {
	if len(b) == 0 {
		return 0
	}
	t.grow()
	// The view of b does not outlive the call, which saves the copy that a conversion would make.
	i := t.slot(maphash.Bytes(seed, b), unsafe.String(&b[0], len(b)))
	if t.slots[i] == 0 {
		t.list = append(t.list, string(b))
		t.slots[i] = StringID(len(t.list) - 1)
	}
	return t.slots[i]
}

// slot returns the index of the slot that holds s, or of the free one where it belongs.
func (t *Strings) slot(h uint64, s string) int {
	mask := len(t.slots) - 1
	for i := int(h) & mask; ; i = (i + 1) & mask {
		if id := t.slots[i]; id == 0 || t.list[id] == s {
			return i
		}
	}
}

// grow makes room for one more string, keeping the slots at most two thirds full.
func (t *Strings) grow() {
	if len(t.list) == 0 {
		t.list = append(t.list, "")
	}
	if len(t.list)*3 < len(t.slots)*2 {
		return
	}
	n := 64
	for n*2 <= len(t.list)*3 {
		n *= 2
	}
	t.slots = make([]StringID, n)
	for id, s := range t.list {
		if s == "" {
			continue
		}
		if i := t.slot(maphash.String(seed, s), s); t.slots[i] == 0 {
			t.slots[i] = StringID(id)
		}
	}
}

// Get returns the string of id, empty for an id that was never given out.
func (t *Strings) Get(id StringID) string {
	if int(id) >= len(t.list) {
		return ""
	}
	return t.list[id]
}

// Len is the number of ids given out, the empty string included.
func (t *Strings) Len() int { return max(1, len(t.list)) }

// SetList replaces the table by list, whose first element must be empty.
func (t *Strings) SetList(list []string) { t.list, t.slots = list, nil }

// List returns the strings by id. The caller must not change it.
func (t *Strings) List() []string { return t.list }
