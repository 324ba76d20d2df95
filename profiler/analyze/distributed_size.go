package analyze

import (
	"encoding/json"

	"github.com/gander-go/gander/profiler/trace"
)

// typeBytes is the size of an element by the names that torch gives types in traces.
var typeBytes = map[string]int64{
	"long int": 8, "double": 8, "float": 4, "int": 4, "short": 2, "c10::half": 2, "c10::Half": 2, "c10::BFloat16": 2,
	"unsigned char": 1, "signed char": 1, "bool": 1, "c10::complex<float>": 8, "c10::complex<double>": 16,
	"c10::Float8_e4m3fn": 1, "c10::Float8_e5m2": 1,
}

// commBytes is the size of a collective's tensors: the product of each shape times the size of its type.
func commBytes(t *trace.Trace, s *trace.Slice) int64 {
	if s.Kind != trace.ArgOp {
		return 0
	}
	var dims []json.RawMessage
	var types []string
	op := &t.Ops[s.Args]
	// Both texts are the source's; where they do not parse the size stays unknown.
	if json.Unmarshal([]byte(t.Strings.Get(op.Dims)), &dims) != nil || json.Unmarshal([]byte(t.Strings.Get(op.Types)), &types) != nil {
		return 0
	}
	var bytes int64
	for i, raw := range dims {
		if i >= len(types) {
			break
		}
		bytes += tensorBytes(raw, typeBytes[types[i]])
	}
	return bytes
}

// tensorBytes is the size of one tensor, or of a list of tensors.
func tensorBytes(raw json.RawMessage, element int64) int64 {
	var shape []int64
	if json.Unmarshal(raw, &shape) == nil {
		if len(shape) == 0 {
			return element // a single value, as the plugin counts it
		}
		n := element
		for _, d := range shape {
			n *= d
		}
		return n
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return 0
	}
	var sum int64
	for _, r := range list {
		sum += tensorBytes(r, max(element, 4))
	}
	return sum
}
