package analyze

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// CommOp is one collective of one worker. Times are ns, sizes bytes, summed over its calls.
type CommOp struct {
	Name         string `json:"name"`
	Calls        int64  `json:"calls"`
	Bytes        int64  `json:"bytes"`
	Latency      int64  `json:"latency"`
	DataTransfer int64  `json:"data_transfer"` // the part all workers took part in
}

// Worker is one rank's share of the distributed view.
type Worker struct {
	Name    string   `json:"name"`
	Rank    int      `json:"rank"`
	Devices []string `json:"devices"`

	// Average ns a step: Computation + Overlap + Communication + Other is the step.
	Computation   float64 `json:"computation"`   // device work without communication at the same time
	Overlap       float64 `json:"overlap"`       // both
	Communication float64 `json:"communication"` // communication without computation at the same time
	Other         float64 `json:"other"`
	Synchronizing float64 `json:"synchronizing"` // part of all communication: waiting for the slowest worker
	DataTransfer  float64 `json:"data_transfer"` // the rest of it

	Ops []CommOp `json:"ops"`
}

// DistributedReport is the distributed view over several ranks.
type DistributedReport struct {
	Backend string   `json:"backend"`
	Workers []Worker `json:"workers"`
	Reason  string   `json:"reason,omitempty"` // why there is no view, or what limits it
}

// Distributed returns the distributed view over ts, one trace per rank.
func Distributed(ts []*trace.Trace) *DistributedReport { return DistributedAs(ts, Exact) }

// DistributedAs returns the distributed view with the steps of convention c.
//
// The j-th piece of device work (with Gloo: the call itself) of the i-th collective counts on every rank as data transfer
// for the shortest time that any rank needed for it, at its end; the time before that is waiting for the slowest rank.
func DistributedAs(ts []*trace.Trace, c Convention) *DistributedReport {
	r := &DistributedReport{}
	var ranks []*rankComm
	for n, t := range ts {
		rank := newRankComm(Of(t), c)
		ranks = append(ranks, rank)
		w := Worker{Name: fmt.Sprintf("rank %d", n), Rank: n}
		if t.Meta.Rank != trace.NoRank {
			w.Name, w.Rank = fmt.Sprintf("rank %d", t.Meta.Rank), t.Meta.Rank
		}
		for i := range t.Devices {
			if t.Devices[i].Name != "" {
				w.Devices = append(w.Devices, t.Devices[i].Name)
			}
		}
		rank.split(&w)
		r.Workers = append(r.Workers, w)
		switch {
		case rank.backend == "":
			r.Reason = "no collective operations in " + w.Name
		case r.Backend == "":
			r.Backend = rank.backend
		case r.Backend != rank.backend:
			r.Backend = "mixed"
		}
		if rank.backend == "mixed" {
			r.Backend = "mixed"
		}
	}
	switch {
	case r.Reason != "":
	case len(ts) < 2:
		r.Reason = "waiting can be told from data transfer only with the traces of several ranks"
	case r.Backend == "mixed":
		r.Reason = "NCCL and Gloo are mixed"
	case c == Plugin:
		r.Reason = match(ranks, func(rank *rankComm) [][]*commNode { return [][]*commNode{rank.nodes} })
	default:
		names := map[string]int{}
		r.Reason = match(ranks, func(rank *rankComm) [][]*commNode { return rank.byName(names) })
	}
	for n, rank := range ranks {
		rank.sum(&r.Workers[n])
	}
	return r
}

// commNode is one collective of one rank.
type commNode struct {
	slice    int32
	ranges   []span // its device work, or with Gloo itself
	transfer []span
}

type rankComm struct {
	t       *trace.Trace
	backend string
	nodes   []*commNode
	steps   *StepReport
	comp    []span
	comm    []span
}

func newRankComm(a *Analysis, c Convention) *rankComm {
	x, t := a.index(), a.Trace
	r := &rankComm{t: t, steps: a.StepsAs(c)}
	byExt := map[int64]*commNode{}
	for i, class := range x.class {
		s := &t.Slices[i]
		name := t.Name(s)
		if class != trace.ClassOp && class != trace.ClassAnnotation || !collectiveAs(name, c) {
			continue
		}
		backend := "gloo"
		if strings.HasPrefix(name, "nccl:") {
			backend = "nccl"
		}
		if r.backend == "" {
			r.backend = backend
		} else if r.backend != backend {
			r.backend = "mixed"
		}
		n := &commNode{slice: int32(i)}
		if backend == "gloo" || c == Plugin { // the plugin counts the host's call among the collective's kernels
			n.ranges = []span{{s.Start, s.End()}}
		}
		if known := byExt[s.Ext]; s.Ext != 0 && known != nil {
			*known = *n // of two events of one id the later one counts
			continue
		}
		byExt[s.Ext] = n
		r.nodes = append(r.nodes, n)
	}
	owner := func(i int32) *commNode {
		if s := &t.Slices[i]; s.Ext != 0 {
			return byExt[s.Ext]
		}
		return nil
	}
	if c != Plugin {
		owner = r.launchedBy(x)
	}
	hasKernels := false
	for _, i := range x.byStart(func(c trace.Class) bool { return c == trace.ClassKernel }) {
		s := &t.Slices[i]
		hasKernels = true
		n := owner(i)
		comm := n != nil
		if c != Plugin && kernelType(t.Name(s)) == TypeComm {
			comm = true
			if n == nil { // not annotated: the kernel stands for the collective
				n = &commNode{slice: i}
				r.nodes = append(r.nodes, n)
				if r.backend == "" {
					r.backend = "nccl"
				}
			}
		}
		if comm && r.backend == "nccl" {
			n.ranges = append(n.ranges, span{s.Start, s.End()})
		}
		if comm {
			r.comm = append(r.comm, span{s.Start, s.End()})
		} else {
			r.comp = append(r.comp, span{s.Start, s.End()})
		}
	}
	for i, class := range x.class {
		s := &t.Slices[i]
		if class != trace.ClassOp && class != trace.ClassAnnotation {
			continue
		}
		switch name := t.Name(s); {
		case collectiveAs(name, c):
			r.comm = append(r.comm, span{s.Start, s.End()})
		case !hasKernels && !dataLoader(name):
			r.comp = append(r.comp, span{s.Start, s.End()})
		}
	}
	r.comm, r.comp = union(r.comm), union(r.comp)
	slices.SortStableFunc(r.nodes, func(p, q *commNode) int {
		a, b := &t.Slices[p.slice], &t.Slices[q.slice]
		if v := compareInt(a.Start, b.Start); v != 0 {
			return v
		}
		return compareInt(b.Dur, a.Dur)
	})
	return r
}

// launchedBy returns a function that finds the collective whose call launched a kernel: the innermost one around the launch
// on its thread. External ids alone miss the traces of those Kineto versions that write the correlation id in their place.
func (r *rankComm) launchedBy(x *index) func(i int32) *commNode {
	nodes := make(map[int32]*commNode, len(r.nodes))
	for _, n := range r.nodes {
		nodes[n.slice] = n
	}
	parent := buildTree(x, launches, nil).parent
	return func(i int32) *commNode {
		for o := x.launcher(i); o >= 0; o = parent[o] {
			if n := nodes[o]; n != nil {
				return n
			}
		}
		return nil
	}
}

// split fills the parts of the average step.
func (r *rankComm) split(w *Worker) {
	both := intersect(r.comp, r.comm)
	n := float64(max(1, len(r.steps.Steps)))
	for i := range r.steps.Steps {
		s := span{r.steps.Steps[i].Start, r.steps.Steps[i].End}
		comp, comm, overlap := total(within(r.comp, s)), total(within(r.comm, s)), total(within(both, s))
		w.Computation += float64(comp-overlap) / n
		w.Communication += float64(comm-overlap) / n
		w.Overlap += float64(overlap) / n
		w.Other += float64(s.end-s.start+overlap-comp-comm) / n
	}
}

// sum fills the table of collectives and the average of waiting and transfer.
func (r *rankComm) sum(w *Worker) {
	rows := map[string]int{}
	w.Ops = []CommOp{}
	var all, transfer []span
	for _, n := range r.nodes {
		s := &r.t.Slices[n.slice]
		name := r.t.Name(s)
		k, ok := rows[name]
		if !ok {
			k = len(w.Ops)
			rows[name] = k
			w.Ops = append(w.Ops, CommOp{Name: name})
		}
		op := &w.Ops[k]
		op.Calls++
		op.Bytes += commBytes(r.t, s)
		op.Latency += total(n.ranges)
		op.DataTransfer += total(n.transfer)
		if r.inStep(s) {
			all = append(all, n.ranges...)
			transfer = append(transfer, n.transfer...)
		}
	}
	n := float64(max(1, len(r.steps.Steps)))
	whole, moved := total(union(all)), total(union(transfer))
	w.DataTransfer = float64(moved) / n
	w.Synchronizing = float64(whole-moved) / n
	if moved == 0 {
		w.Synchronizing = 0 // unknown without matching ranks
	}
}

func (r *rankComm) inStep(s *trace.Slice) bool {
	for i := range r.steps.Steps {
		if st := &r.steps.Steps[i]; s.Start >= st.Start && s.End() <= st.End {
			return true
		}
	}
	return false
}

// Text returns the workers as tables.
func (r *DistributedReport) Text() string {
	t := textTable{header: []string{"Worker", "Computation", "Overlap", "Communication", "Other", "Data transfer", "Synchronizing"}}
	ops := textTable{header: []string{"Worker and operation", "Calls", "Bytes", "Latency", "Data transfer"}}
	for i := range r.Workers {
		w := &r.Workers[i]
		t.add(w.Name, formatTime(w.Computation, ""), formatTime(w.Overlap, ""), formatTime(w.Communication, ""), formatTime(w.Other, ""),
			formatTime(w.DataTransfer, ""), formatTime(w.Synchronizing, ""))
		for _, o := range w.Ops {
			ops.add(w.Name+" "+o.Name, strconv.FormatInt(o.Calls, 10), formatMemory(o.Bytes), formatTime(float64(o.Latency), ""), formatTime(float64(o.DataTransfer), ""))
		}
	}
	out := t.String() + "\n" + ops.String()
	if r.Reason != "" {
		out += "Note: " + r.Reason + "\n"
	}
	return out
}
