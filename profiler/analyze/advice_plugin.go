package analyze

import (
	"fmt"
	"slices"

	"github.com/gander-go/gander/profiler/trace"
)

// The plugin's thresholds.
const (
	loaderShare     = 0.05 // of the step, in the data loader
	commShare       = 0.10 // of the step, in communication
	lowUtilization  = 0.50 // of the time, a kernel runs
	nearlyFull      = 0.90 // of a device's memory at the peak
	tensorCoreMajor = 7    // compute capability from which there are tensor cores
	ncclMajor       = 3    // and NCCL works: 3.5
	ncclMinor       = 5
)

// plugin gives the TensorBoard plugin's seven recommendations.
func (b *adviser) plugin() {
	b.loader()
	b.dataParallel()
	b.communication()
	b.utilization()
	b.tensorCores()
	b.fullMemory()
}

func (b *adviser) loader() {
	share := b.partShare(PartDataLoader)
	time := int64(b.steps.Average[PartDataLoader] * float64(len(b.steps.Steps)))
	if share <= loaderShare || !b.enough("data-loading", time, 1) {
		return
	}
	ad := Advice{Kind: "data-loading", Title: "Steps wait for data", Plugin: true, Severity: Warning, Share: share,
		Time:   time,
		Text:   fmt.Sprintf("%.1f%% of the step time is in the data loader.", share*100),
		Remedy: "Load in parallel with the computation: more workers (num_workers) that prepare batches ahead.",
		Evidence: b.byName(evidenceLines, func(i int32) bool {
			return (b.x.class[i] == trace.ClassOp || b.x.class[i] == trace.ClassAnnotation || b.x.class[i] == trace.ClassCall) &&
				loaderCall(b.sliceName(i)) && b.inWindow(i)
		}, b.sliceName)}
	for _, g := range b.overview.GPUs {
		if b.c != Plugin && g.Utilization >= 0 && g.Utilization < starvedUtilization {
			ad.Kind, ad.Title, ad.Severity = "data-loader-starvation", "The device starves for data", Severe
			ad.Text += fmt.Sprintf(" Device %d runs kernels only %.1f%% of the time.", g.ID, g.Utilization*100)
		}
	}
	if b.c != Plugin && len(b.overview.GPUs) == 0 && share > starvedHostShare {
		ad.Kind, ad.Severity = "data-loader-starvation", Severe
	}
	b.add(ad)
}

func (b *adviser) dataParallel() {
	parallel, distributed := trace.NoSlice, trace.NoSlice
	for i, c := range b.x.class {
		if c != trace.ClassOp && c != trace.ClassAnnotation {
			continue
		}
		switch b.sliceName(int32(i)) {
		case "DataParallel.forward":
			parallel = int32(i)
		case "DistributedDataParallel.forward":
			distributed = int32(i)
		}
	}
	if parallel >= 0 && len(b.overview.GPUs) > 1 {
		b.add(Advice{Kind: "data-parallel", Title: "DataParallel on several devices", Plugin: true, Severity: Warning,
			Text:     fmt.Sprintf("The model runs with DataParallel on %d devices, which copies it at every step and runs in one process.", len(b.overview.GPUs)),
			Remedy:   "Use DistributedDataParallel.",
			Evidence: []Evidence{{Text: "DataParallel.forward", Slice: parallel, Time: b.t.Slices[parallel].Dur, Count: 1}}})
	}
	if distributed < 0 {
		return
	}
	nccl := false
	for i, c := range b.x.class {
		if (c == trace.ClassOp || c == trace.ClassAnnotation) && ncclOp(b.sliceName(int32(i))) || c == trace.ClassKernel && kernelType(b.sliceName(int32(i))) == TypeComm {
			nccl = true
			break
		}
	}
	for i := range b.t.Devices {
		d := &b.t.Devices[i]
		if capable := d.Major > ncclMajor || d.Major == ncclMajor && d.Minor >= ncclMinor; !nccl && capable {
			b.add(Advice{Kind: "nccl", Title: "Distributed without NCCL", Plugin: true, Severity: Warning,
				Text:   fmt.Sprintf("DistributedDataParallel does not use NCCL although device %d has compute capability %d.%d.", d.ID, d.Major, d.Minor),
				Remedy: "Use the NCCL backend, which is the fastest for this hardware.",
				Evidence: []Evidence{{Text: "DistributedDataParallel.forward", Slice: distributed,
					Time: b.t.Slices[distributed].Dur, Count: 1}}})
			return
		}
	}
}

func (b *adviser) communication() {
	share := b.partShare(PartComm)
	time := int64(b.steps.Average[PartComm] * float64(len(b.steps.Steps)))
	if share <= commShare || !b.enough("communication", time, 1) {
		return
	}
	b.add(Advice{Kind: "communication", Title: "Much time in communication", Plugin: true, Severity: Warning, Share: share,
		Time:   time,
		Text:   fmt.Sprintf("%.1f%% of the step time is in communication that nothing else covers.", share*100),
		Remedy: "Overlap it with the backward pass, compress gradients, accumulate them over several batches, or use larger batches (with an optimizer like LAMB).",
		Evidence: b.byName(evidenceLines, func(i int32) bool {
			c := b.x.class[i]
			return b.inWindow(i) && (c == trace.ClassComm || (c == trace.ClassOp || c == trace.ClassAnnotation) && commOp(b.sliceName(i)) ||
				c == trace.ClassKernel && kernelType(b.sliceName(i)) == TypeComm)
		}, b.sliceName)})
}

func (b *adviser) utilization() {
	for i := range b.overview.GPUs {
		g := &b.overview.GPUs[i]
		idle := int64((1 - g.Utilization) * float64(b.whole()))
		if g.Utilization < 0 || g.Utilization >= lowUtilization || !b.enough("low-gpu-utilization", idle, 0) {
			continue
		}
		ad := Advice{Kind: "low-gpu-utilization", Title: fmt.Sprintf("GPU %d is mostly idle", g.ID), Plugin: true, Severity: Warning,
			Share:  1 - g.Utilization,
			Time:   idle,
			Text:   fmt.Sprintf("GPU %d runs kernels during %.1f%% of the steps.", g.ID, g.Utilization*100),
			Remedy: "Give it more work at a time (a larger batch; this may change convergence), or shorten what the host does in between."}
		for p, v := range b.steps.Average {
			if part := StepPart(p); part >= PartRuntime && v > 0 {
				ad.Evidence = append(ad.Evidence, Evidence{Text: "meanwhile: " + part.String(), Slice: trace.NoSlice,
					Time: int64(v * float64(len(b.steps.Steps))), Count: int64(len(b.steps.Steps))})
			}
		}
		b.add(ad)
	}
}

func (b *adviser) tensorCores() {
	major := 0
	for _, d := range b.t.Devices {
		major = max(major, d.Major)
	}
	if major < tensorCoreMajor {
		return
	}
	marks := tensorCoreMarks
	if b.c != Plugin {
		marks = tensorCoreMarksNow
	}
	used := b.x.kernelNames(marks)
	tree := b.a.opTree(b.c)
	var launched, eligible int64
	could := func(i int32) bool {
		o := tree.owner[i]
		return o >= 0 && b.x.class[i] == trace.ClassKernel && tensorCoreOps[b.sliceName(o)]
	}
	for i, c := range b.x.class {
		if c != trace.ClassKernel {
			continue
		}
		s := &b.t.Slices[i]
		if used[s.Name] {
			return
		}
		if tree.owner[i] >= 0 {
			launched += s.Dur
		}
		if could(int32(i)) {
			eligible += s.Dur
		}
	}
	if eligible == 0 || !b.enough("tensor-cores", eligible, 1) {
		return
	}
	share := ratio(eligible, launched)
	b.add(Advice{Kind: "tensor-cores", Title: "Tensor cores are not used", Plugin: true, Severity: Warning, Share: ratio(eligible, b.whole()), Time: eligible,
		Text:     fmt.Sprintf("Kernels with %.0f%% of the kernel time are launched by operators that could use tensor cores, and none does.", share*100),
		Remedy:   "Compute in half precision where it is safe (automatic mixed precision), or allow TF32.",
		Evidence: b.byName(evidenceLines, could, func(i int32) string { return b.sliceName(tree.owner[i]) })})
}

func (b *adviser) fullMemory() {
	for _, m := range b.a.peaks() {
		if m.space != trace.MemDevice || m.device < 0 || int(m.device) >= len(b.t.Devices) {
			continue
		}
		d := &b.t.Devices[m.device]
		if d.TotalMemory == 0 || float64(m.peak) <= nearlyFull*float64(d.TotalMemory) {
			continue
		}
		b.add(Advice{Kind: "memory-full", Title: fmt.Sprintf("GPU %d is nearly full", d.ID), Plugin: true, Severity: Severe,
			Text:     fmt.Sprintf("At the peak %s of the %s of GPU %d are in use.", formatMemory(m.peak), formatMemory(d.TotalMemory), d.ID),
			Remedy:   "Use gradient checkpointing or mixed precision, or a smaller batch.",
			Evidence: b.atPeak(m.space, m.device)})
		return
	}
}

// atPeak lists who holds memory when most of it is in use.
func (b *adviser) atPeak(space trace.MemSpace, device trace.DeviceID) []Evidence {
	var list []Evidence
	rows := map[string]int{}
	sums := map[string]int64{}
	for _, s := range b.a.Memory(MemoryOptions{}).Spaces {
		if s.Space != space || s.Device != device {
			continue
		}
		for _, al := range s.Allocs {
			if al.Alloc == trace.NoTime || al.Alloc > s.PeakTime || al.Release != trace.NoTime && al.Release <= s.PeakTime {
				continue
			}
			k, ok := rows[al.Operator]
			if !ok {
				k = len(list)
				rows[al.Operator] = k
				list = append(list, Evidence{Text: al.Operator, Slice: trace.NoSlice})
			}
			sums[al.Operator] += al.Bytes
			list[k].Count++
		}
	}
	slices.SortStableFunc(list, func(p, q Evidence) int { return compareInt(sums[q.Text], sums[p.Text]) })
	list = list[:min(len(list), evidenceLines)]
	for i := range list {
		list[i].Text += " holds " + formatMemory(sums[list[i].Text])
	}
	return list
}
