//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gander-go/gander/cuda/cupti"
	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/record"
	"github.com/gander-go/gander/profiler/trace"
)

func init() {
	profiler.RegisterSource(profiler.Kind{
		Name: "CUDA", Activity: profiler.CUDA, Present: present,
		New: func(o profiler.Options) profiler.Source {
			return &source{config: cupti.Config{Kinds: cupti.DefaultKinds, Max: o.MaxEvents}}
		},
		Remedy: "See `gander doctor`.",
	})
}

// present reports whether the machine has a device, by what NVIDIA's kernel modules show, or the program uses the driver
// already. It opens nothing.
func present() bool {
	if os.Getenv("GANDER_LIBCUDA") != "" {
		return true
	}
	for _, device := range []string{"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl-gpu"} {
		if _, err := os.Stat(device); err == nil {
			return true
		}
	}
	return false
}

// source is one capture.
type source struct {
	config    cupti.Config
	lib       *cupti.Library
	capture   atomic.Pointer[cupti.Capture]
	waited    error // of waiting for the device
	stopped   error // of stopping, with records
	end       chan struct{}
	clockDone chan struct{}

	// clocks guards recording.clock until Stop.
	clocks    sync.Mutex
	recording recording
}

// clockEvery is how often both clocks are read. One that is set is off by no more than that, and for no longer.
const clockEvery = time.Second

// readClock reads both clocks.
func (s *source) readClock() error {
	s.clocks.Lock()
	defer s.clocks.Unlock()
	return s.recording.clock.read(s.lib.Timestamp)
}

func (s *source) readClocks() {
	defer close(s.clockDone)
	t := time.NewTicker(clockEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.readClock() //nolint:errcheck // Stop reads it again, and says what is wrong
		case <-s.end:
			return
		}
	}
}

// Start attaches to CUDA.
func (s *source) Start() error {
	if err := cupti.InitDriver(); err != nil {
		return err
	}
	lib, err := cupti.Open()
	if err != nil {
		return err
	}
	config := s.config
	if os.Getenv("NVTX_INJECTION64_PATH") != "" {
		config.Kinds = append([]cupti.Kind{cupti.KindMarker, cupti.KindName}, config.Kinds...)
	}
	if os.Getenv("GANDER_CUDA_GRAPHS") == "whole" { // one record a launch, instead of one for each node
		config.Kinds = append([]cupti.Kind{cupti.KindGraph}, config.Kinds...)
	}
	if lib.Version >= 1209 {
		config.Kinds = append([]cupti.Kind{cupti.KindEvent}, config.Kinds...)
	}
	capture, err := lib.Start(config)
	if err != nil {
		var e *cupti.Error
		if errors.As(err, &e) && e.Remedy() != "" {
			return fmt.Errorf("%w: %s", err, strings.TrimSuffix(e.Remedy(), ".")) // whoever shows it ends the sentence
		}
		return err
	}
	s.lib = lib
	s.recording = recording{clock: new(clock), version: lib.Version, name: lib.CallName, symbol: cupti.Demangle, devices: cupti.DriverDevices()}
	s.readClock() //nolint:errcheck // as in readClocks
	s.end, s.clockDone = make(chan struct{}), make(chan struct{})
	go s.readClocks()
	s.capture.Store(capture)
	return nil
}

// Push ties the calling thread's calls to the span id; see record.Correlator.
func (s *source) Push(id uint64) {
	if c := s.capture.Load(); c != nil {
		c.Push(id)
	}
}

// Pop undoes Push.
func (s *source) Pop(id uint64) {
	if c := s.capture.Load(); c != nil {
		c.Pop(id)
	}
}

// Open has what was done before the window out of the way, so that what the window holds does not queue behind it.
func (s *source) Open() {
	if c := s.capture.Load(); c != nil {
		c.Flush(false) //nolint:errcheck // Stop flushes again, and says what is wrong
		s.readClock()  //nolint:errcheck // as in readClocks
	}
}

// Close waits for what was launched in the window.
func (s *source) Close() {
	s.readClock() //nolint:errcheck // as in readClocks
	s.waited = cupti.Synchronize()
}

// Stop detaches from CUDA. Spans that are open keep the capture, to take their ids off CUPTI's stacks.
func (s *source) Stop() error {
	c := s.capture.Load()
	if c == nil {
		return errors.New("stopping CUDA: it was not started")
	}
	close(s.end)
	<-s.clockDone
	clockErr := s.readClock()
	records, err := c.Stop()
	if records == nil {
		return err
	}
	s.recording.records = records
	s.stopped = errors.Join(err, clockErr)
	return nil
}

// AddTo adds what was recorded.
func (s *source) AddTo(t *trace.Trace, w record.Window) error {
	s.recording.addTo(t, w)
	for _, err := range []error{s.waited, s.stopped} {
		if err != nil {
			t.Problem("cuda-incomplete", 1, fmt.Sprintf("The records of CUDA may be incomplete: %v.", err), "")
		}
	}
	return nil
}

// Settle ties calls to spans.
func (s *source) Settle(t *trace.Trace) { settle(t) }

var _ record.Correlator = (*source)(nil)
