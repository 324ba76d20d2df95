package kineto

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// Write writes t as Chrome trace JSON in Kineto's spelling, for Perfetto, chrome://tracing and PyTorch's tools. It
// streams and does not compress. Times are written exactly, as microseconds with three decimals.
//
// What has no place in the format is left out: samples without time, devices of counters, attachments. Everything else
// comes back from Read.
func Write(w io.Writer, t *trace.Trace, opt WriteOptions) error {
	x := &writer{w: w, t: t, b: make([]byte, 0, 2*flushAt)}
	x.place()
	x.header(opt)
	x.metadata()
	x.slices()
	x.memory()
	x.instants()
	x.counters()
	x.samples()
	x.flows()
	x.footer()
	if x.err != nil {
		return fmt.Errorf("writing kineto trace: %w", x.err)
	}
	return nil
}

const flushAt = 256 << 10

// writer appends to b and writes it out when it is long. The first error ends all writing.
type writer struct {
	w   io.Writer
	t   *trace.Trace
	b   []byte
	err error

	first  bool // no event has been written yet
	places []string
	valid  []int8 // by string id: whether the text is a JSON object (2), other JSON (1) or none (-1); 0 is unknown
	quoted []string
	used   []bool // by stack id: a sample refers to it
}

func (x *writer) flush() {
	if x.err == nil {
		_, x.err = x.w.Write(x.b)
	}
	x.b = x.b[:0]
}

// place decides on the pid and tid of every track: its own ones, unless two tracks would share them.
func (x *writer) place() {
	type pair struct{ pid, tid string }
	used := make(map[pair]bool, len(x.t.Tracks))
	x.places = make([]string, len(x.t.Tracks))
	for i := range x.t.Tracks {
		k := &x.t.Tracks[i]
		p := pair{x.pid(k.Process), x.key(k.Key, k.ID)}
		if k.Kind == trace.TrackOther && (strings.HasPrefix(k.Key, asyncKey) || strings.HasPrefix(k.Key, stateKey)) {
			p.tid = strconv.FormatInt(k.ID, 10) // shares the thread's by intent
		} else if used[p] {
			p.tid = strconv.FormatInt(1<<40+int64(i), 10)
		}
		used[p] = true
		x.places[i] = `,"pid":` + p.pid + `,"tid":` + p.tid
	}
}

func (x *writer) pid(p trace.ProcessID) string {
	if p < 0 || int(p) >= len(x.t.Processes) {
		return "0"
	}
	return x.key(x.t.Processes[p].Key, x.t.Processes[p].PID)
}

// key writes a pid or tid, which is a number unless the source had a string.
func (x *writer) key(key string, id int64) string {
	switch key {
	case "":
		return strconv.FormatInt(id, 10)
	case emptyKey:
		return `""`
	}
	return string(quote(nil, key))
}

func (x *writer) header(opt WriteOptions) {
	m := &x.t.Meta
	x.b = append(x.b, '{')
	has := func(key string) bool {
		for _, v := range m.Values {
			if v.Key == key {
				return true
			}
		}
		return false
	}
	live := m.Tool != "chrome" && m.Tool != "pytorch"
	if live && !has("schemaVersion") {
		x.top("schemaVersion", "1")
	}
	if d := x.devices(); d != "[]" {
		x.top("deviceProperties", d)
	}
	for _, v := range m.Values {
		if json.Valid([]byte(v.Value)) && (opt.Host || !private[v.Key]) {
			x.top(v.Key, v.Value)
		}
	}
	if opt.Host && m.Host != "" {
		x.top("host_name", string(quote(nil, m.Host)))
	}
	if m.Rank >= 0 && m.World > 0 && !has("distributedInfo") {
		x.top("distributedInfo", fmt.Sprintf(`{"rank":%d,"world_size":%d}`, m.Rank, m.World))
	}
	if live && !has("displayTimeUnit") {
		x.top("displayTimeUnit", `"ms"`)
	}
	if live && m.Tool != "" {
		x.top(toolKey, fmt.Sprintf(`{"tool":%s,"version":%s,"pid":%d}`, quote(nil, m.Tool), quote(nil, m.Version), m.PID))
	}
	if c := x.classes(); c != "{}" {
		x.top(classesKey, c)
	}
	if m.Epoch != 0 {
		x.top("baseTimeNanoseconds", strconv.FormatInt(m.Epoch, 10))
	}
	x.b = append(x.b, "\n\"traceEvents\":["...)
	x.first = true
}

// private are the keys of metadata that are known to hold names or environments: "metadata" is what some tools dump the
// whole environment to, tokens included.
var private = map[string]bool{
	"host_name": true, "hostname": true, "host": true, "username": true, "user_name": true, "user": true, "tw_user": true,
	"metadata": true, "environment": true, "env": true, "mast_job_environment": true,
}

// top writes one member of the top-level object.
func (x *writer) top(key, value string) {
	x.b = append(quote(append(x.b, '\n'), key), ':')
	x.b = append(append(x.b, value...), ',')
}

// classes lists the categories whose class Read would not guess from the name.
func (x *writer) classes() string {
	b := []byte{'{'}
	seen := make(map[string]bool)
	for _, c := range x.t.Categories {
		if c.Class == classOf(c.Name) || c.Class == trace.ClassStep || seen[c.Name] {
			continue
		}
		seen[c.Name] = true
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(quote(b, c.Name), ':'), int64(c.Class), 10)
	}
	return string(append(b, '}'))
}

func (x *writer) devices() string {
	b := []byte{'['}
	for i := range x.t.Devices {
		d := &x.t.Devices[i]
		if *d == (trace.Device{ID: d.ID}) {
			continue // only its id is known, which its work says as well
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		if json.Valid([]byte(d.Extra)) {
			b = append(b, d.Extra...)
			continue
		}
		b = append(b, fmt.Sprintf(`{"id":%d,"name":%s,"totalGlobalMem":%d,"computeMajor":%d,"computeMinor":%d,"maxThreadsPerBlock":%d,`+
			`"maxThreadsPerMultiprocessor":%d,"regsPerMultiprocessor":%d,"warpSize":%d,"sharedMemPerMultiprocessor":%d,"numSms":%d}`,
			d.ID, quote(nil, d.Name), d.TotalMemory, d.Major, d.Minor, d.MaxThreadsPerBlk, d.MaxThreadsPerSM, d.RegsPerSM, d.WarpSize, d.SharedPerSM, d.SMs)...)
	}
	return string(append(b, ']'))
}

// event begins an event; the caller writes its members and then calls end.
func (x *writer) event(phase byte) {
	if len(x.b) > flushAt {
		x.flush()
	}
	if x.first {
		x.first = false
	} else {
		x.b = append(x.b, ',')
	}
	x.b = append(append(append(x.b, "\n{\"ph\":\""...), phase), '"')
}

func (x *writer) end() { x.b = append(x.b, '}') }

// name writes category and name; an empty category is left out.
func (x *writer) name(cat string, name trace.StringID) {
	if cat != "" {
		x.b = quote(append(x.b, `,"cat":`...), cat)
	}
	x.b = append(x.b, `,"name":`...)
	x.string(name)
}

// string writes an interned string, quoted once.
func (x *writer) string(id trace.StringID) {
	if x.quoted == nil {
		x.quoted = make([]string, x.t.Strings.Len())
	}
	if int(id) >= len(x.quoted) {
		x.b = append(x.b, `""`...)
		return
	}
	if x.quoted[id] == "" {
		x.quoted[id] = string(quote(nil, x.t.Strings.Get(id)))
	}
	x.b = append(x.b, x.quoted[id]...)
}

// on writes pid and tid of a track.
func (x *writer) on(k trace.TrackID) {
	if k < 0 || int(k) >= len(x.places) {
		x.b = append(x.b, `,"pid":"","tid":""`...) // nobody's, as Kineto writes it
		return
	}
	x.b = append(x.b, x.places[k]...)
}

// time writes a time under key.
func (x *writer) time(key string, ns int64) {
	x.b = microseconds(append(append(append(x.b, ',', '"'), key...), '"', ':'), ns)
}

// microseconds appends ns as microseconds with three decimals.
func microseconds(b []byte, ns int64) []byte {
	u := uint64(ns)
	if ns < 0 {
		b, u = append(b, '-'), -u
	}
	b = strconv.AppendUint(b, u/1000, 10)
	f := u % 1000
	return append(b, '.', byte('0'+f/100), byte('0'+f/10%10), byte('0'+f%10))
}

func (x *writer) metadata() {
	note := func(name, where, key, value string) {
		x.event('M')
		x.b = append(append(append(append(x.b, `,"name":"`...), name...), '"'), where...)
		x.b = append(append(append(append(x.b, `,"ts":0,"args":{"`...), key...), '"', ':'), value...)
		x.b = append(x.b, '}')
		x.end()
	}
	for i := range x.t.Processes {
		p := &x.t.Processes[i]
		where := `,"pid":` + x.pid(trace.ProcessID(i)) + `,"tid":0`
		if p.Name != "" {
			note("process_name", where, "name", string(quote(nil, p.Name)))
		}
		if p.Labels != "" {
			note("process_labels", where, "labels", string(quote(nil, p.Labels)))
		}
		note("process_sort_index", where, "sort_index", strconv.FormatInt(p.Sort, 10))
	}
	for i := range x.t.Tracks {
		k := &x.t.Tracks[i]
		if k.Kind == trace.TrackOther && (strings.HasPrefix(k.Key, asyncKey) || strings.HasPrefix(k.Key, stateKey)) {
			continue
		}
		if k.Name != "" {
			note("thread_name", x.places[i], "name", string(quote(nil, k.Name)))
		}
		note("thread_sort_index", x.places[i], "sort_index", strconv.FormatInt(k.Sort, 10))
	}
}

func (x *writer) slices() {
	t := x.t
	for i := range t.Slices {
		s := &t.Slices[i]
		k := &t.Tracks[s.Track]
		cat := t.Categories[s.Cat].Name
		switch {
		case s.Flags&trace.FlagAsync != 0:
			id := s.Ext
			if !strings.HasPrefix(k.Key, asyncKey) {
				id = 1<<40 + int64(i) // not an id of its own: one that no other has
			}
			x.event('b')
			x.id(id)
			x.name(cat, s.Name)
			x.on(s.Track)
			x.time("ts", s.Start)
			x.args(s)
			x.end()
			x.event('e')
			x.id(id)
			x.name(cat, s.Name)
			x.on(s.Track)
			x.time("ts", s.End())
			x.end()
			continue
		case strings.HasPrefix(k.Key, stateKey):
			x.event('T')
		default:
			x.event('X')
		}
		x.name(cat, s.Name)
		x.on(s.Track)
		x.time("ts", s.Start)
		x.time("dur", s.Dur)
		x.args(s)
		x.end()
	}
}

// id writes the id of an event as a hexadecimal string, which no reader takes through a float64.
func (x *writer) id(id int64) {
	x.b = append(strconv.AppendUint(append(x.b, `,"id":"0x`...), uint64(id), 16), '"')
}

func (x *writer) instants() {
	t := x.t
	window := t.Meta.Tool != "gander"
	for i := range t.Instants {
		n := &t.Instants[i]
		window = window || t.Strings.Get(n.Name) == windowEnd
		x.event('i')
		x.b = append(append(append(x.b, `,"s":"`...), scope(n.Scope)), '"')
		x.name(t.Categories[n.Cat].Name, n.Name)
		x.on(n.Track)
		x.time("ts", n.Time)
		if n.Args != 0 && x.kind(n.Args) == isObject {
			x.b = append(append(x.b, `,"args":`...), t.Strings.Get(n.Args)...)
		}
		x.end()
	}
	if !window {
		x.event('i')
		x.b = append(append(x.b, `,"s":"g","name":"`+windowEnd+`"`...), `,"pid":"","tid":""`...)
		x.time("ts", t.Meta.End)
		x.end()
	}
}

// windowEnd names the instant that says how long the recording went on.
const windowEnd = "Record Window End"

func scope(s byte) byte {
	if s == 'g' || s == 'p' {
		return s
	}
	return 't'
}

func (x *writer) counters() {
	for i := range x.t.Counters {
		c := &x.t.Counters[i]
		series := valueSeries
		if units[c.Unit] {
			series = c.Unit
		}
		head := append(quote([]byte(`,"name":`), c.Name), `,"pid":`+x.pid(c.Process)+`,"tid":0`...)
		for j, at := range c.Times {
			v := c.Values[j]
			if math.IsNaN(v) || math.IsInf(v, 0) {
				continue
			}
			x.event('C')
			x.b = append(x.b, head...)
			x.time("ts", at)
			x.b = append(append(append(x.b, `,"args":{"`...), series...), '"', ':')
			x.b = append(strconv.AppendFloat(x.b, v, 'g', -1, 64), '}')
			x.end()
		}
	}
}
