package profiler

import (
	"fmt"
	"os"

	"github.com/gander-go/gander/profiler/trace"
)

// Load reads a profile that WriteTo wrote: it can be grouped, printed and exported as one that was just recorded, but not
// started again.
func Load(path string) (*Profile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("loading profile: %w", err)
	}
	defer f.Close()
	t, err := trace.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("loading profile %q: %w", path, err)
	}
	return FromTrace(t), nil
}

// MustLoad is Load for notebooks: it panics when the profile cannot be read.
func MustLoad(path string) *Profile {
	p, err := Load(path)
	if err != nil {
		panic(err)
	}
	return p
}

// FromTrace makes a complete profile of a trace that passes Validate, whatever recorded it.
func FromTrace(t *trace.Trace) *Profile {
	return &Profile{trace: t, ended: true, cycles: 1}
}
