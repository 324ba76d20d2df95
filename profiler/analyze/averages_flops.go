package analyze

import (
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// countFLOPs adds the FLOPs of slice i: the source's, or those that its shapes give.
func (b *builder) countFLOPs(r *Average, i int32, op *trace.OpArgs) {
	n := op.FLOPs
	if n == 0 && b.flops != nil && b.x.class[i] == trace.ClassOp {
		r.FLOPs += b.flops.count(b.t.Slices[i].Name, op)
		return
	}
	r.FLOPs += n
	if n != 0 && op.Extra != 0 && b.estimated(op.Extra) {
		r.About += n
	}
}

// estimatedFLOPs is the argument with which a recording says that an operator's FLOPs are an estimate.
const estimatedFLOPs = `"FLOPs are an estimate":true`

// estimated reports whether the other arguments of an operator say that its FLOPs are an estimate.
func (b *builder) estimated(extra trace.StringID) bool {
	is, known := b.about[extra]
	if !known {
		if b.about == nil {
			b.about = map[trace.StringID]bool{}
		}
		is = strings.Contains(b.t.Strings.Get(extra), estimatedFLOPs)
		b.about[extra] = is
	}
	return is
}
