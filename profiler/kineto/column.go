package kineto

// column collects values in blocks, so that growing neither copies them nor leaves garbage of their size behind.
type column[T any] struct {
	full [][]T
	last []T
	n    int
}

const (
	firstBlock = 1 << 8
	mostBlock  = 1 << 15
)

func (c *column[T]) add(v T) {
	if len(c.last) == cap(c.last) {
		c.block()
	}
	c.last = append(c.last, v)
	c.n++
}

// addAll appends all of v.
func (c *column[T]) addAll(v []T) {
	c.n += len(v)
	for len(v) > 0 {
		if len(c.last) == cap(c.last) {
			c.block()
		}
		k := min(len(v), cap(c.last)-len(c.last))
		c.last = append(c.last, v[:k]...)
		v = v[k:]
	}
}

func (c *column[T]) block() {
	if c.last != nil {
		c.full = append(c.full, c.last)
	}
	c.last = make([]T, 0, min(max(firstBlock, 2*cap(c.last)), mostBlock))
}

// blocks calls f for each block in order.
func (c *column[T]) blocks(f func([]T)) {
	for _, b := range c.full {
		f(b)
	}
	f(c.last)
}

// take returns all values in one slice behind the zero values of room, and empties c.
func (c *column[T]) take(room int) []T {
	if c.n == 0 {
		return nil
	}
	all := make([]T, room, room+c.n)
	for i, b := range c.full {
		all = append(all, b...)
		c.full[i] = nil
	}
	all = append(all, c.last...)
	*c = column[T]{}
	return all
}
