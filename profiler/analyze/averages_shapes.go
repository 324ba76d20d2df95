package analyze

import (
	"encoding/json"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

func (b *builder) shapesOf(i int32) trace.StringID {
	s := &b.t.Slices[i]
	switch s.Kind {
	case trace.ArgOp:
		if b.torch {
			return b.listless(b.t.Ops[s.Args].Dims)
		}
		return b.t.Ops[s.Args].Dims
	case trace.ArgCall:
		return b.t.Calls[s.Args].Shapes
	}
	return 0
}

// listless returns the text that stands for shapes where, as in torch, a list of tensors has none ("[]"): of the texts that
// are then the same the one that was seen first.
func (b *builder) listless(dims trace.StringID) trace.StringID {
	if same, ok := b.sameShapes[dims]; ok {
		return same
	}
	if b.sameShapes == nil {
		b.sameShapes, b.firstShapes = map[trace.StringID]trace.StringID{}, map[string]trace.StringID{}
	}
	text := withoutLists(b.t.Strings.Get(dims))
	first, ok := b.firstShapes[text]
	if !ok {
		first = dims
		b.firstShapes[text] = dims
	}
	b.sameShapes[dims] = first
	return first
}

// withoutLists empties the lists of shapes in a list of shapes: [[2,3],[[4],[5]]] becomes [[2,3],[]].
func withoutLists(dims string) string {
	if !strings.Contains(dims, "[[[") && !strings.Contains(dims, ",[[") && !strings.Contains(dims, ", [[") {
		return dims
	}
	var inputs []json.RawMessage
	if json.Unmarshal([]byte(dims), &inputs) != nil {
		return dims
	}
	for i, in := range inputs {
		if rest := strings.TrimLeft(string(in), "[ \t\r\n"); strings.Count(string(in[:len(in)-len(rest)]), "[") > 1 {
			inputs[i] = json.RawMessage("[]")
		}
	}
	out, err := json.Marshal(inputs)
	if err != nil {
		return dims
	}
	return string(out)
}

// spacedJSON writes a JSON array of arrays as torch prints a list: ", " between elements.
func spacedJSON(s string) string {
	if !strings.Contains(s, ",") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		b.WriteByte(s[i])
		if s[i] == ',' && i+1 < len(s) && s[i+1] != ' ' {
			b.WriteByte(' ')
		}
	}
	return b.String()
}
