package cuda

import (
	"testing"

	"github.com/gander-go/gander/cuda/cupti"
)

// TestOccupancyOfEveryArchitecture works through three kernels on each compute capability. The devices are those of the table of
// technical specifications in the CUDA C++ programming guide; the figures are worked out by hand from the rules of NVIDIA's
// occupancy calculator:
//
//   - 256 threads, 64 registers, 16 KiB: 2048 registers a warp, 8 warps in each quarter of 16384, so 32 warps, 4 blocks
//     everywhere. By shared memory 96/16 = 6 blocks on 7.0 and 4 on 7.5; with the system's KiB, 164/17 = 9, 100/17 = 5, 228/17 = 13.
//   - 128 threads, 40 registers: 1280 a warp, 12 warps in each quarter, 48 warps, 12 blocks.
//   - 32 threads, 16 registers: as many as the device has room for.
func TestOccupancyOfEveryArchitecture(t *testing.T) {
	kernels := []cupti.Kernel{
		{Grid: [3]int32{10000, 1, 1}, Block: [3]int32{16, 16, 1}, Registers: 64, StaticShared: 16 << 10},
		{Grid: [3]int32{10000, 1, 1}, Block: [3]int32{128, 1, 1}, Registers: 40},
		{Grid: [3]int32{10000, 1, 1}, Block: [3]int32{32, 1, 1}, Registers: 16},
	}
	for _, c := range []struct {
		major, minor   uint32
		warps, blocks  uint32
		sharedKiB      uint32
		active         [3]int
		limits         [3]string
		achievedOfLast float32
	}{
		{7, 0, 64, 32, 96, [3]int{4, 12, 32}, [3]string{"REGS", "REGS", "BLOCKS"}, 50},
		{7, 5, 32, 16, 64, [3]int{4, 8, 16}, [3]string{"WARPS|REGS|SMEM", "WARPS", "BLOCKS"}, 50},
		{8, 0, 64, 32, 164, [3]int{4, 12, 32}, [3]string{"REGS", "REGS", "BLOCKS"}, 50},
		{8, 6, 48, 16, 100, [3]int{4, 12, 16}, [3]string{"REGS", "WARPS|REGS", "BLOCKS"}, 100. / 3},
		{8, 7, 48, 16, 164, [3]int{4, 12, 16}, [3]string{"REGS", "WARPS|REGS", "BLOCKS"}, 100. / 3},
		{8, 9, 48, 24, 100, [3]int{4, 12, 24}, [3]string{"REGS", "WARPS|REGS", "BLOCKS"}, 50},
		{9, 0, 64, 32, 228, [3]int{4, 12, 32}, [3]string{"REGS", "REGS", "BLOCKS"}, 50}, // H100, H200
		{10, 0, 64, 32, 228, [3]int{4, 12, 32}, [3]string{"REGS", "REGS", "BLOCKS"}, 50},
		{12, 0, 48, 24, 100, [3]int{4, 12, 24}, [3]string{"REGS", "WARPS|REGS", "BLOCKS"}, 50},
	} {
		d := cupti.Device{
			Major: c.major, Minor: c.minor, SMs: 10, WarpSize: 32, MaxWarpsPerSM: c.warps, MaxBlocksPerSM: c.blocks, MaxThreadsPerBlock: 1024,
			RegistersPerSM: 65536, RegistersPerBlock: 65536, SharedPerSM: c.sharedKiB << 10,
		}
		for i := range kernels {
			o := estimate(&d, &kernels[i])
			if o.active != c.active[i] || o.limiting() != c.limits[i] {
				t.Errorf("%d.%d: kernel %d has %d blocks at once, by %s; want %d, by %s", c.major, c.minor, i+1, o.active, o.limiting(), c.active[i], c.limits[i])
			}
			if i == 2 && (o.achieved < c.achievedOfLast-0.01 || o.achieved > c.achievedOfLast+0.01) {
				t.Errorf("%d.%d: the last kernel's occupancy is %v, want %v", c.major, c.minor, o.achieved, c.achievedOfLast)
			}
		}
	}
}
