package analyze

// least is the evidence below which one kind of advice is not given: a recording of some milliseconds shows shares by chance,
// and a remedy for a millisecond is not worth reading. The TensorBoard plugin's own rules know none of this.
type least struct {
	window int64 // ns that the recording (or its steps) took
	time   int64 // ns at stake
	count  int64 // events that it rests on
}

const millisecond = 1_000_000

// memoryChurn is the entry for allocation churn of the program's own allocators, whose every event is known.
const memoryChurn = "allocation-churn of allocators"

// leastOf is by Advice.Kind. Kinds that are about facts (memory that is full, DataParallel) are not in it.
//
// What a device waits for repeats itself each step, so that ten milliseconds tell. Collections and the scheduler come in
// bursts, and recordings begin with one: they need longer, and several events.
var leastOf = map[string]least{
	"data-loading":           {10 * millisecond, millisecond, 1},
	"data-loader-starvation": {10 * millisecond, millisecond, 1},
	"communication":          {10 * millisecond, millisecond, 1},
	"low-gpu-utilization":    {10 * millisecond, millisecond, 0},
	"tensor-cores":           {10 * millisecond, millisecond, 1},
	"host-device-sync":       {10 * millisecond, millisecond, 10},
	"device-allocation":      {10 * millisecond, millisecond, 10},
	"small-kernels":          {10 * millisecond, millisecond, 200},
	"pageable-copies":        {10 * millisecond, millisecond, 1},
	"gc-pressure":            {100 * millisecond, millisecond, 3},
	"lock-contention":        {20 * millisecond, 5 * millisecond, 10},
	"goroutine-starvation":   {50 * millisecond, 10 * millisecond, 10},
	"allocation-churn":       {100 * millisecond, 0, 1000},
	memoryChurn:              {millisecond, 0, 1000},
}

// enough reports whether there is evidence enough for advice of a kind: time ns at stake in count events.
func (b *adviser) enough(kind string, time, count int64) bool {
	l := leastOf[kind]
	return b.c == Plugin || b.whole() >= l.window && time >= l.time && count >= l.count
}

// occurrences is the number of events behind a list of evidence that was not cut yet.
func occurrences(list []Evidence) (n int64) {
	for i := range list {
		n += list[i].Count
	}
	return n
}
