package kineto

import (
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// scanner turns the text of events into batches. It belongs to one goroutine.
type scanner struct {
	opt     *ReadOptions
	classes map[string]trace.Class // what the file itself says of its categories; read only
	ev      event
	out     *batch
	names   *interner
	tracks  map[trackKey]trace.TrackID
	cats    map[string]category
	catKeys []trace.Category
	keys    []trackKey
	buf     []byte

	told  struct{ strings, tracks, categories int } // what batches have told the merger so far
	fresh bool                                      // the tables have started anew since the last batch
	last  struct {                                  // the track and the category of the event before, the most likely ones now
		pid, tid []byte
		track    trace.TrackID
		raw      []byte
		cat      category
	}
}

// category is what a scanner knows of one spelling of a category.
type category struct {
	id, step trace.CategoryID // step is the one of ranges that mark steps
	class    trace.Class
	name     trace.StringID
	skip     bool
}

func newScanner(opt *ReadOptions, classes map[string]trace.Class) *scanner {
	s := &scanner{opt: opt, classes: classes, names: newInterner()}
	s.clear()
	return s
}

func (s *scanner) clear() {
	s.names.reset()
	s.tracks, s.keys = make(map[trackKey]trace.TrackID), nil
	s.cats, s.catKeys = make(map[string]category), []trace.Category{{}}
	s.told = struct{ strings, tracks, categories int }{1, 0, 0}
	s.fresh = true
	s.last.pid, s.last.tid, s.last.raw = nil, nil, nil
}

// begin makes b the batch that events go to.
func (s *scanner) begin(b *batch) {
	b.reset()
	s.out = b
	s.last.pid, s.last.tid, s.last.raw = nil, nil, nil // they point into the unit before
	if s.names.full() || len(s.keys) > maxLocalStrings {
		s.clear()
	}
	b.fresh, s.fresh = s.fresh, false
}

// end completes the batch with what is new in the tables.
func (s *scanner) end() {
	b := s.out
	b.strings = s.names.out[s.told.strings:]
	b.tracks = s.keys[s.told.tracks:]
	b.categories = s.catKeys[s.told.categories:]
	s.told.strings, s.told.tracks, s.told.categories = len(s.names.out), len(s.keys), len(s.catKeys)
	s.out = nil
}

// stop says why elements stopped.
type stop uint8

const (
	stopEnd   stop = iota // at the end of the input, between two elements
	stopShort             // in the middle of an element
	stopArray             // behind the bracket that ends the array
)

// elements reads elements of traceEvents from p on and returns where it stopped and why: for stopShort the start of the
// element that is not complete. Damage is skipped up to the next event. The position is one between elements.
func (s *scanner) elements(b []byte, p int) (int, stop) {
	for {
		for p = space(b, p); p < len(b) && b[p] == ','; p = space(b, p+1) {
		}
		if p == len(b) {
			return p, stopEnd
		}
		var end int
		switch b[p] {
		case ']':
			if endsArray(b, p) {
				return p + 1, stopArray
			}
			end = bad
		case '{':
			if end = s.ev.scan(b, p); end >= 0 {
				s.out.events++
				s.emit(&s.ev)
			}
		default:
			if end = endOfValue(b, p); end >= 0 {
				s.out.events++
				s.out.lost[lostElement]++
			}
		}
		switch {
		case end == short:
			return p, stopShort
		case end < 0:
			s.out.events++
			s.out.lost[lostDamage]++
			if end = resync(b, p+1); end < 0 {
				return len(b), stopEnd
			}
		}
		p = end
	}
}

// text interns the inside of the string v; other values are taken as written.
func (s *scanner) text(v []byte) trace.StringID {
	id, fixed := s.names.id(nameText, unquoted(v))
	if fixed != 0 {
		s.fixed(fixed)
	}
	return id
}

// json interns the JSON value v.
func (s *scanner) json(v []byte) trace.StringID {
	id, fixed := s.names.id(jsonText, v)
	if fixed != 0 {
		s.fixed(fixed)
	}
	return id
}

func (s *scanner) fixed(f repairs) {
	for bit, k := range map[repairs]problem{fixedUTF8: fixedText, fixedEscape: fixedEscapes, fixedValue: fixedValues, fixedDepth: fixedNesting} {
		if f&bit != 0 {
			s.out.lost[k]++
		}
	}
}

// track returns the local id of the track of e.
func (s *scanner) track(e *event) trace.TrackID {
	pid, tid := e.pid.of(e.b), e.tid.of(e.b)
	if !e.tid.given() {
		tid = pid // as Perfetto has it
	}
	if l := &s.last; l.pid != nil && string(pid) == string(l.pid) && string(tid) == string(l.tid) {
		return l.track
	}
	k := trackKey{}
	k.pid, k.pidKey = s.number(pid)
	k.tid, k.tidKey = s.number(tid)
	id := s.trackID(k)
	if pid == nil {
		pid = []byte{}
	}
	s.last.pid, s.last.tid, s.last.track = pid, tid, id
	return id
}

func (s *scanner) trackID(k trackKey) trace.TrackID {
	id, ok := s.tracks[k]
	if !ok {
		id = trace.TrackID(len(s.keys))
		s.tracks[k] = id
		s.keys = append(s.keys, k)
	}
	return id
}

// beside returns the track of another use that belongs to that of e.
func (s *scanner) beside(e *event, use trackUse, category trace.StringID) trace.TrackID {
	k := s.keys[s.track(e)]
	k.kind, k.category = use, category
	if use == useAsync {
		k.tid, k.tidKey = 0, 0
	}
	return s.trackID(k)
}

// number reads a pid or tid. One that is no number is a string with an id of its own, except that "stream 7" of old
// traces is stream 7 of today's.
func (s *scanner) number(v []byte) (int64, trace.StringID) {
	if len(v) == 0 {
		return 0, 0
	}
	if n, ok := integer(v); ok || v[0] != '"' {
		return n, 0
	}
	text := unquoted(v)
	if strings.HasPrefix(string(text), "stream ") {
		if n, ok := integer(text[len("stream "):]); ok {
			return n, 0
		}
	}
	if len(text) == 0 {
		return 0, s.text([]byte(emptyKey))
	}
	return 0, s.text(v)
}

// maxCategories bounds the categories of one scanner; each takes up to two ids of 16 bits.
const maxCategories = 30000

// emptyKey stands for a pid or tid that is the empty string, which Kineto gives to events of nobody.
const emptyKey = "(empty)"

// category returns what is known of the category of e.
func (s *scanner) category(e *event) category {
	raw := e.cat.of(e.b)
	if s.last.raw != nil && string(raw) == string(s.last.raw) {
		return s.last.cat
	}
	c, ok := s.cats[string(raw)]
	if !ok && len(s.cats) >= maxCategories {
		s.out.lost[lostCategory]++
	} else if !ok {
		c.name = s.text(raw)
		name := s.names.out[c.name]
		if c.class, ok = s.classes[name]; !ok {
			c.class = classOf(name)
		}
		c.skip = s.opt.SkipPython && c.class == trace.ClassPython
		c.id = s.categoryID(name, c.class)
		c.step = c.id
		if c.class == trace.ClassOp || c.class == trace.ClassAnnotation {
			c.step = s.categoryID(name, trace.ClassStep)
		}
		s.cats[string(raw)] = c
	}
	if raw == nil {
		raw = []byte{}
	}
	s.last.raw, s.last.cat = raw, c
	return c
}

func (s *scanner) categoryID(name string, class trace.Class) trace.CategoryID {
	s.catKeys = append(s.catKeys, trace.Category{Name: name, Class: class})
	return trace.CategoryID(len(s.catKeys) - 1)
}
