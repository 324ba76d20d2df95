package open

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/gander-go/gander/profiler/pprof"
	"github.com/gander-go/gander/profiler/trace"
)

// maxProfile bounds a decompressed profile; its parser wants all of it in memory.
const maxProfile = 512 << 20

// readProfile reads a profile of go tool pprof, in any of its formats.
func readProfile(r io.Reader) (*trace.Trace, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxProfile+1))
	if err != nil {
		return nil, fmt.Errorf("reading profile: %w", err)
	}
	if len(data) > maxProfile {
		return nil, fmt.Errorf("reading profile: it is longer than %d MB", maxProfile>>20)
	}
	p, err := profile.ParseData(data)
	if err != nil {
		return nil, fmt.Errorf("reading profile: %w", err)
	}
	t, err := fromProfile(p)
	if err != nil {
		return nil, fmt.Errorf("reading profile: %w", err)
	}
	return t, nil
}

// use says what one sample type of a profile becomes.
type use struct {
	kind  trace.SampleKind
	count bool
	scale float64
}

// scales convert units to those of Sample.Weight.
var scales = map[string]float64{
	"nanoseconds": 1, "ns": 1, "microseconds": 1e3, "us": 1e3, "milliseconds": 1e6, "ms": 1e6, "seconds": 1e9, "s": 1e9,
	"bytes": 1, "byte": 1, "B": 1, "kilobytes": 1 << 10, "kB": 1 << 10, "KB": 1 << 10, "MB": 1 << 20,
}

// useOf recognises sample types by name and unit. Block and mutex profiles have the same types; both show as blocking.
func useOf(v *profile.ValueType) (use, bool) {
	u := use{scale: 1}
	switch v.Type {
	case "samples":
		u.count = true
	case "cpu", "wall", "time":
	case "alloc_objects":
		u.kind, u.count = trace.SampleAlloc, true
	case "alloc_space":
		u.kind = trace.SampleAlloc
	case "inuse_objects", "objects":
		u.kind, u.count = trace.SampleInUse, true
	case "inuse_space", "space":
		u.kind = trace.SampleInUse
	case "contentions":
		u.kind, u.count = trace.SampleBlock, true
	case "delay":
		u.kind = trace.SampleBlock
	default:
		return u, false
	}
	if !u.count {
		scale, ok := scales[v.Unit]
		if !ok {
			return u, false
		}
		u.scale = scale
	}
	return u, true
}

// fromProfile makes p a trace. Its samples have no times.
func fromProfile(p *profile.Profile) (*trace.Trace, error) {
	uses := make([]use, len(p.SampleType))
	known := make([]bool, len(p.SampleType))
	var names, ignored []string
	taken := make(map[use]bool)
	for i, v := range p.SampleType {
		uses[i], known[i] = useOf(v)
		// Of several values that would be added up (CPU and wall time) the first counts.
		column := use{kind: uses[i].kind, count: uses[i].count}
		if known[i] = known[i] && !taken[column]; !known[i] {
			ignored = append(ignored, v.Type)
		} else {
			taken[column] = true
		}
		names = append(names, v.Type+"/"+v.Unit)
	}
	if !slices.Contains(known, true) {
		return nil, fmt.Errorf("its values are %s; Gander shows CPU, heap, block and mutex profiles", strings.Join(names, ", "))
	}
	t := &trace.Trace{Meta: trace.Meta{Tool: "pprof", Rank: trace.NoRank, Epoch: p.TimeNanos, End: max(0, p.DurationNanos)}}
	if len(ignored) > 0 {
		t.Problem("sample-types", int64(len(ignored)), "Values of the profile that have no place in a trace and are not shown: "+strings.Join(ignored, ", ")+".", "")
	}
	for _, c := range p.Comments {
		text, err := json.Marshal(c)
		if err != nil {
			continue
		}
		t.Meta.Values = append(t.Meta.Values, trace.KeyValue{Key: "comment", Value: string(text)})
	}
	s := stacker{index: t.StackIndex(), frames: make(map[*profile.Location][]trace.FrameID)}
	for _, sample := range p.Sample {
		stack := s.stack(sample.Location)
		span := trace.StringID(0)
		if v := sample.Label[pprof.SpanLabel]; len(v) > 0 {
			span = t.Strings.ID(v[0])
		}
		var sums [trace.SampleMutex + 1]trace.Sample
		for i, v := range sample.Value {
			if !known[i] {
				continue
			}
			k := &sums[uses[i].kind]
			if uses[i].count {
				k.Count += v
			} else {
				k.Weight += scaled(v, uses[i].scale)
			}
		}
		for kind := range sums {
			if k := sums[kind]; k.Weight != 0 || k.Count != 0 {
				k.Kind, k.Stack, k.Span, k.Time, k.Track = trace.SampleKind(kind), stack, span, trace.NoTime, trace.NoTrack
				t.Samples = append(t.Samples, k)
			}
		}
	}
	if err := t.Validate(); err != nil {
		return nil, errors.Join(errors.New("the profile cannot be shown"), err)
	}
	return t, nil
}

// scaled multiplies exactly where the unit is the model's own.
func scaled(v int64, scale float64) int64 {
	if scale == 1 {
		return v
	}
	f := float64(v) * scale
	return int64(max(-math.MaxInt64/2, min(f, math.MaxInt64/2)))
}

// stacker interns stacks.
type stacker struct {
	index  *trace.StackIndex
	frames map[*profile.Location][]trace.FrameID // outermost first
}

// stack returns the id of a stack, which profiles list innermost first.
func (s *stacker) stack(locations []*profile.Location) trace.StackID {
	id := trace.StackID(0)
	for _, l := range slices.Backward(locations) {
		frames, ok := s.frames[l]
		if !ok {
			frames = s.expand(l)
			s.frames[l] = frames
		}
		for _, f := range frames {
			id = s.index.Push(id, f)
		}
	}
	return id
}

// expand returns the frames of a location: one, or several where calls were inlined, or its address without symbols.
func (s *stacker) expand(l *profile.Location) (frames []trace.FrameID) {
	for _, line := range slices.Backward(l.Line) {
		if line.Function == nil {
			continue
		}
		name := line.Function.Name
		if name == "" {
			name = line.Function.SystemName
		}
		frames = append(frames, s.index.Frame(name, line.Function.Filename, int32(max(0, min(line.Line, math.MaxInt32)))))
	}
	if len(frames) == 0 {
		file := ""
		if l.Mapping != nil {
			file = l.Mapping.File
		}
		frames = append(frames, s.index.Frame("0x"+strconv.FormatUint(l.Address, 16), file, 0))
	}
	return frames
}
