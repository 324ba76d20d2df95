package insession

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/gander-go/gander/kernel/session/rt"
	"github.com/gander-go/gander/kernel/session/worker"
	"github.com/gander-go/gander/profiler"
)

func init() { worker.RegisterRecorder(new(recorder)) }

// recorder is the worker's Recorder.
type recorder struct {
	// mu guards profile.
	mu      sync.Mutex
	profile *profiler.Profile
}

// Start starts a profile; options is the JSON of profiler.Options.
func (r *recorder) Start(options []byte) error {
	var o profiler.Options
	if len(options) > 0 {
		d := json.NewDecoder(bytes.NewReader(options))
		d.DisallowUnknownFields()
		if err := d.Decode(&o); err != nil {
			return fmt.Errorf("reading profile options: %w", err)
		}
	}
	o.Owner = "%%profile"
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := profiler.Start(o)
	if err != nil {
		return err
	}
	r.profile = p
	if p.Options().Activities&profiler.CPU != 0 {
		rt.SetSpans(&calls{shapes: o.RecordShapes})
	}
	return nil
}

// Stop ends the profile and returns it; writing it writes the trace in its file form.
func (r *recorder) Stop() (io.WriterTo, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.profile == nil {
		return nil, errors.New("stopping profile: none is under way")
	}
	p := r.profile
	r.profile = nil
	rt.SetSpans(nil)
	p.Stop()
	return p, nil
}
