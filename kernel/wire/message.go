package wire

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// ProtocolVersion is the messaging protocol the kernel speaks.
const ProtocolVersion = "5.5"

// delimiter separates routing frames from the message.
var delimiter = []byte("<IDS|MSG>")

// Header is the header of a message.
type Header struct {
	MsgID      string `json:"msg_id"`
	Session    string `json:"session"`
	Username   string `json:"username"`
	Date       string `json:"date"`
	Type       string `json:"msg_type"`
	Version    string `json:"version"`
	SubshellID string `json:"subshell_id,omitempty"`
}

// Message is a message as it was received, or as it is about to be sent. The raw fields are JSON objects.
//
//	[routing …] <IDS|MSG> signature header parent_header metadata content [buffers …]
type Message struct {
	Routing  [][]byte // frames in front of the delimiter; on IOPub the topic
	Header   Header
	Raw      json.RawMessage // the header's own bytes, which replies carry as their parent header
	Parent   json.RawMessage
	Metadata json.RawMessage
	Content  json.RawMessage
	Buffers  [][]byte
}

// ParentID returns the msg_id of the message's parent, empty when it has none.
func (m *Message) ParentID() string {
	var h struct {
		MsgID string `json:"msg_id"`
	}
	if json.Unmarshal(m.Parent, &h) != nil {
		return ""
	}
	return h.MsgID
}

var (
	errNoDelimiter = errors.New("no delimiter frame")
	errFewFrames   = errors.New("fewer than five frames after the delimiter")
	errSignature   = errors.New("wrong signature")
	errReplayed    = errors.New("signature was seen before")
)

// maxRouting bounds the routing frames in front of the delimiter.
const maxRouting = 16

// Codec turns messages into signed frames and back. It is safe for concurrent use.
type Codec struct {
	signer *Signer
	seen   *replayGuard
}

// NewCodec makes a codec that signs with s.
func NewCodec(s *Signer) *Codec { return &Codec{signer: s, seen: newReplayGuard(replayMemory)} }

var emptyObject = json.RawMessage("{}")

// Encode returns the frames of m. The header is taken from m.Raw when that is set, else marshalled.
func (c *Codec) Encode(m *Message) ([][]byte, error) {
	header := m.Raw
	if header == nil {
		b, err := json.Marshal(&m.Header)
		if err != nil {
			return nil, fmt.Errorf("encoding header of %q: %w", m.Header.Type, err)
		}
		header = b
	}
	parts := [4][]byte{header, orEmpty(m.Parent), orEmpty(m.Metadata), orEmpty(m.Content)}
	frames := make([][]byte, 0, len(m.Routing)+6+len(m.Buffers))
	frames = append(frames, m.Routing...)
	frames = append(frames, delimiter, c.signer.Sign(parts[0], parts[1], parts[2], parts[3]))
	frames = append(frames, parts[:]...)
	return append(frames, m.Buffers...), nil
}

func orEmpty(b json.RawMessage) json.RawMessage {
	if len(b) == 0 || string(b) == "null" {
		return emptyObject
	}
	return b
}

// Decode verifies frames and returns the message in them, which aliases them. A wrong or repeated signature, and anything
// that is not a message, is an error: such frames are dropped without an answer.
func (c *Codec) Decode(frames [][]byte) (*Message, error) {
	i := 0
	for i < len(frames) && !bytes.Equal(frames[i], delimiter) {
		if i++; i > maxRouting {
			return nil, fmt.Errorf("decoding message: %w", errNoDelimiter)
		}
	}
	if i == len(frames) {
		return nil, fmt.Errorf("decoding message: %w", errNoDelimiter)
	}
	rest := frames[i+1:]
	if len(rest) < 5 {
		return nil, fmt.Errorf("decoding message: %w", errFewFrames)
	}
	digest, ok := c.signer.Verify(rest[0], rest[1], rest[2], rest[3], rest[4])
	if !ok {
		return nil, fmt.Errorf("decoding message: %w", errSignature)
	}
	if c.signer.Enabled() && !c.seen.first(digest) {
		return nil, fmt.Errorf("decoding message: %w", errReplayed)
	}
	m := &Message{Routing: frames[:i], Raw: rest[1], Parent: rest[2], Metadata: rest[3], Content: rest[4], Buffers: rest[5:]}
	for n, part := range rest[1:5] {
		if !isObject(part) {
			return nil, fmt.Errorf("decoding message: %s is not a JSON object", [...]string{"header", "parent_header", "metadata", "content"}[n])
		}
	}
	if err := json.Unmarshal(m.Raw, &m.Header); err != nil {
		return nil, fmt.Errorf("decoding header: %w", err)
	}
	if m.Header.Type == "" {
		return nil, errors.New("decoding header: msg_type is missing")
	}
	return m, nil
}

// isObject reports whether b is one valid JSON object.
func isObject(b []byte) bool {
	t := bytes.TrimLeft(b, " \t\r\n")
	return len(t) > 0 && t[0] == '{' && json.Valid(b)
}

// Date formats t as the protocol wants it: at most six fractional digits, which is all that Python clients parse.
func Date(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// NewID returns a random identifier in UUID form.
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	var s [36]byte
	hex.Encode(s[:8], b[:4])
	hex.Encode(s[9:13], b[4:6])
	hex.Encode(s[14:18], b[6:8])
	hex.Encode(s[19:23], b[8:10])
	hex.Encode(s[24:], b[10:])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:])
}
