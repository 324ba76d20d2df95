package display

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/png"
	"mime"
	"reflect"
	"strings"
)

const (
	mimeText     = "text/plain"
	mimeHTML     = "text/html"
	mimeMarkdown = "text/markdown"
	mimeLaTeX    = "text/latex"
	mimeJSON     = "application/json"
	mimePNG      = "image/png"
	mimeJPEG     = "image/jpeg"
	mimeSVG      = "image/svg+xml"
)

// maxPixels bounds images that are encoded for display.
const maxPixels = 64 << 20

// Render returns the forms of a value, or of the results of a call when there are several: those are plain text, as
// fmt.Println prints them.
func Render(values ...any) Bundle {
	if len(values) != 1 {
		parts := make([]string, len(values))
		for i, v := range values {
			parts[i] = text(v)
		}
		return Bundle{Data: map[string]any{mimeText: strings.Join(parts, " ")}}
	}
	v := values[0]
	if b, ok := v.(Bundle); ok {
		return tidy(b)
	}
	if isNil(v) {
		return Bundle{Data: map[string]any{mimeText: text(v)}}
	}
	b := Bundle{Data: map[string]any{}}
	own(v, b.Data)
	if len(b.Data) > 0 {
		if _, ok := b.Data[mimeText]; !ok {
			b.Data[mimeText] = ownText(v, b.Data)
		}
		return tidy(b)
	}
	switch m := v.(type) {
	case error, fmt.Stringer, fmt.Formatter:
	case image.Image:
		return imageBundle(m)
	case matrix:
		if t := matrixTable(m); t != nil {
			return t.bundle()
		}
	default:
		if t := autoTable(reflect.ValueOf(v)); t != nil {
			return t.bundle()
		}
	}
	if m, ok := v.(matrix); ok { // gonum's types print badly: they are Formatters too
		if t := matrixTable(m); t != nil {
			return t.bundle()
		}
	}
	return Bundle{Data: map[string]any{mimeText: text(v)}}
}

// own collects the forms that a type chooses itself.
func own(v any, data map[string]any) {
	if m, ok := v.(interface{ MIMEBundle() map[string]any }); ok {
		for k, x := range m.MIMEBundle() {
			data[k] = x
		}
	}
	if m, ok := v.(interface{ HTML() string }); ok {
		data[mimeHTML] = m.HTML()
	}
	if m, ok := v.(interface{ Markdown() string }); ok {
		data[mimeMarkdown] = m.Markdown()
	}
	if m, ok := v.(interface{ LaTeX() string }); ok {
		data[mimeLaTeX] = "$" + strings.Trim(m.LaTeX(), "$") + "$"
	}
	if m, ok := v.(interface{ SVG() string }); ok && data[mimeHTML] == nil {
		data[mimeSVG] = m.SVG()
	}
	if m, ok := v.(interface{ PNG() []byte }); ok {
		data[mimePNG] = m.PNG()
	}
	if m, ok := v.(interface{ JPEG() []byte }); ok {
		data[mimeJPEG] = m.JPEG()
	}
}

// ownText is the plain text beside the forms that a type chose.
func ownText(v any, data map[string]any) string {
	switch m := v.(type) {
	case error, fmt.Stringer:
		return text(v)
	case RawHTML, RawMarkdown, RawLaTeX:
		return text(v)
	case RawSVG:
		return fmt.Sprintf("SVG drawing, %d bytes", len(m))
	case image.Image:
		return imageText(m)
	}
	for _, k := range []string{mimeMarkdown, mimeLaTeX} {
		if s, ok := data[k].(string); ok {
			return s
		}
	}
	return text(v)
}

// tidy brings a bundle that users made into the form that front ends bear: valid MIME types, values of the types that
// Bundle promises, SVG as an image inside HTML (front ends drop or mishandle it elsewhere), no scripts as types, and a
// plain text form.
func tidy(b Bundle) Bundle {
	out := Bundle{Data: map[string]any{}, Metadata: b.Metadata}
	for k, v := range b.Data {
		typ, _, err := mime.ParseMediaType(k)
		if err != nil || !strings.Contains(typ, "/") || strings.Contains(typ, "javascript") || strings.Contains(typ, "ecmascript") {
			continue
		}
		isJSON := typ == mimeJSON || strings.HasSuffix(typ, "+json")
		switch x := v.(type) {
		case string:
			if isJSON {
				v = marshal(x)
			}
		case json.RawMessage:
			if !json.Valid(x) {
				v = marshal(string(x))
			}
		case []byte:
			if isJSON && json.Valid(x) {
				v = json.RawMessage(x)
			} else if strings.HasPrefix(typ, "text/") || typ == mimeSVG {
				v = string(x)
			}
		default:
			if isJSON {
				v = marshal(x)
			} else {
				v = fmt.Sprint(x)
			}
		}
		out.Data[typ] = v
	}
	if svg, ok := out.Data[mimeSVG].(string); ok {
		delete(out.Data, mimeSVG)
		if _, ok := out.Data[mimeHTML]; !ok {
			out.Data[mimeHTML] = svgImage(svg, "drawing")
		}
	}
	if _, ok := out.Data[mimeText].(string); !ok {
		out.Data[mimeText] = "(rich output)"
		if s, ok := out.Data[mimeMarkdown].(string); ok {
			out.Data[mimeText] = s
		}
	}
	return out
}

func marshal(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		b, _ = json.Marshal(err.Error())
	}
	return b
}

// svgImage is HTML that shows a drawing also where scripts and svg elements are removed.
func svgImage(svg, alt string) string {
	return fmt.Sprintf(`<img src="data:image/svg+xml;base64,%s" alt="%s">`, base64.StdEncoding.EncodeToString([]byte(svg)), html.EscapeString(alt))
}

func imageBundle(m image.Image) Bundle {
	size := m.Bounds().Size()
	if size.X <= 0 || size.Y <= 0 || size.X > maxPixels/size.Y {
		return Bundle{Data: map[string]any{mimeText: imageText(m) + ", not shown: it is empty or too large"}}
	}
	var buf bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&buf, m); err != nil {
		return Bundle{Data: map[string]any{mimeText: imageText(m) + ", not shown: " + err.Error()}}
	}
	return Bundle{Data: map[string]any{mimePNG: buf.Bytes(), mimeText: imageText(m)}}
}

func imageText(m image.Image) string {
	size := m.Bounds().Size()
	return fmt.Sprintf("%s %d×%d", strings.TrimPrefix(fmt.Sprintf("%T", m), "*"), size.X, size.Y)
}

func encodedImageText(kind string, b []byte) string {
	if c, _, err := image.DecodeConfig(bytes.NewReader(b)); err == nil {
		return fmt.Sprintf("%s image %d×%d", kind, c.Width, c.Height)
	}
	return fmt.Sprintf("%s image, %d bytes", kind, len(b))
}

func isNil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return r.IsNil()
	}
	return false
}
