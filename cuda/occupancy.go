package cuda

import "github.com/gander-go/gander/cuda/cupti"

// occupancy is how well one launch can fill a device.
type occupancy struct {
	blocksPerSM, warpsPerSM float32
	achieved                float32 // percent
	// active is how many blocks fit on a multiprocessor at once, and limits how many would by each resource.
	active                                   int
	byRegisters, byShared, byWarps, byBlocks int
	registersPerBlock, sharedPerBlock        int
	known                                    bool
}

const unlimited = 1 << 30

// estimate computes what torch.profiler shows for a launch:
//
//	blocks per SM     = grid / SMs
//	warps per SM      = blocks per SM · threads per block / warp size
//	est. occupancy %  = min(active blocks, blocks per SM) · threads per block / threads per SM · 100, at most 100
//
// Active blocks are those of CUDA's occupancy calculation (the CUDA C++ programming guide's table of compute capabilities
// and NVIDIA's occupancy calculator give the units): registers are given to warps in units of 256, from one of the four
// parts of a multiprocessor; shared memory to blocks in units of 256 bytes before compute capability 8 and of 128 from then
// on, where 1 KiB a block belongs to the system.
func estimate(d *cupti.Device, k *cupti.Kernel) (o occupancy) {
	threads := int(k.Block[0]) * int(k.Block[1]) * int(k.Block[2])
	blocks := float64(k.Grid[0]) * float64(k.Grid[1]) * float64(k.Grid[2])
	if d == nil || d.SMs == 0 || d.MaxWarpsPerSM == 0 || threads <= 0 || blocks <= 0 {
		return o
	}
	warp := max(1, int(d.WarpSize))
	perSM := blocks / float64(d.SMs)
	o.known = true
	o.blocksPerSM = float32(perSM)
	o.warpsPerSM = float32(perSM * float64(threads) / float64(warp))

	warps := ceilDiv(threads, warp)
	o.byBlocks = orUnlimited(d.MaxBlocksPerSM)
	o.byWarps = int(d.MaxWarpsPerSM) / warps
	o.byRegisters, o.byShared = unlimited, unlimited
	if k.Registers > 0 && d.RegistersPerSM > 0 {
		const unit, parts = 256, 4
		each := roundUp(int(k.Registers)*warp, unit)
		o.registersPerBlock = each * roundUp(warps, parts)
		o.byRegisters = int(d.RegistersPerSM) / parts / each * parts / warps
		if d.RegistersPerBlock > 0 && o.registersPerBlock > int(d.RegistersPerBlock) {
			o.byRegisters = 0
		}
	}
	shared := int(k.StaticShared) + int(k.DynamicShared)
	unit := 256
	if d.Major >= 8 {
		unit = 128
		shared += 1024
	}
	o.sharedPerBlock = roundUp(shared, unit)
	if o.sharedPerBlock > 0 && d.SharedPerSM > 0 {
		o.byShared = int(d.SharedPerSM) / o.sharedPerBlock
	}
	o.active = min(o.byBlocks, o.byWarps, o.byRegisters, o.byShared)
	inUse := min(float64(o.active), perSM)
	o.achieved = float32(min(100, 100*inUse*float64(threads)/float64(int(d.MaxWarpsPerSM)*warp)))
	return o
}

// limiting names the resources that bound the active blocks: "WARPS", "REGS", "SMEM", "BLOCKS".
func (o *occupancy) limiting() string {
	s := ""
	for _, l := range []struct {
		n    int
		name string
	}{{o.byWarps, "WARPS"}, {o.byRegisters, "REGS"}, {o.byShared, "SMEM"}, {o.byBlocks, "BLOCKS"}} {
		if l.n == o.active {
			if s != "" {
				s += "|"
			}
			s += l.name
		}
	}
	return s
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
func roundUp(a, b int) int { return ceilDiv(a, b) * b }
func orUnlimited(n uint32) int {
	if n == 0 {
		return unlimited
	}
	return int(n)
}
