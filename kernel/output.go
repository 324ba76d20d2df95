package kernel

import (
	"encoding/json"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gander-go/gander/kernel/cell"
)

// CommOutput is what the outputs that the kernel hands to an Engine are beside cell.Output: Comm publishes a comm message
// ("open", "msg" or "close") to the front ends.
type CommOutput interface {
	cell.Output
	Comm(op, id, target string, data, metadata json.RawMessage, buffers [][]byte)
}

// output publishes what one cell shows, in order, under the cell's own parent header, also after the cell has ended: its
// goroutines may outlive it. Text is gathered for streamDelay or up to streamBatch, whichever comes first; so are
// updates of one display that follow each other, of which only the last is sent. Jupyter's server drops what comes in more
// than 1000 messages a second, displays included, so a cell that changes between its streams all the time has what is
// gathered sent as one message of each.
type output struct {
	k      *Kernel
	parent json.RawMessage
	count  int
	silent bool

	// mu guards the fields below and keeps what is published in order.
	mu       sync.Mutex
	pieces   []piece                    // text in the order it came
	gathered int                        // bytes of it
	update   *cell.Bundle               // instead of text
	timer    *time.Timer                // runs while something is gathered
	split    map[cell.StreamName]string // the first bytes of a character whose others are still to come
	sent     int                        // bytes of text, towards the cap
	overflow *overflow                  // set once the cap is reached
	ended    bool
}

var _ CommOutput = (*output)(nil)

// piece is text of one stream that came in a row.
type piece struct {
	stream cell.StreamName
	text   []byte
}

// maxPieces is how many messages of text may be sent at once.
const maxPieces = 16

func (k *Kernel) newOutput(parent json.RawMessage, count int, silent bool) *output {
	return &output{k: k, parent: parent, count: count, silent: silent}
}

// Stream implements cell.Output.
func (o *output) Stream(name cell.StreamName, text string) {
	if o.silent || text == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gatherLocked(name, o.join(name, text))
	if o.gathered >= streamBatch {
		o.flushLocked()
		return
	}
	o.armLocked()
}

func (o *output) gatherLocked(name cell.StreamName, text string) {
	if o.update != nil {
		o.flushLocked()
	}
	if n := len(o.pieces); n == 0 || o.pieces[n-1].stream != name {
		o.pieces = append(o.pieces, piece{stream: name})
	}
	last := &o.pieces[len(o.pieces)-1]
	last.text = append(last.text, text...)
	o.gathered += len(text)
}

// join puts back together the characters that were cut between two writes of a stream.
func (o *output) join(name cell.StreamName, text string) string {
	if head := o.split[name]; head != "" {
		text = head + text
		delete(o.split, name)
	}
	n := incomplete(text)
	if n > 0 {
		if o.split == nil {
			o.split = make(map[cell.StreamName]string)
		}
		o.split[name] = text[len(text)-n:]
	}
	return text[:len(text)-n]
}

// incomplete returns how many bytes at the end of s begin a character that is not complete.
func incomplete(s string) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if c := s[len(s)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRuneInString(s[len(s)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// Display implements cell.Output.
func (o *output) Display(b cell.Bundle) { o.show("display_data", b) }

// Update implements cell.Output.
func (o *output) Update(b cell.Bundle) {
	if o.silent {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.update == nil || o.update.DisplayID != b.DisplayID {
		o.flushLocked()
	}
	o.update = &b
	o.armLocked()
}

func (o *output) show(typ string, b cell.Bundle) {
	if o.silent {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flushLocked()
	o.publishBundle(typ, b)
}

func (o *output) publishBundle(typ string, b cell.Bundle) {
	o.k.publish(typ, o.parent, struct {
		display
		Transient transient `json:"transient"`
	}{o.k.encodeBundle(b), transient{b.DisplayID}})
}

// result publishes the value of the cell.
func (o *output) result(b cell.Bundle) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flushLocked()
	d := o.k.encodeBundle(b)
	if _, ok := d.Data["text/plain"]; !ok {
		d.Data["text/plain"] = json.RawMessage(`""`)
	}
	o.k.publish("execute_result", o.parent, struct {
		ExecutionCount int `json:"execution_count"`
		display
		Transient transient `json:"transient"`
	}{o.count, d, transient{b.DisplayID}})
}

// Clear implements cell.Output.
func (o *output) Clear(wait bool) {
	if o.silent {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flushLocked()
	o.k.publish("clear_output", o.parent, struct {
		Wait bool `json:"wait"`
	}{wait})
}

// Comm implements CommOutput.
func (o *output) Comm(op, id, target string, data, metadata json.RawMessage, buffers [][]byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flushLocked()
	o.k.sendComm(o.parent, op, id, target, data, metadata, buffers)
}

// Flush publishes what is gathered.
func (o *output) Flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flushLocked()
}

// end publishes all that is left at the cell's end; goroutines of the cell may still write afterwards.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, name := range []cell.StreamName{cell.Stdout, cell.Stderr} {
		if head := o.split[name]; head != "" { // no more bytes will complete it
			delete(o.split, name)
			o.gatherLocked(name, head)
		}
	}
	o.flushLocked()
	o.ended = true
	if o.overflow != nil {
		o.sendText(cell.Stderr, o.overflow.close())
	}
}

// armLocked makes sure that what is gathered is sent in time.
func (o *output) armLocked() {
	if o.timer == nil {
		o.timer = time.AfterFunc(streamDelay, o.Flush)
	}
}

func (o *output) flushLocked() {
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
	if o.update != nil {
		b := *o.update
		o.update = nil
		o.publishBundle("update_display_data", b)
	}
	pieces := o.pieces
	if len(pieces) > maxPieces {
		pieces = merge(pieces)
	}
	for i := range pieces {
		if p := &pieces[i]; len(p.text) > 0 {
			o.capped(p.stream, string(p.text))
		}
	}
	o.gathered = 0
	if len(o.pieces) == 1 { // the common case keeps its buffer
		o.pieces[0].text = o.pieces[0].text[:0]
	} else {
		o.pieces = nil
	}
}

// merge puts what belongs to one stream together, in the order in which the streams first came.
func merge(pieces []piece) []piece {
	var merged []piece
	for _, p := range pieces {
		i := slices.IndexFunc(merged, func(m piece) bool { return m.stream == p.stream })
		if i < 0 {
			i = len(merged)
			merged = append(merged, piece{stream: p.stream})
		}
		merged[i].text = append(merged[i].text, p.text...)
	}
	return merged
}

// capped sends text as far as the cell's share goes and keeps the rest in a file.
func (o *output) capped(name cell.StreamName, text string) {
	if o.overflow == nil {
		room := o.k.opts.OutputCap - o.sent
		if len(text) <= room {
			o.sent += len(text)
			o.sendText(name, text)
			return
		}
		head := text[:cut(text, room)]
		o.sent += len(head)
		o.sendText(name, head)
		text = text[len(head):]
		o.overflow = newOverflow(o.k, o.count)
		o.sendText(cell.Stderr, o.overflow.opened())
	}
	o.overflow.write(text)
	if o.ended {
		o.overflow.close()
	}
}

// cut returns the largest length up to n at which s can be cut without splitting a character.
func cut(s string, n int) int {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

func (o *output) sendText(name cell.StreamName, text string) {
	if text == "" {
		return
	}
	o.k.publish("stream", o.parent, struct {
		Name cell.StreamName `json:"name"`
		Text string          `json:"text"`
	}{name, text})
}

// background is the output of what belongs to no running cell: it goes to the last one.
type background struct{ k *Kernel }

var _ CommOutput = background{}

func (b background) to() *output {
	if o := b.k.latest.Load(); o != nil {
		return o
	}
	o := b.k.newOutput(nil, 0, false)
	if b.k.latest.CompareAndSwap(nil, o) {
		return o
	}
	return b.k.latest.Load()
}

func (b background) Stream(name cell.StreamName, text string) { b.to().Stream(name, text) }
func (b background) Display(v cell.Bundle)                    { b.to().Display(v) }
func (b background) Update(v cell.Bundle)                     { b.to().Update(v) }
func (b background) Clear(wait bool)                          { b.to().Clear(wait) }
func (b background) Comm(op, id, target string, data, metadata json.RawMessage, buffers [][]byte) {
	b.to().Comm(op, id, target, data, metadata, buffers)
}
