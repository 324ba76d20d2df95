package wire

import "sync"

// replayMemory is how many signatures are remembered, the size Jupyter's own session uses.
const replayMemory = 1 << 16

// replayGuard remembers the digests of the last messages, so that one that was captured cannot be sent again.
type replayGuard struct {
	// mu guards seen, ring and next.
	mu   sync.Mutex
	seen map[[16]byte]struct{}
	ring [][16]byte // the digests in seen in the order they came, a circle once it is full
	next int
	size int
}

func newReplayGuard(size int) *replayGuard {
	return &replayGuard{seen: make(map[[16]byte]struct{}), size: size}
}

// first records d and reports whether it was new.
func (g *replayGuard) first(d [16]byte) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, dup := g.seen[d]; dup {
		return false
	}
	g.seen[d] = struct{}{}
	if len(g.ring) < g.size {
		g.ring = append(g.ring, d)
		return true
	}
	delete(g.seen, g.ring[g.next])
	g.ring[g.next] = d
	g.next = (g.next + 1) % g.size
	return true
}
