package worker

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/gander-go/gander/kernel/session/link"
)

// traceChunk is how much of a trace travels in one frame.
const traceChunk = 1 << 20

// record starts or stops the recorder. After a stop the trace travels in Trace frames ahead of the reply.
func (p *process) record(m *link.Record) {
	reply := link.RecordReply{ID: m.ID}
	if err := p.doRecord(m); err != nil {
		reply.Err = err.Error()
	}
	p.conn.Send(link.KindRecordReply, reply)
}

func (p *process) doRecord(m *link.Record) (err error) {
	r := registry.recorder
	if r == nil {
		return errors.New("this session process has no profiler")
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the profiler panicked: %v", v)
		}
	}()
	switch m.Op {
	case "start":
		return r.Start(m.Options)
	case "stop":
		trace, err := r.Stop()
		if err != nil {
			return err
		}
		w := bufio.NewWriterSize(chunkWriter{p.conn}, traceChunk)
		if _, err := trace.WriteTo(w); err != nil {
			return fmt.Errorf("writing trace: %w", err)
		}
		return w.Flush()
	}
	return fmt.Errorf("unknown recording operation %q", m.Op)
}

// chunkWriter sends what is written as Trace frames.
type chunkWriter struct{ conn *link.Conn }

func (w chunkWriter) Write(b []byte) (int, error) {
	for n := 0; n < len(b); n += traceChunk {
		if err := w.conn.SendRaw(link.KindTrace, b[n:min(n+traceChunk, len(b))]); err != nil {
			return n, err
		}
	}
	return len(b), nil
}

var _ io.Writer = chunkWriter{}
