package kineto

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// Read builds a trace from Chrome trace JSON, gzip-compressed or not. Damage inside is repaired or skipped and counted in
// Trace.Problems; an error means that the input is not such a file at all, or could not be read.
//
// Memory: the trace itself, at most MaxModelBytes and typically 130 bytes an event; about as much again while slices are
// put in order; and for each worker three units of at most 2 MiB, or of MaxEventBytes where single events are that long.
//
//  1. The top-level object is read up to traceEvents.
//  2. One goroutine reads (and decompresses) and cuts the text into units where an event seems to begin.
//  3. Workers scan units, each into a batch of its own.
//  4. This goroutine joins the batches in order. A unit counts only when the one before it ended exactly where it begins:
//     where the cut was wrong, or the text is damaged, the rest of one and the whole of the next are scanned again as one.
//  5. What follows the array (metadata, in many files) is read as at first.
func Read(r io.Reader, opt ReadOptions) (*trace.Trace, error) {
	m, err := collect(r, opt)
	if err != nil {
		return nil, fmt.Errorf("reading kineto trace: %w", err)
	}
	return m.finish(), nil
}

// collect reads the whole document.
func collect(r io.Reader, opt ReadOptions) (*merger, error) {
	if opt.MaxModelBytes <= 0 {
		opt.MaxModelBytes = DefaultMaxModelBytes
	}
	if opt.MaxEventBytes <= 0 {
		opt.MaxEventBytes = DefaultMaxEventBytes
	}
	opt.MaxEventBytes = min(opt.MaxEventBytes, 1<<30) // positions are 32 bits wide
	if opt.MaxInputBytes <= 0 {
		opt.MaxInputBytes = DefaultMaxInputBytes
	}
	if opt.Workers <= 0 {
		opt.Workers = min(runtime.GOMAXPROCS(0), 8)
	}
	in, err := newInput(r, &opt)
	if err != nil {
		return nil, err
	}
	d := &reader{opt: opt, in: in, m: newMerger()}
	d.m.t.Meta.Rank = trace.NoRank
	defer d.close()
	if err := d.document(); err != nil {
		return nil, err
	}
	d.close()
	if err := d.failure(); err != nil {
		return nil, err
	}
	return d.m, nil
}

// reader walks the document. buf[pos:] is what has been read and not consumed.
type reader struct {
	opt  ReadOptions
	in   *input
	m    *merger
	pipe *pipeline // nil until the events begin

	buf []byte
	pos int
	eof bool

	classes map[string]trace.Class
	own     *scanner // for what the workers' units do not hold
	x       translation
	batch   batch

	wasted int64 // see tired

	found bool     // traceEvents was there
	done  bool     // the document was complete
	full  bool     // the memory limit was reached
	keys  []string // of the top-level object, for the message that it is none of ours
}

// close stops the pipeline, if any, and waits for its goroutines. It may be called again.
func (d *reader) close() {
	if d.pipe != nil {
		d.pipe.close()
	}
}

// failure judges the error that the input ended with, if any: losing the end of a file is a problem of the trace, losing
// all of it is an error.
func (d *reader) failure() error {
	if d.pipe != nil && d.pipe.panicked != nil {
		return d.pipe.panicked
	}
	t := d.m.t
	err := d.in.err
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case err != nil && d.m.events == 0:
		return err
	case err != nil && !d.done:
		t.Problem("truncated", 1, fmt.Sprintf("The file ends early (%v); everything before is shown.", err), "Copy or record it again.")
	case err != nil:
		t.Problem("trailing-garbage", 1, "Bytes behind the end of the compressed file were ignored.", "")
	case d.in.limited:
		t.Problem("input-limit", 1, fmt.Sprintf("Only the first %d MB of the input were read.", d.opt.MaxInputBytes>>20), "Raise the limit on the input.")
	case d.full:
		t.Problem("memory-limit", 1, fmt.Sprintf("The trace was cut where it would have taken more than %d MB of memory.", d.opt.MaxModelBytes>>20), "Raise the limit, or leave Python functions out.")
	case !d.done:
		t.Problem("truncated", 1, "The file ends before its JSON does; everything before is shown.", "Copy or record it again: the recording process may have been ended while writing.")
	}
	return nil
}

// fill reads on. It returns false at the end of the input.
func (d *reader) fill() bool {
	if d.eof {
		return false
	}
	if d.pos > 0 {
		d.buf = append(d.buf[:0], d.buf[d.pos:]...)
		d.pos = 0
	}
	var ok bool
	if d.pipe != nil {
		d.buf, ok = d.pipe.raw(d.buf, d.m)
	} else {
		d.buf, ok = d.in.more(d.buf, max(64<<10, min(len(d.buf), 4<<20)))
	}
	d.eof = !ok
	return ok
}

// peek returns the next byte that is not white space, and leaves it; 0 at the end of the input.
func (d *reader) peek() byte {
	for {
		if d.pos = space(d.buf, d.pos); d.pos < len(d.buf) {
			return d.buf[d.pos]
		}
		if !d.fill() {
			return 0
		}
	}
}

func (d *reader) document() error {
	switch c := d.peek(); c {
	case '[':
		d.pos++
		d.found = true
		d.done = d.events()
	case '{':
		d.pos++
		if err := d.object(); err != nil {
			return err
		}
	case 0:
		if d.in.err != nil {
			return d.in.err
		}
		return errors.New("the file is empty")
	default:
		return fmt.Errorf("no JSON: the text begins with %q", d.buf[d.pos:min(len(d.buf), d.pos+20)])
	}
	if d.done && !d.full && d.peek() != 0 {
		d.m.t.Problem("second-document", 1, "Another document follows the first one and was ignored.", "Write each recording to a file of its own.")
	}
	return nil
}

// object reads the members of the top-level object.
func (d *reader) object() error {
	for !d.full {
		switch c := d.peek(); c {
		case ',':
			d.pos++
		case '}':
			d.pos++
			d.done = true
			return d.check()
		case '"':
			if !d.member() {
				return d.check()
			}
		case 0:
			return d.check()
		default:
			if !d.recover() {
				return d.check()
			}
		}
	}
	return nil
}

// member reads one key and its value; false at the end of the input.
func (d *reader) member() bool {
	var key []byte
	v := short
	for {
		if key, v = keyAt(d.buf, d.pos); v >= 0 && v < len(d.buf) {
			break
		}
		if v == bad || len(d.buf)-d.pos > d.opt.MaxEventBytes {
			return d.recover()
		}
		if !d.fill() {
			return false
		}
	}
	name := string(key)
	if len(d.keys) < 50 {
		d.keys = append(d.keys, name)
	}
	if name == "traceEvents" && d.buf[v] == '[' {
		d.pos = v + 1
		d.found = true
		return d.events()
	}
	d.pos = v
	raw, ok := d.value()
	if !ok {
		return d.pos < len(d.buf) && d.recover()
	}
	if name == classesKey {
		text, _ := clean(nil, raw)
		d.classes = fileClasses(text)
	} else if raw != nil {
		d.m.topValue(name, raw)
	}
	return true
}

// value reads the value at pos. One that is too long is skipped and nil. ok is false when it is broken or cut off.
func (d *reader) value() (raw []byte, ok bool) {
	for {
		end := endOfValue(d.buf, d.pos)
		if end >= 0 {
			raw = d.buf[d.pos:end]
			d.pos = end
			return raw, true
		}
		if end == bad {
			return nil, false
		}
		if len(d.buf)-d.pos > d.opt.MaxEventBytes {
			d.m.lost[lostOversized]++
			return nil, d.skip()
		}
		if !d.fill() {
			d.pos = len(d.buf)
			return nil, false
		}
	}
}

// skip passes over the value at pos without keeping it.
func (d *reader) skip() bool {
	depth, quoted, escaped := 0, false, false
	for {
		for ; d.pos < len(d.buf); d.pos++ {
			switch c := d.buf[d.pos]; {
			case escaped:
				escaped = false
			case quoted && c == '\\':
				escaped = true
			case c == '"':
				if quoted = !quoted; !quoted && depth == 0 {
					d.pos++
					return true
				}
			case quoted:
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				if depth--; depth <= 0 {
					d.pos++
					return true
				}
			}
		}
		if !d.fill() {
			return false
		}
	}
}

// recover goes on behind damage outside the events: at the events, if they are still to come, else at the key that says
// what the times count from.
func (d *reader) recover() bool {
	d.m.t.Problem("damaged-metadata", 1, "Metadata outside the events could not be read because its JSON is broken.", "")
	want := []byte(`"traceEvents"`)
	if d.found {
		want = []byte(`"baseTimeNanoseconds"`)
	}
	d.pos++
	for {
		if i := bytes.Index(d.buf[min(d.pos, len(d.buf)):], want); i >= 0 {
			d.pos += i
			return true
		}
		d.pos = max(d.pos, len(d.buf)-len(want))
		if !d.fill() {
			return false
		}
	}
}

// check returns an error when the object was no trace, naming what it seems to be.
func (d *reader) check() error {
	if d.found {
		return nil
	}
	has := func(k string) bool {
		for _, have := range d.keys {
			if have == k {
				return true
			}
		}
		return false
	}
	switch {
	case has("nodes") && has("schema"):
		return errors.New(`this is a PyTorch execution trace ("nodes", as for Chakra), which records what ran but not when; record with torch.profiler and export_chrome_trace instead`)
	case has("cells") && has("nbformat"):
		return errors.New("this is a Jupyter notebook, not a trace")
	case len(d.keys) == 0:
		return errors.New(`the JSON object is empty or broken: no "traceEvents" found`)
	}
	keys := d.keys
	if len(keys) > 10 {
		keys = append(keys[:10:10], "…")
	}
	return fmt.Errorf(`the JSON has no "traceEvents", so it is no Chrome trace; its keys are %s`, strings.Join(keys, ", "))
}
