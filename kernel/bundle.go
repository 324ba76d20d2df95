package kernel

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/gander-go/gander/kernel/cell"
)

// display is the content of display_data, and the larger part of execute_result.
type display struct {
	Data     map[string]json.RawMessage `json:"data"`
	Metadata map[string]json.RawMessage `json:"metadata"`
}

type transient struct {
	DisplayID string `json:"display_id,omitempty"`
}

// mimePattern is what the message specification allows as a MIME type: no parameters.
var mimePattern = regexp.MustCompile(`^[\w\-+.]+/[\w\-+.]+$`)

// encodeBundle brings a bundle into the form the protocol wants. A form that cannot be encoded is left out and logged:
// the others are still worth showing.
func (k *Kernel) encodeBundle(b cell.Bundle) display {
	d := display{Data: make(map[string]json.RawMessage, len(b.Data)), Metadata: make(map[string]json.RawMessage, len(b.Metadata))}
	for mime, v := range b.Data {
		name, _, _ := strings.Cut(mime, ";")
		name = strings.TrimSpace(name)
		raw, err := encodeForm(name, v)
		if err != nil {
			k.log.Warn("leaving out a form of a display", "mime", mime, "err", err)
			continue
		}
		d.Data[name] = raw
	}
	for key, v := range b.Metadata {
		raw, err := encodeValue(v)
		if err != nil {
			k.log.Warn("leaving out metadata of a display", "key", key, "err", err)
			continue
		}
		d.Metadata[key] = raw
	}
	return d
}

// encodeForm encodes one form: text as a string, other bytes as base64, JSON as it is.
func encodeForm(mime string, v any) (json.RawMessage, error) {
	if !mimePattern.MatchString(mime) {
		return nil, fmt.Errorf("%q is not a MIME type", mime)
	}
	if b, ok := v.([]byte); ok {
		if isText(mime) {
			return marshal(string(b))
		}
		return marshal(base64.StdEncoding.EncodeToString(b))
	}
	return encodeValue(v)
}

func encodeValue(v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok {
		if !json.Valid(raw) {
			return nil, fmt.Errorf("value is not valid JSON")
		}
		return raw, nil
	}
	if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return nil, fmt.Errorf("%v has no JSON form", f)
	}
	return marshal(v)
}

// marshal encodes v as it is: escaping the angle brackets of HTML, as json.Marshal does, would make a report half as
// large again, to no use for what is no web page yet.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func isText(mime string) bool {
	return strings.HasPrefix(mime, "text/") || mime == "image/svg+xml" || mime == "application/javascript"
}
