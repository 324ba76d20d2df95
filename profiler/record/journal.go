package record

import "sync"

// journal is a bounded, sharded list of records that are rarer than spans. Entries of one shard are in the order in
// which they were written.
type journal[T any] struct {
	limit  int // entries in all
	shards [16]struct {
		// mu guards list and dropped.
		mu      sync.Mutex
		list    []T
		dropped int64
	}
}

// add appends what fill, called under the shard's lock, makes.
func (j *journal[T]) add(g int64, v T) {
	sh := &j.shards[uint64(g)%uint64(len(j.shards))]
	sh.mu.Lock()
	if len(sh.list) >= max(1, j.limit/4) {
		sh.dropped++
	} else {
		sh.list = append(sh.list, v)
	}
	sh.mu.Unlock()
}

// all returns a copy of the entries of all shards, and how many were dropped.
func (j *journal[T]) all() (list []T, dropped int64) {
	for i := range j.shards {
		sh := &j.shards[i]
		sh.mu.Lock()
		list = append(list, sh.list...)
		dropped += sh.dropped
		sh.mu.Unlock()
	}
	return list, dropped
}
