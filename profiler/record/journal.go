package record

import (
	"sync"
	"sync/atomic"
)

// journal is a bounded, sharded list of records that are rarer than spans. Entries of one shard are in the order in
// which they were written.
type journal[T any] struct {
	limit  int64 // entries in all shards together
	count  atomic.Int64
	shards [16]struct {
		// mu guards list and dropped.
		mu      sync.Mutex
		list    []T
		dropped int64
	}
}

// add appends v for goroutine g, or counts it as dropped.
func (j *journal[T]) add(g int64, v T) {
	fits := j.count.Add(1) <= j.limit
	if !fits {
		j.count.Add(-1)
	}
	sh := &j.shards[uint64(g)%uint64(len(j.shards))]
	sh.mu.Lock()
	if fits {
		sh.list = append(sh.list, v)
	} else {
		sh.dropped++
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
