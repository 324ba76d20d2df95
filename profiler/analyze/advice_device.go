package analyze

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// Thresholds of advice beyond the plugin's.
const (
	starvedUtilization = 0.70   // of the time, kernels run while the loader is waited for
	starvedHostShare   = 0.20   // of the step in the loader where no device is involved
	syncShare          = 0.05   // of the steps, the host waits for the device
	smallKernel        = 10_000 // ns
	smallKernelShare   = 0.50   // of the kernels are shorter than smallKernel ns
	smallKernelBusy    = 0.70   // of the time without data loading, the device is busy: above that their size does not hurt
	pageableShare      = 0.02   // of the steps, in copies from or to pageable memory
	deviceAllocShare   = 0.02   // of the steps, in cudaMalloc and cudaFree
)

// host looks at what the host does for the device.
func (b *adviser) host() {
	b.synchronisation()
	b.deviceAllocation()
}

// device looks at what the device does.
func (b *adviser) device() {
	b.smallKernels()
	b.pageableCopies()
}

// synchronisation finds time that the host spends waiting for the device inside the steps. A wait at the very end is how a
// recording ends and does not count.
func (b *adviser) synchronisation() {
	if !b.x.device {
		return
	}
	around := buildTree(b.x, launches, nil)
	_, last := b.x.window()
	keep := func(i int32) bool {
		s := &b.t.Slices[i]
		return isCall(b.x.class[i]) && syncCall(b.sliceName(i)) && b.inWindow(i) && (around.parent[i] >= 0 || s.End() < last-(last-s.Start)/100) &&
			s.End() <= b.window.end
	}
	var waits []span
	count := int64(0)
	for i := range b.t.Slices {
		if keep(int32(i)) {
			waits = append(waits, span{b.t.Slices[i].Start, b.t.Slices[i].End()})
			count++
		}
	}
	time := total(within(union(waits), b.window))
	share := ratio(time, b.whole())
	if share < syncShare || !b.enough("host-device-sync", time, count) {
		return
	}
	b.add(Advice{Kind: "host-device-sync", Title: "The host waits for the device", Severity: severityOf(share), Share: share, Time: time,
		Text: fmt.Sprintf("%d calls wait %s for the device, %.1f%% of the steps; meanwhile nothing new is launched.", count, formatTime(float64(time), ""), share*100),
		Remedy: b.remedy("Keep results on the device: avoid .item(), printing tensors, copies to the host and conditions on device values inside the loop; "+
			"copy with non_blocking=True from pinned memory and synchronise once.",
			"Keep results on the device: no copies to the host, no Synchronize and no conditions on device values inside the loop; "+
				"copy through driver.AllocPinned on a stream and synchronise once."),
		Evidence: b.byName(evidenceLines, keep, func(i int32) string {
			name := b.sliceName(i)
			for p := around.parent[i]; p >= 0; p = around.parent[p] {
				if !isCall(b.x.class[p]) {
					return name + " in " + b.sliceName(p)
				}
			}
			return name
		})})
}

// remedy is what to do in the words of who recorded: torch's, or those of a Go program.
func (b *adviser) remedy(torch, program string) string {
	if b.t.Meta.Tool == "gander" {
		return program
	}
	return torch
}

func severityOf(share float64) Severity {
	if share > 0.2 {
		return Severe
	}
	return Warning
}

// deviceAllocation finds allocations of device memory inside the steps, which wait for the device and do not belong there.
func (b *adviser) deviceAllocation() {
	keep := func(i int32) bool {
		if !isCall(b.x.class[i]) || !b.inWindow(i) {
			return false
		}
		name := b.sliceName(i)
		for _, p := range []string{"cudaMalloc", "cudaFree", "hipMalloc", "hipFree", "cuMemAlloc", "cuMemFree"} {
			if strings.HasPrefix(name, p) && !strings.Contains(name, "Host") && !strings.Contains(name, "Async") {
				return true
			}
		}
		return false
	}
	var time, count int64
	for i := range b.t.Slices {
		if keep(int32(i)) {
			time += b.t.Slices[i].Dur
			count++
		}
	}
	share := ratio(time, b.whole())
	if share < deviceAllocShare || !b.enough("device-allocation", time, count) {
		return
	}
	b.add(Advice{Kind: "device-allocation", Title: "Device memory is allocated while computing", Severity: severityOf(share), Share: share, Time: time,
		Text:     fmt.Sprintf("%d allocations and releases of device memory take %s, %.1f%% of the steps.", count, formatTime(float64(time), ""), share*100),
		Remedy:   "Allocate once and reuse, or use a caching allocator; if one is used, its cache is too small (fragmentation, varying shapes).",
		Evidence: b.byName(evidenceLines, keep, b.sliceName)})
}

// smallKernels finds launches that cost more than their work.
func (b *adviser) smallKernels() {
	keep := func(i int32) bool {
		return b.x.class[i] == trace.ClassKernel && b.inWindow(i) && b.t.Slices[i].Dur < smallKernel
	}
	var all, small, time int64
	for i, c := range b.x.class {
		if c == trace.ClassKernel && b.inWindow(int32(i)) {
			all++
			if keep(int32(i)) {
				small++
				time += b.t.Slices[i].Dur
			}
		}
	}
	busy := 0.0
	for _, g := range b.overview.GPUs {
		busy = max(busy, g.BusyRatio)
	}
	idle := int64((1 - busy) * float64(b.whole()))
	if !b.enough("small-kernels", idle, small) || ratio(small, all) < smallKernelShare || busy >= smallKernelBusy*(1-b.partShare(PartDataLoader)) {
		return
	}
	launches := b.a.Launches(LaunchOptions{})
	ad := Advice{Kind: "small-kernels", Title: "Many small kernels", Severity: Warning, Share: 1 - busy, Time: idle,
		Text: fmt.Sprintf("%d of %d kernels (%.0f%%) are shorter than %s, %s together, and the device is busy only %.1f%% of the time: launching limits the speed.",
			small, all, ratio(small, all)*100, formatTime(smallKernel, ""), formatTime(float64(time), ""), busy*100),
		Remedy:   "Fuse operations (a compiled model, fused optimizers), replay them as a CUDA graph, or use larger batches.",
		Evidence: b.byName(1<<30, keep, b.sliceName)}
	slices.SortStableFunc(ad.Evidence, func(p, q Evidence) int { return compareInt(q.Count, p.Count) })
	ad.Evidence = ad.Evidence[:min(len(ad.Evidence), evidenceLines)]
	if n := len(launches.Launches); n > 0 {
		ad.Evidence = append(ad.Evidence, Evidence{Text: "launching calls", Slice: trace.NoSlice, Time: launches.CPU, Count: int64(n)})
	}
	b.add(ad)
}

// pageableCopies finds copies that go through a staging buffer and block the host.
func (b *adviser) pageableCopies() {
	keep := func(i int32) bool {
		return b.x.class[i] == trace.ClassMemcpy && b.inWindow(i) && strings.Contains(b.sliceName(i), "Pageable")
	}
	var time, bytes, count int64
	for i := range b.t.Slices {
		if keep(int32(i)) {
			s := &b.t.Slices[i]
			time += s.Dur
			count++
			if s.Kind == trace.ArgCopy {
				bytes += b.t.Copies[s.Args].Bytes
			}
		}
	}
	share := ratio(time, b.whole())
	if share < pageableShare || !b.enough("pageable-copies", time, count) {
		return
	}
	b.add(Advice{Kind: "pageable-copies", Title: "Copies from pageable memory", Severity: severityOf(share), Share: share, Time: time,
		Text: fmt.Sprintf("%d copies of %s between pageable host memory and the device take %s, %.1f%% of the steps, at %.1f GB/s.",
			count, formatMemory(bytes), formatTime(float64(time), ""), share*100, ratio(bytes, time)),
		Remedy: b.remedy("Pin the host's memory (pin_memory=True in a data loader, cudaHostAlloc) and copy asynchronously.",
			"Copy from pinned memory (driver.AllocPinned) on a stream."),
		Evidence: b.byName(evidenceLines, keep, b.sliceName)})
}
