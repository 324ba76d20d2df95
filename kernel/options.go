package kernel

import (
	"log/slog"
	"time"

	"github.com/gander-go/gander/kernel/wire"
)

// ConnectionInfo is a Jupyter connection file.
type ConnectionInfo = wire.ConnectionInfo

// ParseConnectionFile reads the connection file that Jupyter names on the command line.
func ParseConnectionFile(path string) (ConnectionInfo, error) { return wire.ParseConnectionFile(path) }

// Options adjust a kernel; the zero value is what Jupyter gets.
type Options struct {
	Version  string       // implementation_version of kernel_info
	Log      *slog.Logger // nil: warnings and errors to stderr
	Username string       // in message headers; "": from the environment

	// HistoryFile is where inputs are kept across sessions. "": gander/history.jsonl in Jupyter's data directory;
	// "-": they are kept in memory only.
	HistoryFile string

	OutputCap   int    // bytes of stdout and stderr that one cell may send to the front end; 0: 2 MiB
	OverflowDir string // where the rest of a cell's output goes; "": gander/output in the user's cache directory

	ParentPID int  // the process whose end ends the kernel; 0: $JPY_PARENT_PID, -1: none
	Signals   bool // handle SIGINT (interrupt), SIGTERM and, unless it is ignored, SIGHUP (shut down)

	Limits wire.Limits // of the sockets; zero fields mean the defaults
}

// Defaults of Options.
const (
	defaultOutputCap = 2 << 20
	overflowFileCap  = 1 << 30 // bytes of one cell's overflow file

	streamDelay = 50 * time.Millisecond // how long output may wait for more to join it
	streamBatch = 32 << 10              // bytes that are sent without waiting
)
