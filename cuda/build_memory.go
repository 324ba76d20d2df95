package cuda

import (
	"cmp"
	"slices"

	"github.com/gander-go/gander/cuda/cupti"
	"github.com/gander-go/gander/profiler/trace"
)

// Kinds of memory.
const (
	memoryPinned        = 2
	memoryDevice        = 3
	memoryArray         = 4
	memoryManaged       = 5
	memoryStatic        = 6
	memoryManagedStatic = 7
)

func onDevice(kind uint32) bool { return kind >= memoryDevice && kind <= memoryManagedStatic }

// usage is what is allocated on one device.
type usage struct {
	allocated int64            // bytes in use
	direct    int64            // bytes of them that no pool holds
	pools     map[uint64]int64 // bytes that pools hold
}

func (u *usage) reserved() int64 {
	n := u.direct
	for _, size := range u.pools {
		n += size
	}
	return max(n, u.allocated)
}

// change is one record that moves the figures.
type change struct {
	time   uint64
	memory *cupti.Memory
	pool   *cupti.Pool
}

// memory adds allocations and releases, with the device's totals after each.
//
//  1. Allocations, releases and changes of pools are put in the order of time.
//  2. What is released without having been allocated was there before the capture: it is where the totals start.
//  3. The totals go through all records, and those in the window become events.
func (b *builder) memory() {
	var list []change
	r := b.records
	for i := range r.Memory {
		list = append(list, change{r.Memory[i].Time, &r.Memory[i], nil})
	}
	for i := range r.Pools {
		list = append(list, change{r.Pools[i].Time, nil, &r.Pools[i]})
	}
	slices.SortStableFunc(list, func(a, b change) int { return cmp.Compare(a.time, b.time) })
	sizes(list)
	use := b.before(list)
	of := func(device uint32) *usage {
		u := use[device]
		if u == nil {
			u = &usage{pools: map[uint64]int64{}}
			use[device] = u
		}
		return u
	}
	for _, c := range list {
		if p := c.pool; p != nil {
			if u := of(p.Device); p.Operation == 2 {
				delete(u.pools, p.Address)
			} else if !p.Imported {
				u.pools[p.Address] = size(p.Size)
			}
			continue
		}
		b.allocation(c.memory, of(c.memory.Device))
	}
}

// sizes gives releases that do not tell how much the size of their allocation.
func sizes(list []change) {
	of := map[[2]uint64]uint64{}
	for _, c := range list {
		m := c.memory
		if m == nil {
			continue
		}
		switch k := [2]uint64{uint64(m.Device), m.Address}; {
		case !m.Release:
			of[k] = m.Bytes
		case m.Bytes == 0:
			m.Bytes = of[k]
		}
	}
}

// before returns what each device had allocated when the capture began, as far as it was released since.
func (b *builder) before(list []change) map[uint32]*usage {
	use := map[uint32]*usage{}
	live := map[[2]uint64]bool{}
	for _, c := range list {
		m := c.memory
		if m == nil || !onDevice(m.Kind) {
			continue
		}
		k := [2]uint64{uint64(m.Device), m.Address}
		if !m.Release {
			live[k] = true
			continue
		}
		if live[k] {
			delete(live, k)
			continue
		}
		u := use[m.Device]
		if u == nil {
			u = &usage{pools: map[uint64]int64{}}
			use[m.Device] = u
		}
		u.allocated += size(m.Bytes)
		if m.Pool == 0 {
			u.direct += size(m.Bytes)
		}
	}
	return use
}

func size(bytes uint64) int64 { return int64(min(bytes, 1<<62)) }

func (b *builder) allocation(m *cupti.Memory, u *usage) {
	e := trace.MemEvent{Space: trace.MemOther, Device: trace.NoDevice, Track: trace.NoTrack, Addr: m.Address, Bytes: size(m.Bytes), Allocated: -1, Reserved: -1}
	if m.Release {
		e.Bytes = -e.Bytes
	}
	if onDevice(m.Kind) {
		u.allocated += e.Bytes
		if m.Pool == 0 {
			u.direct += e.Bytes
		} else if m.PoolSize > 0 {
			u.pools[m.Pool] = size(m.PoolSize)
		}
		e.Space, e.Device = trace.MemDevice, b.place(m.Device).device
		e.Allocated, e.Reserved = u.allocated, u.reserved()
		e.DeviceRaw, e.IDRaw = 1, int32(m.Device) // torch's number of CUDA
	}
	if !b.inWindow(m.Correlation, m.Time) || m.Time == 0 {
		return
	}
	e.Time = b.at(m.Time)
	switch {
	case m.Name != "":
		e.Name = b.t.Strings.ID(m.Name)
	case m.Kind == memoryPinned:
		e.Name = b.t.Strings.ID("pinned memory")
	case m.Kind == memoryManaged:
		e.Name = b.t.Strings.ID("managed memory")
	case m.Kind == memoryArray:
		e.Name = b.t.Strings.ID("array")
	}
	if c := b.calls[m.Correlation]; c != nil && m.Correlation != 0 {
		e.Track = b.thread(c.Thread)
	}
	b.t.Memory = append(b.t.Memory, e)
}
