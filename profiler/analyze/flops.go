package analyze

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// shapeFLOPs counts the floating-point operations of torch's operators from the shapes of their inputs, as
// torch.profiler does with with_flops. Its formulas, which know these operators alone:
//
//	aten::conv2d                   2·N·Hout·Wout·Kh·Kw·Cin·Cout/groups, Hout = (H + 2·padding − dilation·(Kh−1) − 1)/stride + 1
//	aten::mm, aten::addmm          2·M·K·N
//	aten::bmm, aten::baddbmm       2·B·M·K·N
//	aten::mul, aten::add           elements of the first input
//
// Everything else counts as 0, so that a sum is a lower bound. Traces do not carry the figures, only what they follow from.
type shapeFLOPs struct {
	t     *trace.Trace
	known map[flopsKey]int64
}

type flopsKey struct{ name, dims, concrete trace.StringID }

// flopsOf returns a counter for t, or nil when nobody asked: the caller or whoever recorded the trace (with_flops).
func (o KeyOptions) flopsOf(t *trace.Trace) *shapeFLOPs {
	asked := o.FLOPs
	for _, v := range t.Meta.Values {
		asked = asked || v.Key == "with_flops" && (v.Value == "1" || v.Value == "true")
	}
	if !asked || t.Meta.Tool == "gander" { // what gander records carries its own figures
		return nil
	}
	return &shapeFLOPs{t: t, known: map[flopsKey]int64{}}
}

// count returns the operations of one operator, 0 when its formula or shapes are unknown.
func (f *shapeFLOPs) count(name trace.StringID, op *trace.OpArgs) int64 {
	if op.Dims == 0 {
		return 0
	}
	k := flopsKey{name, op.Dims, op.Concrete}
	n, ok := f.known[k]
	if !ok {
		n = formula(f.t.Strings.Get(name), f.t.Strings.Get(op.Dims), f.t.Strings.Get(op.Concrete))
		f.known[k] = n
	}
	return n
}

// formula returns the operations of operator name; dims and concrete are the trace's JSON texts.
func formula(name, dims, concrete string) int64 {
	switch name {
	case "aten::conv2d", "aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::mul", "aten::add":
	default:
		return 0
	}
	var inputs []json.RawMessage
	if json.Unmarshal([]byte(dims), &inputs) != nil {
		return 0
	}
	shape := func(i, rank int) []int64 {
		var s []int64
		if i >= len(inputs) || json.Unmarshal(inputs[i], &s) != nil || rank >= 0 && len(s) != rank {
			return nil
		}
		for _, d := range s {
			if d < 0 {
				return nil
			}
		}
		return s
	}
	first := 0
	switch name {
	case "aten::mul", "aten::add":
		return product(shape(0, -1)...) // of a list of tensors, which has no such shape, nothing
	case "aten::addmm", "aten::baddbmm":
		first = 1
	case "aten::conv2d":
		return conv2d(shape(0, 4), shape(1, 4), concrete)
	}
	rank := 2
	if strings.HasSuffix(name, "bmm") {
		rank = 3
	}
	a, b := shape(first, rank), shape(first+1, rank)
	if a == nil || b == nil || a[rank-1] != b[rank-2] {
		return 0
	}
	return product(append(append([]int64{2}, a...), b[rank-1])...)
}

// conv2d is the formula of a convolution of an input (N, C, H, W) with weights (K, C/groups, Kh, Kw).
func conv2d(in, weight []int64, concrete string) int64 {
	var args []string
	if in == nil || weight == nil || json.Unmarshal([]byte(concrete), &args) != nil || len(args) < 7 {
		return 0
	}
	pair := func(i int) (v [2]int64, ok bool) {
		var list []int64
		if json.Unmarshal([]byte(args[i]), &list) != nil || len(list) == 0 || len(list) > 2 {
			return v, false // "same" and "valid" among others
		}
		return [2]int64{list[0], list[len(list)-1]}, true
	}
	stride, ok1 := pair(3)
	padding, ok2 := pair(4)
	dilation, ok3 := pair(5)
	groups, err := strconv.ParseInt(args[6], 10, 64)
	if !ok1 || !ok2 || !ok3 || err != nil || groups <= 0 || stride[0] <= 0 || stride[1] <= 0 {
		return 0
	}
	out := func(k int) int64 {
		return max(0, (in[2+k]+2*padding[k]-dilation[k]*(weight[2+k]-1)-1)/stride[k]+1)
	}
	return product(2, in[0], out(0), out(1), weight[2], weight[3], in[1], weight[0]) / groups
}

// product multiplies; what does not fit counts as nothing: shapes come from untrusted files. Without factors it is 1, the size
// of a single value.
func product(factors ...int64) int64 {
	n := int64(1)
	for _, f := range factors {
		if f < 0 || f > 0 && n > math.MaxInt64/f {
			return 0
		}
		n *= f
	}
	return n
}
