// Command bench_peers is Gander's side of tools/bench_peers.py: it does what that script has a peer do, and prints figures
// as JSON.
//
//	bench_peers spans N          records N nested spans; stops; averages; exports. Times in ns
//	bench_peers trace BYTES FILE writes a trace like PyTorch's of at least BYTES bytes
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/gander-go/gander/internal/tracegen"
	"github.com/gander-go/gander/profiler"
)

func main() {
	defer func() { runtime.KeepAlive(sink) }()
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench_peers:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var result any
	var err error
	switch {
	case len(args) == 2 && args[0] == "spans":
		n, bad := strconv.Atoi(args[1])
		if bad != nil {
			return fmt.Errorf("reading the number of spans: %w", bad)
		}
		result, err = spans(n)
	case len(args) == 3 && args[0] == "trace":
		n, bad := strconv.ParseInt(args[1], 10, 64)
		if bad != nil {
			return fmt.Errorf("reading the number of bytes: %w", bad)
		}
		result, err = generate(n, args[2])
	default:
		return errors.New("use: bench_peers spans N | trace BYTES FILE")
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

// figures are times in ns; Export is the size of the exported file in bytes.
type figures struct {
	Bare        int64 `json:"bare"`     // the loop alone
	Recorded    int64 `json:"recorded"` // the loop with its spans
	Stop        int64 `json:"stop"`
	KeyAverages int64 `json:"key_averages"` // with the table's text
	Export      int64 `json:"export"`
	ExportBytes int64 `json:"export_bytes"`
}

//go:noinline
func work(i int) int { return i*i + 1 }

var sink int

func spans(n int) (figures, error) {
	var f figures
	start := time.Now()
	for i := range n / 2 {
		sink += work(i) + work(i+1)
	}
	f.Bare = lap(&start)
	p, err := profiler.Start(profiler.Options{Activities: profiler.CPU, MaxEvents: n + n/8})
	if err != nil {
		return f, err
	}
	start = time.Now()
	for i := range n / 2 {
		outer := profiler.Begin("outer")
		sink += work(i)
		inner := profiler.Begin("inner")
		sink += work(i + 1)
		inner.End()
		outer.End()
	}
	f.Recorded = lap(&start)
	p.Stop()
	f.Stop = lap(&start)
	if len(p.KeyAverages().Table(profiler.SortBy("cpu_time_total"))) == 0 {
		return f, errors.New("averaging: the table is empty")
	}
	f.KeyAverages = lap(&start)
	dir, err := os.MkdirTemp("", "bench-peers-")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "trace.json")
	start = time.Now()
	if err := p.ExportChromeTrace(path); err != nil {
		return f, err
	}
	f.Export = lap(&start)
	st, err := os.Stat(path)
	if err != nil {
		return f, err
	}
	f.ExportBytes = st.Size()
	return f, nil
}

// lap is the time since start in ns, which it sets to now.
func lap(start *time.Time) int64 {
	now := time.Now()
	d := now.Sub(*start)
	*start = now
	return d.Nanoseconds()
}

func generate(bytes int64, path string) (tracegen.Totals, error) {
	f, err := os.Create(path)
	if err != nil {
		return tracegen.Totals{}, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	totals, err := tracegen.Write(w, tracegen.Options{Bytes: bytes, Python: true})
	if err == nil {
		err = w.Flush()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return totals, err
}
