package trace

// The functions of this file code one row of a table each; prev is the row before it, the zero row for the first.
// Changing one changes the file form: raise version.

func (w *wire) meta(m *Meta) {
	w.str(&m.Tool)
	w.str(&m.Version)
	w.str(&m.Host)
	num(w, &m.PID)
	num(w, &m.Rank)
	num(w, &m.World)
	num(w, &m.Epoch)
	num(w, &m.Start)
	num(w, &m.End)
	n := w.length(len(m.Values))
	for i := range n {
		if w.decoding {
			m.Values = append(m.Values, KeyValue{})
		}
		w.str(&m.Values[i].Key)
		w.str(&m.Values[i].Value)
	}
}

func (w *wire) category(c, _ *Category) {
	w.str(&c.Name)
	num(w, &c.Class)
}

func (w *wire) process(p, _ *Process) {
	num(w, &p.PID)
	w.str(&p.Key)
	w.str(&p.Name)
	w.str(&p.Labels)
	num(w, &p.Sort)
	num(w, &p.Device)
}

func (w *wire) track(t, _ *Track) {
	num(w, &t.Process)
	num(w, &t.Kind)
	num(w, &t.ID)
	w.str(&t.Key)
	w.str(&t.Name)
	num(w, &t.Sort)
	num(w, &t.Device)
	num(w, &t.Context)
}

func (w *wire) slice(s, prev *Slice) {
	diff(w, &s.Track, prev.Track)
	diff(w, &s.Start, prev.Start)
	num(w, &s.Dur)
	diff(w, &s.Corr, prev.Corr)
	diff(w, &s.Ext, prev.Ext)
	num(w, &s.Name)
	num(w, &s.Cat)
	num(w, &s.Kind)
	diff(w, &s.Args, prev.Args)
	num(w, &s.Flags)
}

func (w *wire) instant(e, prev *Instant) {
	diff(w, &e.Time, prev.Time)
	num(w, &e.Track)
	num(w, &e.Name)
	num(w, &e.Cat)
	num(w, &e.Scope)
	num(w, &e.Args)
}

func (w *wire) flow(f, prev *Flow) {
	num(w, &f.Kind)
	diff(w, &f.ID, prev.ID)
	num(w, &f.Name)
	num(w, &f.Cat)
	num(w, &f.FromTrack)
	num(w, &f.ToTrack)
	diff(w, &f.FromTime, prev.FromTime)
	diff(w, &f.ToTime, prev.ToTime)
	diff(w, &f.From, prev.From)
	diff(w, &f.To, prev.To)
}

func (w *wire) counter(c, _ *Counter) {
	w.str(&c.Name)
	w.str(&c.Unit)
	num(w, &c.Process)
	num(w, &c.Track)
	num(w, &c.Device)
	n := w.length(len(c.Times))
	var prev int64
	for i := range n {
		if w.decoding {
			if w.err != nil {
				return
			}
			c.Times, c.Values = append(c.Times, 0), append(c.Values, 0)
		}
		diff(w, &c.Times[i], prev)
		w.f64(&c.Values[i])
		prev = c.Times[i]
	}
}

func (w *wire) memory(m, prev *MemEvent) {
	diff(w, &m.Time, prev.Time)
	num(w, &m.Track)
	num(w, &m.Space)
	w.flag(&m.OOM)
	num(w, &m.Device)
	num(w, &m.Name)
	num(w, &m.Stack)
	w.u64(&m.Addr)
	num(w, &m.Bytes)
	diff(w, &m.Allocated, prev.Allocated)
	diff(w, &m.Reserved, prev.Reserved)
	num(w, &m.DeviceRaw)
	num(w, &m.IDRaw)
	num(w, &m.Index)
}

func (w *wire) stack(s, _ *Stack) {
	num(w, &s.Parent)
	num(w, &s.Frame)
}

func (w *wire) frame(f, _ *Frame) {
	num(w, &f.Func)
	num(w, &f.File)
	num(w, &f.Line)
}

func (w *wire) sample(s, prev *Sample) {
	// The difference to NoTime would overflow the same way in both directions, which is fine: it is modular.
	diff(w, &s.Time, prev.Time)
	num(w, &s.Track)
	num(w, &s.Stack)
	num(w, &s.Kind)
	num(w, &s.Weight)
	num(w, &s.Count)
	num(w, &s.Span)
}

func (w *wire) op(a, prev *OpArgs) {
	num(w, &a.Dims)
	num(w, &a.Strides)
	num(w, &a.Types)
	num(w, &a.Concrete)
	num(w, &a.Stack)
	num(w, &a.StackText)
	num(w, &a.Module)
	num(w, &a.Sequence)
	num(w, &a.FwdThread)
	num(w, &a.FLOPs)
	num(w, &a.Bytes)
	diff(w, &a.RecordFunc, prev.RecordFunc)
	diff(w, &a.Index, prev.Index)
	num(w, &a.Extra)
}

func (w *wire) call(a, prev *CallArgs) {
	num(w, &a.Stack)
	diff(w, &a.ID, prev.ID)
	diff(w, &a.Parent, prev.Parent)
	num(w, &a.Module)
	num(w, &a.Shapes)
	diff(w, &a.Index, prev.Index)
	num(w, &a.Extra)
}

func (w *wire) kernel(a, _ *KernelArgs) {
	for i := range a.Grid {
		num(w, &a.Grid[i])
		num(w, &a.Block[i])
	}
	num(w, &a.Registers)
	num(w, &a.SharedMem)
	w.f32(&a.BlocksPerSM)
	w.f32(&a.WarpsPerSM)
	w.f32(&a.Occupancy)
	num(w, &a.Device)
	num(w, &a.Context)
	num(w, &a.Stream)
	num(w, &a.Queued)
	num(w, &a.GraphID)
	num(w, &a.GraphNode)
	num(w, &a.Extra)
}

func (w *wire) copy(a, _ *CopyArgs) {
	num(w, &a.Bytes)
	w.f64(&a.Bandwidth)
	num(w, &a.Device)
	num(w, &a.Context)
	num(w, &a.Stream)
	num(w, &a.GraphID)
	num(w, &a.GraphNode)
	num(w, &a.Extra)
}

func (w *wire) sync(a, _ *SyncArgs) {
	num(w, &a.Kind)
	num(w, &a.Device)
	num(w, &a.Context)
	num(w, &a.Stream)
	num(w, &a.WaitStream)
	num(w, &a.WaitEvent)
	num(w, &a.WaitRecordCorr)
	num(w, &a.Extra)
}

func (w *wire) generic(a, _ *GenericArgs) { num(w, &a.JSON) }

func (w *wire) device(d, _ *Device) {
	num(w, &d.ID)
	w.str(&d.Name)
	num(w, &d.TotalMemory)
	num(w, &d.Major)
	num(w, &d.Minor)
	num(w, &d.SMs)
	num(w, &d.MaxThreadsPerSM)
	num(w, &d.MaxThreadsPerBlk)
	num(w, &d.WarpSize)
	num(w, &d.RegsPerSM)
	num(w, &d.SharedPerSM)
	w.str(&d.Extra)
}

func (w *wire) problem(p, _ *Problem) {
	w.str(&p.Kind)
	num(w, &p.Count)
	w.str(&p.Text)
	w.str(&p.Remedy)
}

func (w *wire) attachment(a, _ *Attachment) {
	w.str(&a.Kind)
	w.bytes(&a.Data)
}
