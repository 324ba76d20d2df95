package kineto

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/gander-go/gander/profiler/trace"
)

// topValue takes one key of the top-level object, which is not traceEvents.
func (m *merger) topValue(key string, raw []byte) {
	if key == "stackFrames" {
		m.frames = append([]byte(nil), raw...)
		return
	}
	text, fixed := clean(nil, raw)
	if fixed&^fixedUTF8 != 0 {
		m.lost[fixedValues]++
	}
	t := m.t
	switch key {
	case "baseTimeNanoseconds":
		if n, ok := integer(text); ok {
			t.Meta.Epoch = n
			return
		}
	case "deviceProperties", "computeProperties":
		if m.devices(text) {
			return
		}
	case "host_name":
		var host string
		if json.Unmarshal(text, &host) == nil {
			t.Meta.Host = host
			return
		}
	case "distributedInfo":
		info := object(text)
		if n, ok := integer(info["rank"]); ok && n >= 0 {
			t.Meta.Rank = int(n)
		}
		if n, ok := integer(info["world_size"]); ok && n > 0 {
			t.Meta.World = int(n)
		}
	case toolKey:
		about := object(text)
		t.Meta.Tool = string(unquoted(about["tool"]))
		t.Meta.Version = string(unquoted(about["version"]))
		t.Meta.PID, _ = integer(about["pid"])
		// What Write adds for other tools is no metadata of the recording.
		t.Meta.Values = slices.DeleteFunc(t.Meta.Values, func(v trace.KeyValue) bool { return v.Key == "schemaVersion" || v.Key == "displayTimeUnit" })
		return
	}
	m.setValue(key, string(text))
}

// toolKey is the top-level key under which Gander says that it wrote a file; classesKey the one that says which part
// categories play where their name alone does not.
const (
	toolKey    = "gander"
	classesKey = "ganderClasses"
)

// object parses a JSON object into its members as text. encoding/json alone would match keys without regard to case.
func object(text []byte) map[string]json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal(text, &o) != nil {
		return nil
	}
	return o
}

// devices reads the devices that the source describes; false when they are no list.
func (m *merger) devices(text []byte) bool {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil {
		return false
	}
	for i, raw := range list {
		if i == maxValues {
			break
		}
		p := object(raw)
		get := func(keys ...string) int64 {
			for _, k := range keys {
				if n, ok := integer(p[k]); ok {
					return n
				}
			}
			return 0
		}
		d := trace.Device{
			ID: get("id"), TotalMemory: get("totalGlobalMem"), Major: int(get("computeMajor")), Minor: int(get("computeMinor")),
			SMs: int(get("numSms")), MaxThreadsPerSM: int(get("maxThreadsPerMultiprocessor")),
			MaxThreadsPerBlk: int(get("maxThreadsPerBlock")), WarpSize: int(get("warpSize")),
			RegsPerSM: int(get("regsPerMultiprocessor", "regsPerBlock")), SharedPerSM: get("sharedMemPerMultiprocessor", "maxSharedMemoryPerMultiProcessor"),
			Extra: string(raw),
		}
		_ = json.Unmarshal(p["name"], &d.Name) // one without a name has none
		m.t.Devices = append(m.t.Devices, d)
	}
	return true
}

// fileClasses reads what the file says about its categories.
func fileClasses(raw []byte) map[string]trace.Class {
	classes := make(map[string]trace.Class)
	for name, v := range object(raw) {
		if n, ok := integer(v); ok && n >= 0 && n < int64(trace.NumClasses) {
			classes[name] = trace.Class(n)
		}
	}
	return classes
}

// stackFrames turns the frames of a Chrome trace into stacks and resolves what refers to them.
func (m *merger) sampleStacks() {
	if m.samples.n == 0 {
		return
	}
	frames := object(m.frames)
	x := m.t.StackIndex()
	known := make(map[string]trace.StackID)
	var resolve func(id string, depth int) trace.StackID
	resolve = func(id string, depth int) trace.StackID {
		if s, ok := known[id]; ok {
			return s
		}
		raw, ok := frames[id]
		if !ok || depth > maxDepth {
			return 0
		}
		known[id] = 0 // a frame that is its own ancestor ends here
		f := object(raw)
		var parent trace.StackID
		if p, ok := f["parent"]; ok {
			parent = resolve(idText(p), depth+1)
		}
		var name, file string
		_ = json.Unmarshal(f["name"], &name)
		_ = json.Unmarshal(f["category"], &file)
		line, _ := integer(f["line"])
		known[id] = x.Push(parent, x.Frame(name, file, int32(line)))
		return known[id]
	}
	for _, s := range m.samples.take(0) {
		m.t.Samples = append(m.t.Samples, trace.Sample{
			Time: s.time, Track: s.track, Stack: resolve(m.t.Strings.Get(s.frame), 0), Kind: trace.SampleCPU, Weight: s.weight, Count: 1,
		})
	}
}

// idText is the id of a stack frame, written as a number or as a string.
func idText(v []byte) string {
	v = bytes.TrimSpace(v)
	if n, ok := integer(v); ok {
		return strconv.FormatInt(n, 10)
	}
	return string(unquoted(v))
}
