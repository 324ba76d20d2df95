package kineto

// ReadOptions bound and steer Read. The zero value is right for files of any size on an ordinary machine.
type ReadOptions struct {
	// MaxModelBytes bounds the memory that the trace being built may take; 0 means DefaultMaxModelBytes. What lies
	// beyond is left out and counted in Problems.
	MaxModelBytes int64
	// MaxEventBytes bounds the JSON text of one event or one metadata value; 0 means DefaultMaxEventBytes. A longer one
	// is skipped and counted.
	MaxEventBytes int
	// MaxInputBytes bounds the decompressed input; 0 means DefaultMaxInputBytes. What lies beyond is not read.
	MaxInputBytes int64
	// SkipPython leaves python_function events out, which are most of a trace recorded with stacks.
	SkipPython bool
	// Workers is how many goroutines scan; 0 means GOMAXPROCS, at most 8.
	Workers int
	// Progress, when set, is called from the reading goroutine with the number of decompressed bytes seen so far.
	Progress func(bytes int64)
}

// Limits that apply where ReadOptions leaves them zero.
const (
	DefaultMaxModelBytes = 4 << 30
	DefaultMaxEventBytes = 64 << 20
	DefaultMaxInputBytes = 64 << 30
)

// WriteOptions steer Write. The zero value writes everything the trace holds except what says whose it is.
type WriteOptions struct {
	// Host writes what is private unless asked for: Meta.Host, and those values of Meta that hold names of users and
	// machines or their environment ("username", "metadata", …).
	Host bool
}
