package nn

type span struct{}

func (span) End() {}

func begin(name string, args ...*Tensor) span { return span{} }

func track(t *Tensor)   {}
func untrack(t *Tensor) {}
