package profiler

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/gander-go/gander/profiler/record"
	"github.com/gander-go/gander/profiler/trace"
)

// probeActivity selects the probe, a source that notes what it hears and fails on demand.
const probeActivity Activity = 1 << 20

func init() {
	RegisterSource(Kind{Name: "test probe", Activity: probeActivity, Remedy: "Ask it not to.", New: func(Options) Source {
		if theProbe == nil {
			return nil
		}
		return theProbe
	}})
}

var theProbe *probe

type probe struct {
	// mu guards heard.
	mu    sync.Mutex
	heard []string

	fail, panics string // the method that does so
	windows      []record.Window
}

func newProbe(t *testing.T) *probe {
	theProbe = new(probe)
	t.Cleanup(func() { theProbe = nil })
	return theProbe
}

func (p *probe) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = append(p.heard, what)
}

// take returns what was heard since the last time.
func (p *probe) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := strings.Join(p.heard, " ")
	p.heard = nil
	return s
}

func (p *probe) do(what string) error {
	p.note(what)
	if p.panics == what {
		panic("probe broke")
	}
	if p.fail == what {
		return errors.New("probe refused")
	}
	return nil
}

func (p *probe) Start() error { return p.do("prepare") }
func (p *probe) Stop() error  { return p.do("stop") }
func (p *probe) Open()        { p.note("open") }
func (p *probe) Close()       {}

func (p *probe) AddTo(t *trace.Trace, w record.Window) error {
	p.windows = append(p.windows, w)
	if p.fail == "add" {
		return errors.New("probe refused")
	}
	c := trace.Counter{Name: "probe", Unit: "count", Process: trace.NoProcess, Track: trace.NoTrack, Device: trace.NoDevice}
	for i := range t.Counters {
		if t.Counters[i].Name == "probe" {
			t.Counters[i].Times = append(t.Counters[i].Times, w.Time(w.Start))
			t.Counters[i].Values = append(t.Counters[i].Values, float64(len(p.windows)))
			return nil
		}
	}
	c.Times, c.Values = []int64{w.Time(w.Start)}, []float64{float64(len(p.windows))}
	t.Counters = append(t.Counters, c)
	return nil
}
