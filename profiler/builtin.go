package profiler

import "github.com/gander-go/gander/profiler/goruntime"

// builtin are the sources that every process has.
var builtin = []Kind{
	{
		Name: "runtime metrics", Activity: Memory | Go,
		New: func(o Options) Source {
			return &goruntime.Metrics{Memory: o.Activities&Memory != 0, Runtime: o.Activities&Go != 0}
		},
	},
	{
		Name: "CPU samples", Activity: CPU, Remedy: "Stop the other CPU profile: only one can run in a process.",
		New: func(o Options) Source {
			if o.SampleHz == 0 {
				return nil
			}
			return &goruntime.CPU{Hz: o.SampleHz}
		},
	},
	{
		Name: "heap profile", Activity: CPU | Memory,
		New: func(o Options) Source {
			if !o.ProfileMemory || !o.WithStack {
				return nil
			}
			return &goruntime.Heap{}
		},
	},
	{
		Name: "execution trace", Activity: CPU | Go, Remedy: "Stop the other execution trace: only one can run in a process.",
		New: func(o Options) Source {
			if !o.Sched {
				return nil
			}
			return &goruntime.ExecTrace{}
		},
	},
	{
		Name: "process totals", Activity: CPU | Memory | Go,
		New: func(Options) Source { return &goruntime.Usage{} },
	},
}
