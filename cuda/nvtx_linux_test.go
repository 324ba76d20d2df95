//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gander-go/gander/cuda/standin/feed"
	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/trace"
)

// marker is a record of NVTX's: flags are 1 for a mark, 2 for the start of a range and 4 for its end.
func marker(flags, id uint32, at time.Time, name, domain string) []byte {
	b := make([]byte, 56)
	le := binary.LittleEndian
	le.PutUint32(b, 12)
	le.PutUint32(b[4:], flags)
	le.PutUint64(b[8:], uint64(at.UnixNano()))
	le.PutUint32(b[16:], id)
	le.PutUint32(b[20:], 2) // of a thread
	le.PutUint32(b[24:], uint32(os.Getpid()))
	le.PutUint32(b[28:], uint32(syscall.Gettid()))
	if name != "" {
		le.PutUint64(b[40:], feed.Text(name))
	}
	if domain != "" {
		le.PutUint64(b[48:], feed.Text(domain))
	}
	return b
}

// TestNVTX has ranges and marks of libraries that use NVTX in the profile, where NVTX is told to report to CUPTI; elsewhere
// CUPTI is not asked for them.
func TestNVTX(t *testing.T) {
	f, err := feed.Open(os.Getenv("GANDER_LIBCUPTI"))
	if err != nil {
		t.Fatal(err)
	}
	run := func() *trace.Trace {
		p, err := profiler.Start(profiler.Options{Activities: profiler.CPU | profiler.CUDA})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		time.Sleep(3 * time.Millisecond)
		if os.Getenv("NVTX_INJECTION64_PATH") != "" {
			f.Emit(marker(4, 7, start.Add(2*time.Millisecond), "", "")) // in no order
			f.Emit(marker(2, 7, start.Add(time.Millisecond), "attention", "cuDNN"))
			f.Emit(marker(1, 8, start.Add(time.Millisecond), "epoch", ""))
			f.Emit(marker(2, 9, start.Add(time.Millisecond), "never ends", ""))
		}
		p.Stop()
		tr := p.Trace()
		if err := tr.Validate(); err != nil {
			t.Fatal(err)
		}
		return tr
	}
	t.Setenv("STANDIN_CUPTI_REFUSE", "12:27")
	t.Setenv("NVTX_INJECTION64_PATH", "")
	if q := run().Problems; len(q) != 0 {
		t.Errorf("NVTX was asked for: %+v", q)
	}
	t.Setenv("NVTX_INJECTION64_PATH", os.Getenv("GANDER_LIBCUPTI"))
	if q := run().Problems; len(q) != 1 || !strings.Contains(q[0].Text, "NVTX ranges") {
		t.Errorf("NVTX was not asked for: %+v", q)
	}
	t.Setenv("STANDIN_CUPTI_REFUSE", "")
	tr := run()
	var ranges []string
	for i := range tr.Slices {
		if s := &tr.Slices[i]; tr.Categories[s.Cat].Name == "nvtx" {
			ranges = append(ranges, tr.Name(s))
			if s.Dur != int64(time.Millisecond) || tr.Tracks[s.Track].Kind != trace.TrackThread {
				t.Errorf("%s takes %d ns on track %q", tr.Name(s), s.Dur, tr.Tracks[s.Track].Name)
			}
		}
	}
	if !slices.Equal(ranges, []string{"cuDNN: attention"}) || len(tr.Instants) != 1 || tr.Strings.Get(tr.Instants[0].Name) != "epoch" {
		t.Errorf("ranges %q, instants %+v", ranges, tr.Instants)
	}
}
