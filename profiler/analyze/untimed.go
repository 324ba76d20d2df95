package analyze

import (
	"encoding/json"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// countedCalls is the argument with which a recording says, at the first slice of a name, how many more calls it counted
// without timing them: package record does so with calls that are many and short.
const countedCalls = "calls counted only"

// untimed is the number of calls that s tells of besides itself.
func (b *builder) untimed(s *trace.Slice) int64 {
	if s.Kind != trace.ArgCall {
		return 0
	}
	extra := b.t.Calls[s.Args].Extra
	if extra == 0 {
		return 0
	}
	text := b.t.Strings.Get(extra)
	if !strings.Contains(text, `"`+countedCalls+`"`) {
		return 0
	}
	var args struct {
		Counted int64 `json:"calls counted only"`
	}
	if json.Unmarshal([]byte(text), &args) != nil {
		return 0
	}
	return max(0, args.Counted)
}

// countUntimed adds the calls that were not timed to the counts. It comes after everything that expects as many slices
// as a row counts.
func (b *builder) countUntimed() {
	for i := range b.out {
		b.out[i].Count += b.out[i].Untimed
	}
}
