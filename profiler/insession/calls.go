package insession

import (
	"reflect"
	"sync"

	"github.com/gander-go/gander/profiler/record"
)

// calls is the rt.Spans that records calls of instrumented cells. A token is a place in a table of open spans, because a
// span itself is a pointer and the runtime of cells passes numbers.
type calls struct {
	shapes bool
	shards [16]struct {
		// mu guards open and free.
		mu   sync.Mutex
		open []record.Span
		free []uint32
		_    [64]byte // keeps shards on cache lines of their own
	}
}

// Args reports whether arguments are wanted.
func (c *calls) Args() bool { return c.shapes }

// Begin starts the span of a call.
func (c *calls) Begin(name string, args []any) uint64 {
	var s record.Span
	if len(args) > 0 {
		shapes := make([][]int, len(args))
		for i, a := range args {
			shapes[i] = shapeOf(a)
		}
		s = record.BeginCallOp(name, &record.Op{Shapes: shapes})
	} else {
		s = record.BeginCall(name)
	}
	if !s.Recording() {
		return 0
	}
	shard := uint64(record.Goroutine()) % uint64(len(c.shards))
	sh := &c.shards[shard]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	var place uint32
	if n := len(sh.free); n > 0 {
		place = sh.free[n-1]
		sh.free = sh.free[:n-1]
		sh.open[place] = s
	} else {
		place = uint32(len(sh.open))
		sh.open = append(sh.open, s)
	}
	return (uint64(place)+1)<<8 | shard
}

// End ends the span that Begin gave token for. Token 0 is a call that nothing recorded.
func (c *calls) End(_ string, token uint64) {
	if token == 0 {
		return
	}
	sh := &c.shards[token&0xff%uint64(len(c.shards))]
	place := token>>8 - 1
	sh.mu.Lock()
	var s record.Span
	if place < uint64(len(sh.open)) {
		s = sh.open[place]
		if s.Recording() {
			sh.open[place] = record.Span{}
			sh.free = append(sh.free, uint32(place))
		}
	}
	sh.mu.Unlock()
	s.End()
}

// maxRank bounds how deep shapeOf looks into slices of slices.
const maxRank = 4

// shapeOf returns the shape of an argument: its own idea of it where it has methods Shape or Dims, the lengths of
// (nested) slices, the length of a string, map or channel, and the empty shape for everything else. Ragged slices have
// the shape that their first elements suggest. A panic of the argument's own method makes the shape empty.
func shapeOf(a any) (shape []int) {
	defer func() {
		if recover() != nil {
			shape = nil
		}
	}()
	switch m := a.(type) {
	case interface{ Shape() []int }:
		return m.Shape()
	case interface{ Dims() (r, c int) }:
		r, c := m.Dims()
		return []int{r, c}
	}
	v := reflect.ValueOf(a)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	for len(shape) < maxRank {
		switch v.Kind() {
		case reflect.Slice, reflect.Array:
			shape = append(shape, v.Len())
			if v.Len() == 0 {
				return shape
			}
			v = v.Index(0)
			continue
		case reflect.String, reflect.Map, reflect.Chan:
			if len(shape) == 0 {
				return []int{v.Len()}
			}
		}
		return shape
	}
	return shape
}
