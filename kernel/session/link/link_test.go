package link

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"reflect"
	"sync"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	sent := Run{ID: 7, Cell: 3, AllowStdin: true, Unit: Unit{Engine: EngineNative, Plugins: []string{"a.so", "b.so"}, Entry: "Cell", Vars: []Var{{"x", "int"}}}}
	go NewConn(a).Send(KindRun, sent)
	kind, body, err := NewConn(b).Receive()
	var got Run
	if err != nil || kind != KindRun || json.Unmarshal(body, &got) != nil || !reflect.DeepEqual(got, sent) {
		t.Errorf("%v %v %+v", kind, err, got)
	}
}

// TestSendersShareAConn has goroutines send at once; frames must not mix.
func TestSendersShareAConn(t *testing.T) {
	a, b := net.Pipe()
	defer b.Close()
	conn := NewConn(a)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				conn.SendRaw(KindTrace, bytes.Repeat([]byte{byte(i)}, 100+i))
			}
		})
	}
	go func() { wg.Wait(); a.Close() }()
	in := NewConn(b)
	n := 0
	for {
		kind, body, err := in.Receive()
		if err != nil {
			break
		}
		if kind != KindTrace || len(body) != 100+int(body[0]) || bytes.Count(body, body[:1]) != len(body) {
			t.Fatalf("a frame of %d bytes is mixed", len(body))
		}
		n++
	}
	if n != 400 {
		t.Errorf("%d frames, want 400", n)
	}
}

type stream struct {
	io.Reader
	io.Writer
}

func (stream) Close() error { return nil }

func TestMalformed(t *testing.T) {
	for name, b := range map[string][]byte{
		"nothing": nil, "half a head": {1, 0}, "no kind": {0, 0, 0, 0, 1}, "too long": binary.LittleEndian.AppendUint32(nil, MaxFrame+1), "cut": {10, 0, 0, 0, 1, 2},
	} {
		if _, _, err := NewConn(stream{bytes.NewReader(b), io.Discard}).Receive(); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	if err := NewConn(stream{nil, io.Discard}).SendRaw(KindTrace, make([]byte, MaxFrame)); err == nil {
		t.Error("a frame over the limit is sent")
	}
}

func FuzzReceive(f *testing.F) {
	f.Add([]byte{3, 0, 0, 0, byte(KindDone), '{', '}'})
	f.Add([]byte{1, 0, 0, 0, 9})
	f.Add([]byte{255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= 4 && binary.LittleEndian.Uint32(b) > 1<<20 {
			return // allowed, but slow to try
		}
		in := NewConn(stream{bytes.NewReader(b), io.Discard})
		kind, body, err := in.Receive()
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := NewConn(stream{nil, &out}).SendRaw(kind, body); err != nil || !bytes.HasPrefix(b, out.Bytes()) {
			t.Errorf("%v: %x became %x", err, b, out.Bytes())
		}
	})
}
