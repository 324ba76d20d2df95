package record

import (
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gander-go/gander/profiler/trace"
)

// Limits of the table of names. A program that makes up names in a loop ("item 1", "item 2", …) must not fill the
// memory: what does not fit goes by the name of otherNames and is counted.
const (
	maxNames     = 1 << 20
	maxNameBytes = 64 << 20
	nameCache    = 2048 // a power of two

	otherNames = "(more names than fit)"
)

// name is an interned span name with the part it plays.
type name struct {
	text  string
	class trace.Class
	flags trace.SliceFlags
	id    uint32
	calls calls
}

type nameKey struct {
	text  string
	class trace.Class
	flags trace.SliceFlags
}

// names interns span names. A hit costs a few nanoseconds: the string's address picks a slot of the cache, and equal
// content, not the address, makes the hit, so that reused memory cannot confuse it.
type names struct {
	cache [nameCache]atomic.Pointer[name]
	lost  atomic.Int64 // names that did not fit, counted per span

	// mu guards the rest.
	mu    sync.RWMutex
	ids   map[nameKey]*name
	list  []*name
	bytes int
}

func (t *names) id(s string, class trace.Class, flags trace.SliceFlags) uint32 {
	return t.name(s, class, flags).id
}

func (t *names) name(s string, class trace.Class, flags trace.SliceFlags) *name {
	p := uintptr(unsafe.Pointer(unsafe.StringData(s)))
	slot := &t.cache[(p^p>>11^uintptr(len(s))<<3)&(nameCache-1)]
	if n := slot.Load(); n != nil && n.text == s && n.class == class && n.flags == flags {
		return n
	}
	n := t.find(s, class, flags)
	slot.Store(n)
	return n
}

func (t *names) find(s string, class trace.Class, flags trace.SliceFlags) *name {
	k := nameKey{s, class, flags}
	t.mu.RLock()
	n := t.ids[k]
	full := len(t.list) >= maxNames || t.bytes+len(s) > maxNameBytes
	t.mu.RUnlock()
	if n != nil {
		return n
	}
	if full && s != otherNames {
		t.lost.Add(1)
		return t.find(otherNames, class, flags)
	}
	return t.add(strings.Clone(s), class, flags)
}

// add is apart from find so that the compiler sees that find does not keep s.
func (t *names) add(s string, class trace.Class, flags trace.SliceFlags) *name {
	k := nameKey{s, class, flags}
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.ids[k]; n != nil {
		return n
	}
	if t.ids == nil {
		t.ids = make(map[nameKey]*name)
	}
	n := &name{text: s, class: class, flags: flags, id: uint32(len(t.list))}
	t.ids[k] = n
	t.list = append(t.list, n)
	t.bytes += len(s)
	return n
}

// all returns the names by id.
func (t *names) all() []*name {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.list[:len(t.list):len(t.list)]
}
