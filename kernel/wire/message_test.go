package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
)

// parts are what the signatures below were computed for, with Python's hmac and the key "secret key".
var parts = [][]byte{[]byte(`{"msg_id":"1"}`), []byte(`{}`), []byte(`{}`), []byte(`{"code":"1+1"}`)}

var signatures = map[string]string{
	"hmac-md5":      "b3d536779c205b0abf8b2d6c299827cb",
	"hmac-sha1":     "dbec22c4355132eb9f2591c1d687b63847f23c3b",
	"hmac-sha224":   "8e6ca31fd4ed5db04807576db075a52a354504594339ae69501688c2",
	"hmac-sha256":   "468a4ac3fdbc17eec6c10c8e45d3a413a55e775d68c6e299fa0e12e41aba8e68",
	"hmac-sha384":   "056db357d2b123ab3cedf382ef51a82d7585b568d3d63420eec272b040173b5915d66cb0270fdaa14a5d6356ff653003",
	"hmac-sha512":   "1bb949364724b783a739fa20811b4bf487dcb37148b34234ce42d5332d7d25896f9008a3c53c6b24dbd0f2e0fcec019c48011c50287f65afe6b7fc4245d4964b",
	"hmac-sha3_256": "d48d007794fb0565234a29c4752633a5df4f18ad35cc23ecb908039f5ff5dddc",
}

func TestSignatures(t *testing.T) {
	for scheme, want := range signatures {
		s, err := NewSigner(scheme, "secret key")
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time with a hash that was used before
			if got := string(s.Sign(parts...)); got != want {
				t.Errorf("%s: got %s, want %s", scheme, got, want)
			}
		}
		if _, ok := s.Verify([]byte(want), parts...); !ok {
			t.Errorf("%s: the right signature is refused", scheme)
		}
		for _, bad := range []string{"", want[1:], want + "00", strings.Repeat("0", len(want)), "x" + want[1:], want[:len(want)-1] + "g"} {
			if _, ok := s.Verify([]byte(bad), parts...); ok {
				t.Errorf("%s: %q is accepted", scheme, bad)
			}
		}
		if _, ok := s.Verify([]byte(want), parts[1:]...); ok {
			t.Errorf("%s: the signature is accepted for other parts", scheme)
		}
	}
	if _, err := NewSigner("hmac-crc32", "key"); err == nil {
		t.Error("hmac-crc32 is accepted")
	}
}

func TestEmptyKey(t *testing.T) {
	s, err := NewSigner("", "")
	if err != nil {
		t.Fatal(err)
	}
	if sig := s.Sign(parts...); sig == nil || len(sig) != 0 {
		t.Errorf("signature: %q", sig)
	}
	c := NewCodec(s)
	m := &Message{Header: Header{MsgID: "1", Type: "t"}}
	frames, err := c.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // without signatures nothing tells a repetition
		if _, err := c.Decode(frames); err != nil {
			t.Error(err)
		}
	}
}

func newCodec(t testing.TB) *Codec {
	t.Helper()
	s, err := NewSigner("hmac-sha256", "secret key")
	if err != nil {
		t.Fatal(err)
	}
	return NewCodec(s)
}

func TestRoundTrip(t *testing.T) {
	c := newCodec(t)
	in := &Message{
		Routing: [][]byte{[]byte("id"), {}},
		Header:  Header{MsgID: "m1", Session: "s", Username: "u", Date: Date(time.Now()), Type: "execute_request", Version: "5.5"},
		Parent:  json.RawMessage(`{"msg_id":"p1","extra":{"kept":true}}`),
		Content: json.RawMessage(`{"code":"größe <b>"}`),
		Buffers: [][]byte{{}, {0, 1, 2}, bytes.Repeat([]byte{9}, 1000)},
	}
	frames, err := c.Encode(in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Decode(frames)
	if err != nil {
		t.Fatal(err)
	}
	if out.Header != in.Header {
		t.Errorf("header: got %+v", out.Header)
	}
	if string(out.Parent) != string(in.Parent) || string(out.Content) != string(in.Content) || string(out.Metadata) != "{}" {
		t.Errorf("got %s %s %s", out.Parent, out.Content, out.Metadata)
	}
	if out.ParentID() != "p1" {
		t.Errorf("parent: %q", out.ParentID())
	}
	if len(out.Routing) != 2 || len(out.Buffers) != 3 || len(out.Buffers[2]) != 1000 {
		t.Errorf("%d routing frames, %d buffers", len(out.Routing), len(out.Buffers))
	}
	if _, err := c.Decode(frames); !errors.Is(err, errReplayed) {
		t.Errorf("the same frames again: %v", err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	c := newCodec(t)
	signed := func(header, parent, metadata, content string) [][]byte {
		p := [][]byte{[]byte(header), []byte(parent), []byte(metadata), []byte(content)}
		return append([][]byte{delimiter, c.signer.Sign(p...)}, p...)
	}
	good := `{"msg_id":"1","msg_type":"x"}`
	if _, err := c.Decode(signed(good, "{}", " {}", "{}")); err != nil {
		t.Fatalf("a good message: %v", err)
	}
	for name, frames := range map[string][][]byte{
		"nothing":           {},
		"no delimiter":      {[]byte("a"), []byte("b")},
		"only a delimiter":  {delimiter},
		"content missing":   signed(good, "{}", "{}", "{}")[:5],
		"much routing":      append(make([][]byte, 17), signed(good, "{}", "{}", "{}")...),
		"null header":       signed("null", "{}", "{}", "{}"),
		"list content":      signed(good, "{}", "{}", "[]"),
		"torn content":      signed(good, "{}", "{}", `{"a":`),
		"two objects":       signed(good, "{}", "{}", "{}{}"),
		"empty parent":      signed(good, "", "{}", "{}"),
		"no type":           signed(`{"msg_id":"1"}`, "{}", "{}", "{}"),
		"type is a number":  signed(`{"msg_type":1}`, "{}", "{}", "{}"),
		"metadata a string": signed(good, "{}", `"x"`, "{}"),
	} {
		if m, err := c.Decode(frames); err == nil {
			t.Errorf("%s: got %+v", name, m)
		}
	}
}

func TestReplayGuardForgetsTheOldest(t *testing.T) {
	g := newReplayGuard(3)
	d := func(n byte) (d [16]byte) { d[0] = n; return d }
	for n := range byte(5) {
		if !g.first(d(n)) {
			t.Errorf("%d is taken for a repetition", n)
		}
	}
	for _, n := range []byte{2, 3, 4} {
		if g.first(d(n)) {
			t.Errorf("%d was forgotten", n)
		}
	}
	if !g.first(d(0)) || len(g.seen) != 3 {
		t.Errorf("it remembers %d digests", len(g.seen))
	}
}

func TestDateHasSixDigits(t *testing.T) {
	at := time.Date(2026, 12, 1, 6, 0, 0, 123456789, time.FixedZone("", 3600))
	if got := Date(at); got != "2026-12-01T05:00:00.123456Z" {
		t.Errorf("got %s", got)
	}
}

func TestNewID(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	a, b := NewID(), NewID()
	if !form.MatchString(a) || a == b {
		t.Errorf("got %q and %q", a, b)
	}
}

func TestParseConnection(t *testing.T) {
	c, err := ParseConnection([]byte(`{"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5,
		"ip": "::1", "key": "k", "signature_scheme": "hmac-sha512", "unknown": [1]}`))
	if err != nil {
		t.Fatal(err)
	}
	if network, address := c.Endpoint(c.ControlPort); network != "tcp" || address != "[::1]:4" {
		t.Errorf("endpoint: %s %s", network, address)
	}
	c, err = ParseConnection([]byte(`{"transport": "ipc", "ip": "/tmp/kernel-1-ipc", "shell_port": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	if network, address := c.Endpoint(c.ShellPort); network != "unix" || address != "/tmp/kernel-1-ipc-1" {
		t.Errorf("endpoint: %s %s", network, address)
	}
	for _, bad := range []string{``, `[]`, `{"transport": "udp"}`, `{"ip": ""}`, `{"shell_port": 70000}`, `{"hb_port": -1}`,
		`{"shell_port": "1"}`, `{"signature_scheme": "rot13"}`} {
		if c, err := ParseConnection([]byte(bad)); err == nil {
			t.Errorf("%s: got %+v", bad, c)
		}
	}
	if _, err := ParseConnectionFile("no/such/file"); err == nil {
		t.Error("a missing file is no error")
	}
}

func FuzzDecode(f *testing.F) {
	c := newCodec(f)
	frames, _ := c.Encode(&Message{Header: Header{MsgID: "1", Type: "x"}, Buffers: [][]byte{{1}}})
	f.Add(bytes.Join(frames, []byte{0}))
	f.Add([]byte("a\x00<IDS|MSG>\x00\x00{}\x00{}\x00{}\x00{}"))
	open, _ := NewSigner("", "")
	f.Fuzz(func(t *testing.T, b []byte) {
		frames := bytes.Split(b, []byte{0})
		for _, c := range []*Codec{newCodec(t), NewCodec(open)} {
			m, err := c.Decode(frames)
			if err != nil {
				continue
			}
			// What was accepted can be sent on and is accepted again.
			m.Raw = nil
			again, err := c.Encode(m)
			if err != nil {
				t.Fatal(err)
			}
			n, err := NewCodec(c.signer).Decode(again)
			if err != nil {
				t.Fatal(err)
			}
			if n.Header != m.Header || len(n.Buffers) != len(m.Buffers) {
				t.Fatalf("got %+v, want %+v", n.Header, m.Header)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	c := newCodec(b)
	m := &Message{
		Routing: [][]byte{[]byte("kernel.x.stream")},
		Header:  Header{MsgID: NewID(), Session: NewID(), Username: "u", Date: Date(time.Now()), Type: "stream", Version: "5.5"},
		Parent:  json.RawMessage(`{"msg_id":"0123456789","session":"0123456789","msg_type":"execute_request","version":"5.5"}`),
		Content: json.RawMessage(`{"name":"stdout","text":"` + strings.Repeat("x", 1000) + `"}`),
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Encode(m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	c := newCodec(b)
	frames, err := c.Encode(&Message{
		Header:  Header{MsgID: NewID(), Session: NewID(), Username: "u", Date: Date(time.Now()), Type: "execute_request", Version: "5.5"},
		Content: json.RawMessage(`{"code":"` + strings.Repeat("x", 1000) + `","silent":false,"store_history":true,"user_expressions":{}}`),
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.seen = newReplayGuard(1)
		if _, err := c.Decode(frames); err != nil {
			b.Fatal(err)
		}
	}
}
