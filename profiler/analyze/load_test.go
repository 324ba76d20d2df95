package analyze

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"math/big"
	"os"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/gander-go/gander/profiler/trace"
)

// readTrace reads a Kineto file.
func readTrace(t testing.TB, path string) *trace.Trace {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	return naiveRead(t, r)
}

type J = map[string]any

func ns(v any) int64 {
	s := ""
	switch n := v.(type) {
	case json.Number:
		s = n.String()
	case string:
		s = n
	}
	if s == "" {
		return 0
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return 0
	}
	r.Mul(r, big.NewRat(1000, 1))
	f, _ := r.Float64()
	if r.IsInt() {
		return r.Num().Int64()
	}
	return int64(f)
}

func num(v any) int64 {
	switch n := v.(type) {
	case json.Number:
		i, err := n.Int64()
		if err != nil {
			f, _ := n.Float64()
			return int64(f)
		}
		return i
	case string:
		i, _ := strconv.ParseInt(n, 10, 64)
		return i
	}
	return 0
}

func flt(v any) float64 {
	if n, ok := v.(json.Number); ok {
		f, _ := n.Float64()
		return f
	}
	return -1
}

func naiveRead(tb testing.TB, r io.Reader) *trace.Trace {
	var doc J
	d := json.NewDecoder(r)
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		tb.Fatal(err)
	}
	t := &trace.Trace{}
	t.Meta.Tool = "pytorch"
	t.Meta.Rank = trace.NoRank
	t.Ops = make([]trace.OpArgs, 1)
	t.Calls = make([]trace.CallArgs, 1)
	t.Kernels = make([]trace.KernelArgs, 1)
	t.Copies = make([]trace.CopyArgs, 1)
	t.Syncs = make([]trace.SyncArgs, 1)
	t.Generics = make([]trace.GenericArgs, 1)
	t.Stacks = make([]trace.Stack, 1)
	classes := map[string]trace.Class{"cpu_op": trace.ClassOp, "operator": trace.ClassOp, "user_annotation": trace.ClassAnnotation,
		"cuda_runtime": trace.ClassRuntime, "runtime": trace.ClassRuntime, "cuda_driver": trace.ClassDriver, "kernel": trace.ClassKernel,
		"gpu_memcpy": trace.ClassMemcpy, "memcpy": trace.ClassMemcpy, "gpu_memset": trace.ClassMemset, "memset": trace.ClassMemset,
		"gpu_user_annotation": trace.ClassDeviceAnnotation, "cuda_sync": trace.ClassSync, "overhead": trace.ClassOverhead,
		"python_function": trace.ClassPython, "trace": trace.ClassTool, "mtia_runtime": trace.ClassRuntime, "mtia_ccp_events": trace.ClassKernel}
	if di, ok := doc["distributedInfo"].(J); ok {
		t.Meta.Rank = int(num(di["rank"]))
		t.Meta.World = int(num(di["world_size"]))
		b, _ := json.Marshal(di)
		t.Meta.Values = append(t.Meta.Values, trace.KeyValue{Key: "distributedInfo", Value: string(b)})
	}
	if dp, ok := doc["deviceProperties"].([]any); ok {
		for _, v := range dp {
			p := v.(J)
			n, _ := p["name"].(string)
			t.Devices = append(t.Devices, trace.Device{ID: num(p["id"]), Name: n, TotalMemory: num(p["totalGlobalMem"]), Major: int(num(p["computeMajor"])), Minor: int(num(p["computeMinor"])), SMs: int(num(p["numSms"]))})
		}
	}
	dev := map[int64]trace.DeviceID{}
	for i := range t.Devices {
		dev[t.Devices[i].ID] = trace.DeviceID(i)
	}
	device := func(id int64) trace.DeviceID {
		if d, ok := dev[id]; ok {
			return d
		}
		d := trace.DeviceID(len(t.Devices))
		t.Devices = append(t.Devices, trace.Device{ID: id})
		dev[id] = d
		return d
	}
	tracks := map[[2]string]trace.TrackID{}
	str := func(v any) string {
		switch s := v.(type) {
		case string:
			return s
		case json.Number:
			return s.String()
		}
		return ""
	}
	jsonText := func(v any) trace.StringID {
		if v == nil {
			return 0
		}
		b, _ := json.Marshal(v)
		return t.Strings.ID(string(b))
	}
	procs := map[string]trace.ProcessID{}
	track := func(e J, onDev bool) trace.TrackID {
		k := [2]string{str(e["pid"]), str(e["tid"])}
		if id, ok := tracks[k]; ok {
			return id
		}
		p, ok := procs[k[0]]
		if !ok {
			p = trace.ProcessID(len(t.Processes))
			t.Processes = append(t.Processes, trace.Process{PID: num(e["pid"]), Device: trace.NoDevice})
			procs[k[0]] = p
		}
		tr := trace.Track{Process: p, ID: num(strings.TrimPrefix(k[1], "stream ")), Device: trace.NoDevice}
		if k[1] != "" && onDev {
			tr.ID, _ = strconv.ParseInt(strings.TrimPrefix(k[1], "stream "), 10, 64)
		}
		if onDev {
			tr.Kind = trace.TrackStream
			tr.Device = device(num(e["pid"]))
		}
		id := trace.TrackID(len(t.Tracks))
		t.Tracks = append(t.Tracks, tr)
		tracks[k] = id
		return id
	}
	get := func(a J, keys ...string) any {
		for _, k := range keys {
			if v, ok := a[k]; ok {
				return v
			}
		}
		return nil
	}
	starts := map[int64]J{}
	for _, v := range doc["traceEvents"].([]any) {
		e := v.(J)
		args, _ := e["args"].(J)
		cat, _ := e["cat"].(string)
		name, _ := e["name"].(string)
		switch str(e["ph"]) {
		case "X":
			cl := classes[strings.ToLower(cat)]
			if (cl == trace.ClassOp || cl == trace.ClassAnnotation) && strings.HasPrefix(name, "ProfilerStep#") {
				cl = trace.ClassStep
			}
			s := trace.Slice{Start: ns(e["ts"]), Dur: max(0, ns(e["dur"])), Name: t.Strings.ID(name), Cat: t.Category(cat, cl)}
			s.Ext = num(get(args, "External id", "external id"))
			s.Corr = num(get(args, "correlation"))
			s.Track = track(e, cl.OnDevice() || cl == trace.ClassSync)
			switch {
			case cl == trace.ClassOp || cl == trace.ClassAnnotation || cl == trace.ClassStep:
				op := trace.OpArgs{Sequence: trace.NoSequence}
				if v, ok := args["Sequence number"]; ok {
					op.Sequence = num(v)
				}
				op.FwdThread = num(get(args, "Fwd thread id"))
				op.Dims = jsonText(get(args, "Input Dims", "Input dims"))
				op.Types = jsonText(get(args, "Input type"))
				op.StackText = t.Strings.ID(str(get(args, "Call stack")))
				s.Kind, s.Args = trace.ArgOp, uint32(len(t.Ops))
				t.Ops = append(t.Ops, op)
			case cl == trace.ClassKernel:
				k := trace.KernelArgs{BlocksPerSM: -1, Occupancy: -1, Registers: -1, SharedMem: -1}
				if v, ok := args["blocks per SM"]; ok {
					k.BlocksPerSM = float32(flt(v))
				}
				if v, ok := args["est. achieved occupancy %"]; ok {
					k.Occupancy = float32(flt(v))
				}
				k.Registers = int32(num(args["registers per thread"]))
				k.SharedMem = int32(num(args["shared memory"]))
				for i := range 3 {
					if g, ok := args["grid"].([]any); ok && i < len(g) {
						k.Grid[i] = int32(num(g[i]))
					}
					if g, ok := args["block"].([]any); ok && i < len(g) {
						k.Block[i] = int32(num(g[i]))
					}
				}
				k.Device = t.Tracks[s.Track].Device
				k.Stream = num(args["stream"])
				s.Kind, s.Args = trace.ArgKernel, uint32(len(t.Kernels))
				t.Kernels = append(t.Kernels, k)
			case cl == trace.ClassMemcpy || cl == trace.ClassMemset:
				c := trace.CopyArgs{Bytes: num(args["bytes"]), Device: t.Tracks[s.Track].Device, Stream: num(args["stream"])}
				if v, ok := args["memory bandwidth (GB/s)"]; ok {
					c.Bandwidth = flt(v)
				}
				s.Kind, s.Args = trace.ArgCopy, uint32(len(t.Copies))
				t.Copies = append(t.Copies, c)
			case cl == trace.ClassPython:
				c := trace.CallArgs{ID: -1, Parent: -1, Module: -1}
				if v, ok := args["Python id"]; ok {
					c.ID = num(v)
				}
				if v, ok := args["Python parent id"]; ok {
					c.Parent = num(v)
				}
				if v, ok := args["Python module id"]; ok {
					c.Module = num(v)
				}
				s.Kind, s.Args = trace.ArgCall, uint32(len(t.Calls))
				t.Calls = append(t.Calls, c)
			case cl == trace.ClassSync:
				y := trace.SyncArgs{Stream: num(args["stream"]), WaitRecordCorr: num(args["wait_on_cuda_event_record_corr_id"]), WaitStream: num(args["wait_on_stream"])}
				s.Kind, s.Args = trace.ArgSync, uint32(len(t.Syncs))
				t.Syncs = append(t.Syncs, y)
			}
			t.Slices = append(t.Slices, s)
		case "i":
			if name != "[memory]" && name != "[OutOfMemory]" {
				continue
			}
			m := trace.MemEvent{Time: ns(e["ts"]), Track: track(e, false), OOM: name == "[OutOfMemory]", Addr: uint64(num(args["Addr"])), Bytes: num(args["Bytes"]), Allocated: -1, Reserved: -1, Device: trace.NoDevice}
			if num(args["Device Type"]) != 0 {
				m.Space = trace.MemDevice
				m.Device = device(num(args["Device Id"]))
			}
			if v, ok := args["Total Allocated"]; ok {
				m.Allocated = num(v)
			}
			if v, ok := args["Total Reserved"]; ok {
				m.Reserved = num(v)
			}
			t.Memory = append(t.Memory, m)
		case "s":
			if cat == "fwdbwd" || cat == "forward_backward" {
				starts[num(e["id"])] = e
			}
		case "f":
			if s, ok := starts[num(e["id"])]; ok && (cat == "fwdbwd" || cat == "forward_backward") {
				t.Flows = append(t.Flows, trace.Flow{Kind: trace.FlowBackward, ID: num(e["id"]), FromTrack: track(s, false), ToTrack: track(e, false), FromTime: ns(s["ts"]), ToTime: ns(e["ts"]), From: trace.NoSlice, To: trace.NoSlice})
			}
		}
	}
	sort.SliceStable(t.Slices, func(i, j int) bool {
		a, b := &t.Slices[i], &t.Slices[j]
		if a.Track != b.Track {
			return a.Track < b.Track
		}
		if a.Start != b.Start {
			return a.Start < b.Start
		}
		return a.Dur > b.Dur
	})
	sort.SliceStable(t.Memory, func(i, j int) bool { return t.Memory[i].Time < t.Memory[j].Time })
	return t
}
