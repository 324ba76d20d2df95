package nn

import (
	"math/rand/v2"
	"sync"
)

// Dataset yields samples by index. Sample is called from several goroutines at once.
type Dataset interface {
	Len() int
	// Sample fills x, the data of one image, and returns its class.
	Sample(i int, x []float32) int
	Shape() (channels, height, width int)
}

// Batch is one mini-batch.
type Batch struct {
	X      *Tensor // [N, C, H, W]
	Target []int
}

// DataLoader yields shuffled batches of a data set. With Workers it prepares up to Prefetch batches ahead on goroutines
// of its own; without, Next makes the batch while the caller waits.
type DataLoader struct {
	Data      Dataset
	BatchSize int
	Workers   int
	Prefetch  int // batches ahead; 0 is two for each worker
	Rand      *rand.Rand
}

// Iterator goes once over the data set. Close must be called when it is left before its end.
type Iterator struct {
	loader *DataLoader
	order  []int
	next   int

	ready chan chan *Batch // batches in order, each on a channel of its own
	stop  chan struct{}
	close sync.Once
}

// Iter starts a pass over the data in a new random order; the last, smaller batch is left out.
func (l *DataLoader) Iter() *Iterator {
	n := l.Data.Len()
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if l.Rand != nil {
		l.Rand.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	it := &Iterator{loader: l, order: order, stop: make(chan struct{})}
	if l.Workers > 0 {
		it.start()
	}
	return it
}

// start hands each batch's indexes to the workers, at most Prefetch ahead of Next.
func (it *Iterator) start() {
	ahead := it.loader.Prefetch
	if ahead <= 0 {
		ahead = 2 * it.loader.Workers
	}
	type job struct {
		indexes []int
		out     chan *Batch
	}
	jobs := make(chan job)
	it.ready = make(chan chan *Batch, ahead)
	go func() {
		defer close(jobs)
		defer close(it.ready)
		for at := 0; at+it.loader.BatchSize <= len(it.order); at += it.loader.BatchSize {
			out := make(chan *Batch, 1)
			select {
			case it.ready <- out:
			case <-it.stop:
				return
			}
			select {
			case jobs <- job{it.order[at : at+it.loader.BatchSize], out}:
			case <-it.stop:
				return
			}
		}
	}()
	for range it.loader.Workers {
		go func() {
			for j := range jobs {
				j.out <- it.loader.load(j.indexes)
			}
		}()
	}
}

// Next returns the next batch, nil at the end. It is recorded as torch's DataLoader records itself, so that the
// profiler's advice on starving loops finds it.
func (it *Iterator) Next() *Batch {
	defer begin("enumerate(DataLoader)#DataLoader.__next__").End()
	if it.ready == nil {
		size := it.loader.BatchSize
		if it.next+size > len(it.order) {
			return nil
		}
		it.next += size
		return it.loader.load(it.order[it.next-size : it.next])
	}
	out, ok := <-it.ready
	if !ok {
		return nil
	}
	select {
	case b := <-out:
		return b
	case <-it.stop:
		return nil
	}
}

// Close ends the workers. It is idempotent.
func (it *Iterator) Close() { it.close.Do(func() { close(it.stop) }) }

func (l *DataLoader) load(indexes []int) *Batch {
	defer begin("nn.DataLoader.load").End()
	c, h, w := l.Data.Shape()
	b := &Batch{X: New(len(indexes), c, h, w), Target: make([]int, len(indexes))}
	for k, i := range indexes {
		b.Target[k] = l.Data.Sample(i, b.X.Data[k*c*h*w:(k+1)*c*h*w])
	}
	return b
}
