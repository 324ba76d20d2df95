package pprof

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"slices"

	"github.com/gander-go/gander/profiler/trace"
)

// SpanLabel is the label under which the name of the span that a sample was taken in is written.
const SpanLabel = "span"

// column is one sample type of the profile and where its values come from.
type column struct {
	kind   trace.SampleKind
	name   string
	unit   string
	counts bool // Sample.Count rather than Sample.Weight
}

var columns = map[trace.SampleKind][]column{
	trace.SampleCPU:   {{trace.SampleCPU, "samples", "count", true}, {trace.SampleCPU, "cpu", "nanoseconds", false}},
	trace.SampleBlock: {{trace.SampleBlock, "contentions", "count", true}, {trace.SampleBlock, "delay", "nanoseconds", false}},
	trace.SampleMutex: {{trace.SampleMutex, "contentions", "count", true}, {trace.SampleMutex, "delay", "nanoseconds", false}},
	trace.SampleAlloc: heapColumns,
	trace.SampleInUse: heapColumns,
}

// heapColumns are in the order in which the Go runtime writes them.
var heapColumns = []column{
	{trace.SampleAlloc, "alloc_objects", "count", true}, {trace.SampleAlloc, "alloc_space", "bytes", false},
	{trace.SampleInUse, "inuse_objects", "count", true}, {trace.SampleInUse, "inuse_space", "bytes", false},
}

// Write writes the samples of t of one kind as a gzip-compressed profile. Allocations and memory in use are two views of
// one profile: asking for either writes both, and opens with the one asked for.
func Write(w io.Writer, t *trace.Trace, kind trace.SampleKind) error {
	cols, ok := columns[kind]
	if !ok {
		return fmt.Errorf("writing profile: there is no profile of samples of kind %d", kind)
	}
	z := gzip.NewWriter(w)
	_, err := z.Write(encode(t, kind, cols))
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return fmt.Errorf("writing profile: %w", err)
	}
	return nil
}

// group is what samples are added up by.
type group struct {
	stack trace.StackID
	span  trace.StringID
}

// sum adds up the samples that cols speak of, and returns the groups in a fixed order.
func sum(t *trace.Trace, cols []column) ([]group, map[group][]int64) {
	values := make(map[group][]int64)
	var order []group
	for i := range t.Samples {
		s := &t.Samples[i]
		for k, c := range cols {
			if c.kind != s.Kind {
				continue
			}
			g := group{s.Stack, s.Span}
			v := values[g]
			if v == nil {
				v = make([]int64, len(cols))
				values[g] = v
				order = append(order, g)
			}
			if c.counts {
				v[k] += s.Count
			} else {
				v[k] += s.Weight
			}
		}
	}
	slices.SortFunc(order, func(a, b group) int { return cmp.Or(cmp.Compare(a.stack, b.stack), cmp.Compare(a.span, b.span)) })
	return order, values
}

// encode builds the message. Layout (field numbers of profile.proto):
//
//	Profile   1 sample_type ValueType*   2 sample Sample*   3 mapping Mapping*   4 location Location*   5 function Function*
//	          6 string_table string*     9 time_nanos   10 duration_nanos   11 period_type ValueType   12 period
//	          13 comment string*         14 default_sample_type string
//	ValueType 1 type string   2 unit string
//	Sample    1 location_id* (innermost first)   2 value*   3 label Label*
//	Label     1 key string   2 str string
//	Mapping   1 id   7 has_functions   8 has_filenames   9 has_line_numbers
//	Location  1 id   2 mapping_id   4 line Line*
//	Line      1 function_id   2 line
//	Function  1 id   2 name string   3 system_name string   4 filename string
//
// Strings are indexes into string_table. There is a location for each frame and a function for each name and file.
func encode(t *trace.Trace, kind trace.SampleKind, cols []column) []byte {
	e := &encoder{strings: map[string]uint64{"": 0}, list: []string{""}}
	for _, c := range cols {
		e.message(1, e.valueType(c))
	}
	groups, values := sum(t, cols)
	frames := make([]bool, len(t.Frames))
	var ids, packed, body message
	for _, g := range groups {
		ids, packed, body = ids[:0], packed[:0], body[:0]
		for id := g.stack; id != 0 && int(id) < len(t.Stacks); id = t.Stacks[id].Parent {
			f := t.Stacks[id].Frame
			frames[f] = true
			ids = ids.varint(uint64(f) + 1)
		}
		for _, v := range values[g] {
			packed = packed.varint(uint64(v))
		}
		body = body.bytes(1, ids).bytes(2, packed)
		if g.span != 0 {
			body = body.bytes(3, message(nil).uint(1, e.string(SpanLabel)).uint(2, e.string(t.Strings.Get(g.span))))
		}
		e.message(2, body)
	}
	// The mapping says that names are known, or pprof would look for a binary to find them in.
	e.message(3, message(nil).uint(1, 1).uint(7, 1).uint(8, 1).uint(9, 1))
	e.places(t, frames)
	if t.Meta.Epoch != 0 || t.Meta.Start > 0 {
		e.out = e.out.uint(9, uint64(t.Meta.Epoch+t.Meta.Start))
	}
	e.out = e.out.uint(10, uint64(t.Meta.End-t.Meta.Start))
	for _, c := range cols {
		if c.kind == kind && !c.counts {
			e.message(11, e.valueType(c))
			e.out = e.out.uint(12, 1).uint(14, e.string(c.name))
		}
	}
	e.out = e.out.uint(13, e.string("written by Gander"))
	for _, s := range e.list {
		e.out = e.out.bytes(6, []byte(s))
	}
	return e.out
}

// places writes the locations and functions of the frames that samples refer to.
func (e *encoder) places(t *trace.Trace, used []bool) {
	type function struct{ name, file trace.StringID }
	functions := make(map[function]uint64)
	for i, f := range t.Frames {
		if !used[i] {
			continue
		}
		k := function{f.Func, f.File}
		id, ok := functions[k]
		if !ok {
			id = uint64(len(functions) + 1)
			functions[k] = id
			name := e.string(t.Strings.Get(f.Func))
			e.message(5, message(nil).uint(1, id).uint(2, name).uint(3, name).uint(4, e.string(t.Strings.Get(f.File))))
		}
		line := message(nil).uint(1, id).uint(2, uint64(f.Line))
		e.message(4, message(nil).uint(1, uint64(i)+1).uint(2, 1).bytes(4, line))
	}
}
