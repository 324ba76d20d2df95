package analyze

import (
	"slices"
	"strconv"

	"github.com/gander-go/gander/profiler/trace"
)

// Kernel is one row of the kernel view.
type Kernel struct {
	Name           string  `json:"name"`
	TensorCores    bool    `json:"tensor_cores"`         // by the plugin's list of names
	TensorCoresNow bool    `json:"tensor_cores_current"` // by a list that knows Hopper and later
	Calls          int64   `json:"calls"`
	Total          int64   `json:"total"` // ns
	Min            int64   `json:"min"`
	Max            int64   `json:"max"`
	BlocksPerSM    float64 `json:"blocks_per_sm"` // weighted by duration; negative when unknown
	Occupancy      float64 `json:"occupancy"`     // percent, weighted by duration, estimate; negative when unknown

	// Set in the rows by operator and launch parameters.
	Operator   string   `json:"operator,omitempty"`
	TCEligible bool     `json:"tc_eligible,omitempty"` // the operator could use tensor cores
	Grid       [3]int32 `json:"grid"`
	Block      [3]int32 `json:"block"`
	Registers  int32    `json:"registers"`     // per thread
	SharedMem  int32    `json:"shared_memory"` // bytes
}

// Mean is the mean duration in ns.
func (k *Kernel) Mean() float64 { return ratio(k.Total, k.Calls) }

// KernelReport is the kernel view; copies and sets are not kernels. Rows are ordered by total time.
type KernelReport struct {
	ByName    []Kernel `json:"by_name"`
	ByOp      []Kernel `json:"by_operator"`      // by name, operator and launch parameters
	TCTime    int64    `json:"tensor_core_time"` // ns in tensor-core kernels, all kernels counted, plugin's list
	TCTimeNow int64    `json:"tensor_core_time_current"`
	Time      int64    `json:"time"` // ns in all kernels, sum
	Copies    []Copy   `json:"copies"`
}

// Copy is one kind of copy or set.
type Copy struct {
	Name      string  `json:"name"`
	Calls     int64   `json:"calls"`
	Total     int64   `json:"total"` // ns
	Bytes     int64   `json:"bytes"`
	Bandwidth float64 `json:"bandwidth"` // GB/s over its own time
}

// Kernels returns the kernel view of t.
func Kernels(t *trace.Trace) *KernelReport { return Of(t).Kernels() }

// Kernels returns the kernel view.
func (a *Analysis) Kernels() *KernelReport { return a.KernelsAs(Exact) }

// KernelsAs returns the kernel view under convention c, which concerns what operator a kernel is attributed to: Exact, or
// Plugin, which knows no driver calls and trusts ids.
func (a *Analysis) KernelsAs(c Convention) *KernelReport {
	tree := a.opTree(c)
	x, t := tree.x, a.Trace
	r := &KernelReport{}
	old, now := x.kernelNames(tensorCoreMarks), x.kernelNames(tensorCoreMarksNow)
	type key struct {
		name, op trace.StringID
		args     [8]int32
	}
	byName, byOp := map[trace.StringID]*weighted{}, map[key]*weighted{}
	var names, ops []*weighted
	for i, class := range x.class {
		if class != trace.ClassKernel {
			continue
		}
		s := &t.Slices[i]
		args := kernelArgs(t, s)
		k := byName[s.Name]
		if k == nil {
			k = newWeighted(t.Name(s), old[s.Name], now[s.Name])
			byName[s.Name] = k
			names = append(names, k)
		}
		k.add(s.Dur, args)
		r.Time += s.Dur
		if old[s.Name] {
			r.TCTime += s.Dur
		}
		if now[s.Name] {
			r.TCTimeNow += s.Dur
		}
		id := key{name: s.Name, args: [8]int32{args.Grid[0], args.Grid[1], args.Grid[2], args.Block[0], args.Block[1], args.Block[2], args.Registers, args.SharedMem}}
		o := tree.owner[i]
		if o >= 0 {
			id.op = t.Slices[o].Name
		}
		k = byOp[id]
		if k == nil {
			k = newWeighted(t.Name(s), old[s.Name], now[s.Name])
			k.Grid, k.Block, k.Registers, k.SharedMem = args.Grid, args.Block, args.Registers, args.SharedMem
			if o >= 0 {
				k.Operator = t.Strings.Get(id.op)
				k.TCEligible = tensorCoreOps[k.Operator]
			}
			byOp[id] = k
			ops = append(ops, k)
		}
		k.add(s.Dur, args)
	}
	r.ByName, r.ByOp = finishKernels(names), finishKernels(ops)
	r.Copies = copies(x)
	return r
}

// kernelArgs returns the launch parameters of a kernel, unknown ones where the source has none.
func kernelArgs(t *trace.Trace, s *trace.Slice) *trace.KernelArgs {
	if s.Kind == trace.ArgKernel {
		return &t.Kernels[s.Args]
	}
	return &trace.KernelArgs{BlocksPerSM: -1, Occupancy: -1}
}

// weighted sums a kernel's calls, and its means weighted by duration.
type weighted struct {
	Kernel
	blocks, blocksTime, occupancy, occupancyTime float64
	plainBlocks, plainOccupancy                  float64 // of calls without duration
	plain                                        float64
}

func newWeighted(name string, tc, tcNow bool) *weighted {
	return &weighted{Kernel: Kernel{Name: name, TensorCores: tc, TensorCoresNow: tcNow, Min: 1<<63 - 1}}
}

func (k *weighted) add(dur int64, args *trace.KernelArgs) {
	k.Calls++
	k.Total += dur
	k.Min, k.Max = min(k.Min, dur), max(k.Max, dur)
	if args.BlocksPerSM >= 0 {
		k.blocks += float64(args.BlocksPerSM) * float64(dur)
		k.blocksTime += float64(dur)
	}
	if args.Occupancy >= 0 {
		k.occupancy += float64(args.Occupancy) * float64(dur)
		k.occupancyTime += float64(dur)
	}
	if dur == 0 && args.BlocksPerSM >= 0 && args.Occupancy >= 0 {
		k.plain++
		k.plainBlocks += float64(args.BlocksPerSM)
		k.plainOccupancy += float64(args.Occupancy)
	}
}

func finishKernels(list []*weighted) []Kernel {
	out := make([]Kernel, 0, len(list))
	for _, k := range list {
		k.BlocksPerSM, k.Occupancy = -1, -1
		switch {
		case k.blocksTime > 0:
			k.BlocksPerSM = k.blocks / k.blocksTime
		case k.plain > 0:
			k.BlocksPerSM = k.plainBlocks / k.plain
		}
		switch {
		case k.occupancyTime > 0:
			k.Occupancy = k.occupancy / k.occupancyTime
		case k.plain > 0:
			k.Occupancy = k.plainOccupancy / k.plain
		}
		out = append(out, k.Kernel)
	}
	slices.SortStableFunc(out, func(a, b Kernel) int { return compareInt(b.Total, a.Total) })
	return out
}

func copies(x *index) []Copy {
	rows := map[trace.StringID]int{}
	var out []Copy
	for i, c := range x.class {
		if c != trace.ClassMemcpy && c != trace.ClassMemset {
			continue
		}
		s := &x.t.Slices[i]
		n, ok := rows[s.Name]
		if !ok {
			n = len(out)
			rows[s.Name] = n
			out = append(out, Copy{Name: x.t.Name(s)})
		}
		out[n].Calls++
		out[n].Total += s.Dur
		if s.Kind == trace.ArgCopy {
			out[n].Bytes += x.t.Copies[s.Args].Bytes
		}
	}
	for n := range out {
		out[n].Bandwidth = ratio(out[n].Bytes, out[n].Total) // bytes per ns are GB/s
	}
	slices.SortStableFunc(out, func(a, b Copy) int { return compareInt(b.Total, a.Total) })
	return out
}

// Text returns the rows by name as a table of at most limit rows; 0 or less is all.
func (r *KernelReport) Text(limit int) string {
	t := textTable{header: []string{"Kernel", "Tensor cores", "Calls", "Total", "Mean", "Max", "Min", "Blocks/SM", "Est. occupancy"}}
	n, more := limited(len(r.ByName), limit)
	known := func(v float64) string {
		if v < 0 {
			return "-"
		}
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	for i := range r.ByName[:n] {
		k := &r.ByName[i]
		tc := "no"
		if k.TensorCoresNow {
			tc = "yes"
		}
		t.add(k.Name, tc, strconv.FormatInt(k.Calls, 10), formatTime(float64(k.Total), ""), formatTime(k.Mean(), ""),
			formatTime(float64(k.Max), ""), formatTime(float64(k.Min), ""), known(k.BlocksPerSM), known(k.Occupancy))
	}
	out := t.String() + more
	if len(r.Copies) == 0 {
		return out
	}
	c := textTable{header: []string{"Copy", "Calls", "Total", "Bytes", "GB/s"}}
	for _, v := range r.Copies {
		c.add(v.Name, strconv.FormatInt(v.Calls, 10), formatTime(float64(v.Total), ""), formatMemory(v.Bytes), known(v.Bandwidth))
	}
	return out + "\n" + c.String()
}
