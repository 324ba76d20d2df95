package rt

import "sync/atomic"

// Spans receives the calls that instrumented cells make. Its methods are called on the goroutine that makes the call.
type Spans interface {
	// Args reports whether the arguments of calls are wanted.
	Args() bool
	// Begin starts a span; args are the call's arguments when Args says so, and must not be kept. The result goes to End.
	Begin(name string, args []any) (token uint64)
	End(name string, token uint64)
}

var spans atomic.Pointer[Spans]

// SetSpans sets what records instrumented calls; nil for nothing.
func SetSpans(s Spans) {
	if s == nil {
		spans.Store(nil)
		return
	}
	spans.Store(&s)
}

// Span is a call in progress. End must be called on the same goroutine.
type Span struct {
	to    Spans
	name  string
	token uint64
}

// Begin starts a span for a call of name.
func Begin(name string) Span {
	p := spans.Load()
	if p == nil {
		return Span{}
	}
	return Span{*p, name, (*p).Begin(name, nil)}
}

// BeginArgs is Begin for a call with arguments; args is called only when they are wanted.
func BeginArgs(name string, args func() []any) Span {
	p := spans.Load()
	if p == nil {
		return Span{}
	}
	var a []any
	if (*p).Args() {
		a = args()
	}
	return Span{*p, name, (*p).Begin(name, a)}
}

// End ends the span.
func (s Span) End() {
	if s.to != nil {
		s.to.End(s.name, s.token)
	}
}
