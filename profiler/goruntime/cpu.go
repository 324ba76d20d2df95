package goruntime

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"runtime/pprof"

	"github.com/gander-go/gander/profiler/record"
	"github.com/gander-go/gander/profiler/trace"
)

// MaxHz is the highest rate at which the kernel's timer delivers samples on most machines (CONFIG_HZ=250). The runtime
// believes whatever it is asked for, so that above it profiles claim less CPU time than was used.
const MaxHz = 250

// defaultHz is the runtime's own rate, the only one that StartCPUProfile sets without complaint.
const defaultHz = 100

// CPU is the source of CPU samples: stacks of running goroutines, aggregated by the runtime. Each carries the name of the
// goroutine's innermost span where the recorder labels goroutines.
type CPU struct {
	Hz int // samples per second of CPU time; 0 is 100

	out      bytes.Buffer
	problems []trace.Problem
}

// Start starts the CPU profile. It fails while the program or its HTTP handlers run one.
func (c *CPU) Start() error {
	hz := c.Hz
	if hz <= 0 {
		hz = defaultHz
	}
	if hz > MaxHz {
		c.problems = append(c.problems, trace.Problem{Kind: "sample-rate", Count: 1,
			Text:   fmt.Sprintf("%d samples a second were asked for; %d is what the kernel's timer delivers.", hz, MaxHz),
			Remedy: fmt.Sprintf("Sample at %d Hz or less, for longer.", MaxHz)})
		hz = MaxHz
	}
	c.out.Reset()
	if hz == defaultHz {
		return c.begin()
	}
	err := withRate(hz, c.begin)
	if errors.Is(err, errNoRate) {
		c.problems = append(c.problems, trace.Problem{Kind: "sample-rate", Count: 1,
			Text: fmt.Sprintf("Samples were taken at %d Hz: another rate cannot be set here.", defaultHz), Remedy: ""})
		return c.begin()
	}
	return err
}

var errNoRate = errors.New("setting the sampling rate: not possible on this system")

func (c *CPU) begin() error {
	if err := pprof.StartCPUProfile(&c.out); err != nil {
		return fmt.Errorf("starting CPU samples: %w", err)
	}
	return nil
}

// Stop stops the CPU profile and waits until everything is written.
func (c *CPU) Stop() error {
	pprof.StopCPUProfile()
	return nil
}

// maxProfile bounds the decompressed profile, which is ours but travels through a parser.
const maxProfile = 1 << 30

// AddTo adds the samples. They have no times of their own.
func (c *CPU) AddTo(t *trace.Trace, _ record.Window) error {
	for _, q := range c.problems {
		t.Problem(q.Kind, q.Count, q.Text, q.Remedy)
	}
	if c.out.Len() == 0 {
		return errors.New("reading CPU samples: the runtime wrote no profile")
	}
	z, err := gzip.NewReader(&c.out)
	if err != nil {
		return fmt.Errorf("reading CPU samples: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(z, maxProfile))
	if err != nil {
		return fmt.Errorf("reading CPU samples: %w", err)
	}
	p, err := parseProfile(data)
	if err != nil {
		return fmt.Errorf("reading CPU samples: %w", err)
	}
	p.addTo(t)
	return nil
}

// addTo adds samples of CPU time: value 0 counts samples and value 1 is ns in profiles of the runtime.
func (p *profile) addTo(t *trace.Trace) {
	x := t.StackIndex()
	frames := make(map[uint64][]trace.FrameID, len(p.locations)) // of a location, innermost first
	for id, lines := range p.locations {
		for _, l := range lines {
			f := p.functions[l.function]
			frames[id] = append(frames[id], x.Frame(p.text(f.name), p.text(f.file), int32(l.line)))
		}
	}
	for _, s := range p.samples {
		if len(s.values) < 2 {
			continue
		}
		var stack trace.StackID
		for i := len(s.locations) - 1; i >= 0; i-- {
			lines := frames[s.locations[i]]
			for j := len(lines) - 1; j >= 0; j-- {
				stack = x.Push(stack, lines[j])
			}
		}
		out := trace.Sample{Time: trace.NoTime, Track: trace.NoTrack, Stack: stack, Kind: trace.SampleCPU, Count: s.values[0], Weight: s.values[1]}
		for _, l := range s.labels {
			if p.text(l.key) == record.SpanLabel {
				out.Span = t.Strings.ID(p.text(l.value))
			}
		}
		t.Samples = append(t.Samples, out)
	}
}
