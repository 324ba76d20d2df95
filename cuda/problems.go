package cuda

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gander-go/gander/cuda/cupti"
)

// problems says what the recording lacks.
func (b *builder) problems() {
	t, lost := b.t, &b.records.Lost
	if n := lost.Dropped; n > 0 {
		t.Problem("cuda-dropped", int64(n), fmt.Sprintf("CUDA dropped %d records: kernels, copies or calls are missing.", n), "Profile fewer steps at once, or fewer activities.")
	}
	if n := lost.Bytes; n > 0 {
		t.Problem("cuda-overrun", int64(n), fmt.Sprintf("Records of CUDA came faster than they could be decoded: %d bytes of them are lost, the oldest first.", n),
			"Profile fewer steps at once.")
	}
	if n := lost.Excess; n > 0 {
		t.Problem("cuda-excess", int64(n), fmt.Sprintf("The recording was full: %d records of CUDA were left out, the newest ones.", n), "Raise MaxEvents or profile fewer steps.")
	}
	if n := lost.Refused; n > 0 {
		t.Problem("cuda-no-buffer", int64(n), fmt.Sprintf("CUDA asked for memory %d times when none was left for its records.", n), "Profile fewer steps at once.")
	}
	if n := b.untimed; n > 0 {
		t.Problem("cuda-untimed", n, fmt.Sprintf("%d records of CUDA have no times and are left out.", n),
			"Capture again; a launch that failed or a device that was reset leaves such records.")
	}
	b.broken()
	if by := b.clock.set(); by != 0 {
		t.Problem("cuda-clock-set", 1, fmt.Sprintf("The clock of the machine was set by %v during the capture: device work may be off by as much.", time.Duration(by)),
			"Profile again.")
	}
	if len(lost.Disabled) > 0 {
		var words []string
		for k, r := range lost.Disabled {
			words = append(words, fmt.Sprintf("%s (%v)", k, r))
		}
		slices.Sort(words)
		t.Problem("cuda-refused", int64(len(words)), "CUDA does not record everything here: "+strings.Join(words, ", ")+".", "")
	}
}

// broken says what could not be decoded.
func (b *builder) broken() {
	lost := &b.records.Lost
	var unknown, short, broken int64
	for _, n := range lost.Unknown {
		unknown += int64(n)
	}
	for _, n := range lost.Short {
		short += int64(n)
	}
	for _, n := range lost.Broken {
		broken += int64(n)
	}
	if unknown > 0 {
		b.t.Problem("cuda-unknown", unknown, fmt.Sprintf("%d records of CUDA are of kinds that nobody asked for and are left out: another part of the program uses CUPTI.", unknown), "")
	}
	if short+broken > 0 {
		b.t.Problem("cuda-broken", short+broken, fmt.Sprintf("%d records and %d buffers of CUDA could not be read with the layout of CUPTI %s.", short, broken, cupti.FormatVersion(b.version)),
			"Set GANDER_LIBCUPTI to the libcupti of the toolkit that the program uses.")
	}
}
