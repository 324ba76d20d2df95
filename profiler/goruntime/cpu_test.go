package goruntime

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/profiler/record"
	"github.com/gander-go/gander/profiler/trace"
)

//go:noinline
func spin(d time.Duration) (n int) {
	for from := time.Now(); time.Since(from) < d; {
		for range 1000 {
			n++
		}
	}
	return n
}

func TestOnlyOneCPUProfile(t *testing.T) {
	var a, b CPU
	if err := a.Start(); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	if err := b.Start(); err == nil {
		t.Error("a second CPU profile started")
	}
	spin(30 * time.Millisecond)
	a.Stop()
	x := newTrace()
	if err := a.AddTo(x, record.Window{}); err != nil {
		t.Error(err)
	}
	if err := x.Validate(); err != nil {
		t.Error(err)
	}
	for i := range x.Samples {
		if s := &x.Samples[i]; s.Kind != trace.SampleCPU || s.Time != trace.NoTime || s.Weight <= 0 {
			t.Errorf("sample %+v", *s)
		}
	}
}

// TestRate runs itself as a process of its own, whose standard error shows whether the runtime's complaint about another
// rate was swallowed and everything else passed on.
func TestRate(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: other rates are set on Linux only")
	}
	if os.Getenv("GANDER_TEST_RATE") != "" {
		os.Stderr.WriteString("before\n")
		c := CPU{Hz: 200}
		err := withRate(200, func() error {
			os.Stderr.WriteString("during\n")
			return c.begin()
		})
		if err != nil {
			t.Fatal(err)
		}
		os.Stderr.WriteString("after\n")
		spin(50 * time.Millisecond)
		c.Stop()
		p, err := pprofPeriod(c.out.Bytes())
		if err != nil || p != int64(time.Second/200) {
			t.Errorf("period %d: %v", p, err)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestRate$")
	cmd.Env = append(os.Environ(), "GANDER_TEST_RATE=1")
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Run(); err != nil {
		t.Errorf("%v", err)
	}
	if got := out.String(); got != "before\nduring\nafter\n" {
		t.Errorf("standard error: %q", got)
	}
}

// pprofPeriod reads field 12 of a profile, the sampling period in ns.
func pprofPeriod(b []byte) (period int64, err error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return 0, err
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return 0, err
	}
	err = fields(data, func(field int, v uint64, _ []byte) error {
		if field == 12 {
			period = int64(v)
		}
		return nil
	})
	return period, err
}

func TestRateCeilingIsReported(t *testing.T) {
	c := CPU{Hz: 10_000}
	if err := c.Start(); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	c.Stop()
	x := newTrace()
	c.AddTo(x, record.Window{})
	if len(x.Problems) != 1 || !strings.Contains(x.Problems[0].Text, "250") {
		t.Errorf("problems %+v", x.Problems)
	}
}

func FuzzParseProfile(f *testing.F) {
	var heap bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&heap, 0); err != nil {
		f.Fatal(err)
	}
	z, err := gzip.NewReader(&heap)
	if err != nil {
		f.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte{})
	f.Add([]byte{0x12, 0x80})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parseProfile(data)
		if err != nil {
			return
		}
		x := newTrace()
		p.addTo(x)
		if err := x.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}
