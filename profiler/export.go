package profiler

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gander-go/gander/profiler/analyze"
	"github.com/gander-go/gander/profiler/kineto"
	"github.com/gander-go/gander/profiler/pprof"
	"github.com/gander-go/gander/profiler/trace"
)

// ExportChromeTrace writes the trace as JSON for Perfetto, chrome://tracing and PyTorch's tools. A path that ends in .gz
// is compressed. It may be called as often as wanted.
func (p *Profile) ExportChromeTrace(path string) error {
	return writeFile("exporting chrome trace", path, func(w io.Writer) error {
		return kineto.Write(w, p.Trace(), kineto.WriteOptions{})
	})
}

// ExportTensorBoard writes the trace into dir under the name that TensorBoard's profiler plugin looks for:
// worker.time.pt.trace.json.gz. An empty worker is host and process id. It returns the path.
func (p *Profile) ExportTensorBoard(dir, worker string) (string, error) {
	if worker == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "localhost"
		}
		worker = host + "_" + strconv.Itoa(os.Getpid())
	}
	if strings.ContainsAny(worker, `/\`) {
		return "", fmt.Errorf("exporting for tensorboard: worker %q must not hold path separators", worker)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("exporting for tensorboard: %w", err)
	}
	path := filepath.Join(dir, fmt.Sprintf("%s.%d.pt.trace.json.gz", worker, time.Now().UnixNano()))
	return path, p.ExportChromeTrace(path)
}

// TensorBoardHandler returns a handler for OnTraceReady that calls ExportTensorBoard. What goes wrong is kept among
// Warnings.
func TensorBoardHandler(dir, worker string) func(*Profile) {
	return func(p *Profile) {
		if _, err := p.ExportTensorBoard(dir, worker); err != nil {
			p.warn("export", err.Error(), "")
		}
	}
}

// ExportStacks writes collapsed stacks for flame graph tools: one line a stack, from the root, with the metric's value.
// Metric is one of torch's ("self_cpu_time_total", "self_cuda_time_total"); it needs WithStack.
func (p *Profile) ExportStacks(path, metric string) error {
	return writeFile("exporting stacks", path, func(w io.Writer) error { return analyze.WriteStacks(w, p.Trace(), metric) })
}

// ExportPprof writes the samples for `go tool pprof`: the CPU samples when SampleHz was set, else the heap.
func (p *Profile) ExportPprof(path string) error {
	t := p.Trace()
	for _, kind := range []trace.SampleKind{trace.SampleCPU, trace.SampleAlloc, trace.SampleInUse} {
		if hasSamples(t, kind) {
			return writeFile("exporting pprof", path, func(w io.Writer) error { return pprof.Write(w, t, kind) })
		}
	}
	return errors.New("exporting pprof: no samples were recorded; set SampleHz, or ProfileMemory and WithStack")
}

func hasSamples(t *trace.Trace, kind trace.SampleKind) bool {
	for i := range t.Samples {
		if t.Samples[i].Kind == kind {
			return true
		}
	}
	return false
}

// WriteTo writes the trace in its file form, which profiler/trace reads back with everything in it.
func (p *Profile) WriteTo(w io.Writer) (int64, error) {
	n := &countingWriter{w: w}
	err := trace.Encode(n, p.Trace())
	return n.n, err
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// writeReport is set in the init function of profiler/report and read-only after.
var writeReport func(w io.Writer, t *trace.Trace) error

// RegisterReport sets what ExportReport writes with. It is for use in the init function of profiler/report.
func RegisterReport(write func(w io.Writer, t *trace.Trace) error) { writeReport = write }

// HasReport reports whether the program imports profiler/report, which ExportReport needs.
func HasReport() bool { return writeReport != nil }

// ExportReport writes a self-contained HTML page. The program must import profiler/report, which brings the pages.
func (p *Profile) ExportReport(path string) error {
	return writeFile("exporting report", path, p.WriteReport)
}

// WriteReport writes what ExportReport does.
func (p *Profile) WriteReport(w io.Writer) error {
	if writeReport == nil {
		return errors.New(`the program does not import "github.com/gander-go/gander/profiler/report" (in a notebook, use %%profile --report)`)
	}
	return writeReport(w, p.Trace())
}

// writeFile writes path through a temporary file beside it, so that a failure never leaves half a file under its name.
func writeFile(doing, path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("%s: %w", doing, err)
		}
	}()
	buf := bufio.NewWriterSize(f, 1<<18)
	var w io.Writer = buf
	var z *gzip.Writer
	if strings.HasSuffix(path, ".gz") {
		if z, err = gzip.NewWriterLevel(buf, gzip.BestSpeed); err != nil {
			return err
		}
		w = z
	}
	if err = write(w); err != nil {
		return err
	}
	if z != nil {
		if err = z.Close(); err != nil {
			return err
		}
	}
	if err = buf.Flush(); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
