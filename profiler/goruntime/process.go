package goruntime

import (
	"os"
	"path/filepath"

	"github.com/gander-go/gander/profiler/trace"
)

// hostProcess is this process in t.
func hostProcess(t *trace.Trace) trace.ProcessID {
	name := "go"
	if len(os.Args) > 0 {
		name = filepath.Base(os.Args[0])
	}
	return t.Process(int64(os.Getpid()), name)
}

// runtimeTrack ids tell the tracks of TrackRuntime apart.
const (
	trackGC = iota + 1
	trackSTW
)
