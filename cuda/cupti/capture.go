//go:build linux && cgo && (amd64 || arm64)

package cupti

/*
#include "cupti.h"
*/
import "C"

import (
	"errors"
	"slices"
	"sync"
	"unsafe"
)

// Config says what a capture records and with how much memory.
type Config struct {
	Kinds   []Kind
	Buffers int // at most so many buffers; 0 is 64
	Size    int // bytes of each; 0 is 1 MiB
	Max     int // records that are kept, at some 150 bytes each; 0 is two million
}

// DefaultKinds are what a profile records. KindGraph is not among them: with it, CUPTI tells of graphs as wholes and not of
// the kernels in them; and neither are KindMarker and KindName, which tell of something only where NVTX is injected, nor
// KindEvent, which comes with KindSync before 12.9 and is refused by itself in 11.8.
var DefaultKinds = []Kind{
	KindKernel, KindMemcpy, KindMemcpyPeer, KindMemset, KindRuntime, KindDriver, KindExternal, KindSync, KindOverhead,
	KindMemory, KindPool, KindDevice, KindContext, KindStream,
}

// Capture is a capture under way.
type Capture struct {
	lib      *Library
	tag      uint64 // upper bits of its external ids: those of earlier captures may still be on CUPTI's stacks
	enabled  []Kind
	disabled map[Kind]Result
	decoded  chan struct{}

	// decoding guards decoder.
	decoding sync.Mutex
	decoder  Decoder
	texts    map[uint64]string // interned, by address: the text is compared each time
	stopping chan struct{}
}

var errBusy = errors.New("starting a CUDA capture: one is under way already")

// Start subscribes to CUPTI and enables kinds. Those that the library refuses are counted in Records.Lost.Disabled; it is
// an error when none is left. The error is an *Error where CUPTI refused.
func (l *Library) Start(c Config) (*Capture, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.capture != nil {
		return nil, errBusy
	}
	if c.Buffers <= 0 {
		c.Buffers = 64
	}
	if c.Size <= 0 {
		c.Size = 1 << 20
	}
	if c.Max <= 0 {
		c.Max = 2 << 20
	}
	if err := check("attaching to CUDA", C.gander_cupti_subscribe()); err != nil {
		return nil, err
	}
	refuse := C.int(0)
	if l.API >= 27 { // libraries before 12.9 crash when they get no buffer
		refuse = 1
	}
	C.gander_pool_limit(C.int(c.Buffers), C.size_t(c.Size), refuse)
	if err := check("preparing CUPTI", C.gander_cupti_prepare()); err != nil {
		C.gander_cupti_unsubscribe()
		return nil, err
	}
	l.captures++
	p := &Capture{lib: l, tag: l.captures << idBits, disabled: map[Kind]Result{}, decoded: make(chan struct{}), stopping: make(chan struct{}), texts: map[uint64]string{}}
	p.decoder = Decoder{Version: l.Version, Sizes: l.Sizes, Text: p.text, Max: c.Max}
	var first error
	for _, k := range c.Kinds {
		err := check("recording "+k.String(), C.gander_cupti_enable(C.int(k)))
		var e *Error
		if errors.As(err, &e) {
			p.disabled[k] = e.Result
			if first == nil {
				first = err
			}
			continue
		}
		p.enabled = append(p.enabled, k)
	}
	if len(p.enabled) == 0 {
		C.gander_cupti_unsubscribe()
		if first == nil {
			first = errors.New("starting a CUDA capture: nothing was asked for")
		}
		return nil, first
	}
	var n C.size_t
	C.gander_cupti_dropped(&n) // forget what was dropped before
	var bytes, refused C.uint64_t
	var made C.int
	C.gander_pool_lost(&bytes, &refused, &made)
	l.capture = p
	go p.decode()
	return p, nil
}

// idBits are the bits of an external id that are the caller's.
const idBits = 44

// Push makes id, of at most 44 bits, the external id of the calls that the calling thread makes until Pop. The goroutine must
// be locked to its thread from one to the other.
func (p *Capture) Push(id uint64) { C.gander_cupti_push(C.uint64_t(p.tag | id)) }

// Pop undoes the Push of id on this thread, whatever was pushed since and even when the capture is over; without a Push it
// does nothing.
func (p *Capture) Pop(id uint64) { C.gander_cupti_pop(C.uint64_t(p.tag | id)) }

// untag takes out external ids of spans that other captures pushed.
func (p *Capture) untag() {
	r := &p.decoder.Records
	r.External = slices.DeleteFunc(r.External, func(e External) bool {
		return e.Kind == ExternalSpan && e.ID>>idBits<<idBits != p.tag
	})
	for i := range r.External {
		if e := &r.External[i]; e.Kind == ExternalSpan {
			e.ID &^= p.tag
		}
	}
}

// Flush has CUPTI hand over the records of all work that is done; forced, also of work that is not, which then never ends.
// It does not wait for the device.
func (p *Capture) Flush(forced bool) error {
	flag := C.uint32_t(0)
	if forced {
		flag = 1
	}
	err := check("flushing CUDA records", C.gander_cupti_flush(flag))
	p.drain()
	return err
}

// Stop ends the capture and returns what it recorded. Device work that is to be in it must be done: see Synchronize. The
// records are complete even when there is an error, as far as CUPTI gave them.
func (p *Capture) Stop() (*Records, error) {
	l := p.lib
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.capture != p {
		return nil, errors.New("stopping a CUDA capture: it is not under way")
	}
	l.capture = nil
	for _, k := range p.enabled {
		C.gander_cupti_disable(C.int(k))
	}
	flushed := p.Flush(true)
	close(p.stopping)
	C.gander_pool_wake()
	<-p.decoded
	p.drain()
	lost := &p.decoder.Records.Lost
	var n C.size_t
	if C.gander_cupti_dropped(&n) == 0 {
		lost.Dropped += uint64(n)
	}
	unsubscribed := check("detaching from CUDA", C.gander_cupti_unsubscribe())
	var bytes, refused C.uint64_t
	var made C.int
	C.gander_pool_lost(&bytes, &refused, &made)
	lost.Bytes += uint64(bytes)
	lost.Refused += uint64(refused)
	lost.Disabled = p.disabled
	p.untag()
	return &p.decoder.Records, errors.Join(flushed, unsubscribed)
}

// decode waits for full buffers until the capture ends.
func (p *Capture) decode() {
	defer close(p.decoded)
	for {
		if b := C.gander_pool_take(1000); b != nil {
			p.add(b)
		}
		select {
		case <-p.stopping:
			return
		default:
		}
	}
}

// drain decodes the full buffers that there are.
func (p *Capture) drain() {
	for b := C.gander_pool_take(0); b != nil; b = C.gander_pool_take(0) {
		p.add(b)
	}
}

// add decodes one buffer and gives it back.
func (p *Capture) add(b *C.gander_buffer) {
	defer C.gander_pool_give(b)
	p.decoding.Lock()
	defer p.decoding.Unlock()
	const batch = 4096
	var offsets [batch]uint32
	var at unsafe.Pointer
	buf := unsafe.Slice((*byte)(unsafe.Pointer(b.data)), int(b.valid))
	for {
		var end C.int
		n := int(C.gander_buffer_offsets(b, &at, (*C.uint32_t)(&offsets[0]), batch, &end))
		p.decoder.Add(buf, offsets[:n])
		switch Result(end) {
		case Success:
			continue
		case MaxLimitReached:
			return
		}
		broken := &p.decoder.Records.Lost.Broken
		if *broken == nil {
			*broken = map[Result]int{}
		}
		(*broken)[Result(end)]++
		return
	}
}

// text reads a name. The same address mostly holds the same name, and names are few: they are shared.
func (p *Capture) text(address uint64) string {
	s := cString(address)
	if old, ok := p.texts[address]; ok && old == s {
		return old
	}
	p.texts[address] = s
	return s
}
