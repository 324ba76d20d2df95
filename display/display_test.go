package display

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"math/big"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/internal/golden"
)

type point struct {
	X, Y int
	note string
}

type celsius float64

func (c celsius) String() string { return fmt.Sprintf("%.1f °C", float64(c)) }

type rich struct{}

func (rich) HTML() string     { return "<i>rich</i>" }
func (rich) Markdown() string { return "*rich*" }

type bundled map[string]any

func (b bundled) MIMEBundle() map[string]any { return b }

// dense is what gonum's matrices look like from outside.
type dense struct{ r, c int }

func (d dense) Dims() (int, int)           { return d.r, d.c }
func (d dense) At(i, j int) float64        { return float64(i) + float64(j)/10 }
func (d dense) Format(f fmt.State, _ rune) { io.WriteString(f, "unreadable") }

func TestText(t *testing.T) {
	var nilMap map[string]int
	var nilPoint *point
	var nilErr error
	n := 7
	tests := []struct {
		v    any
		want string
	}{
		{1, "1"}, {1.5, "1.5"}, {"a\nb", "a\nb"}, {true, "true"}, {nil, "<nil>"}, {nilErr, "<nil>"}, {nilMap, "map[]"}, {nilPoint, "<nil>"},
		{point{1, 2, "n"}, "{X:1 Y:2 note:n}"}, {&point{1, 2, ""}, "&{X:1 Y:2 note:}"},
		{[]int{1, 2}, "[1 2]"}, {map[string]int{"b": 2, "a": 1}, "map[a:1 b:2]"},
		{errors.New("bad"), "bad"}, {celsius(21.5), "21.5 °C"}, {[]celsius{1}, "[1.0 °C]"}, {time.Second, "1s"},
		{[]any{1, "x", nil}, "[1 x <nil>]"}, {json.RawMessage(`{"a":1}`), `{"a":1}`}, {complex(1, 2), "(1+2i)"},
		{big.NewInt(7), "7"}, {[]*big.Int{big.NewInt(7), nil}, "[7 <nil>]"}, {struct{ N *big.Int }{big.NewInt(7)}, "{N:7}"},
		{func(int) string { return "" }, "func(int) string"}, {(func())(nil), "<nil>"}, {make(chan int, 5), "chan int (len 0, cap 5)"},
		{[2]point{}, "[{X:0 Y:0 note:} {X:0 Y:0 note:}]"}, {struct{ P *int }{nil}, "{P:<nil>}"},
	}
	for _, tt := range tests {
		if got := text(tt.v); got != tt.want {
			t.Errorf("%T: got %q, want %q", tt.v, got, tt.want)
		}
	}
	if got, want := text(&n), fmt.Sprintf("%p", &n); got != want {
		t.Errorf("pointer: got %q, want %q", got, want)
	}
}

// TestTextIsThatOfFmt compares small values of many shapes with fmt itself.
func TestTextIsThatOfFmt(t *testing.T) {
	p := &point{3, 4, "q"}
	for _, v := range []any{
		p, *p, []*point{p}, map[point]*point{*p: p}, map[any]any{1: 2, "a": p}, [3]bool{true}, struct {
			A any
			B []string
			c map[int]bool
			D func()
			E chan int
		}{A: 1, B: []string{"x"}, c: map[int]bool{1: true}}, []error{io.EOF}, struct{ error }{io.EOF}, []byte("hi"), uint8(3), 'x', []any{[]any{[]any{}}}, reflect.ValueOf(3),
	} {
		if got, want := text(v), fmt.Sprintf("%+v", v); got != want {
			t.Errorf("%T: got %q, want %q", v, got, want)
		}
	}
}

func TestLargeValuesAreCut(t *testing.T) {
	big := make([]int, 10_000_000)
	cyclic := []any{nil}
	cyclic[0] = cyclic
	deep := map[string]any{}
	for m, i := deep, 0; i < 100; i++ {
		next := map[string]any{}
		m["next"] = next
		m = next
	}
	many := map[int]string{}
	for i := range 20_000 {
		many[i] = "v"
	}
	tests := []struct {
		v    any
		want string
	}{
		{big, "[0 0 0"}, {big, "0 … 9999900 more]"}, {&big, "&[0 0"}, {cyclic, "[[["}, {deep, "map[next:map["}, {strings.Repeat("ä", 1<<20), "more bytes)"},
		{many, " … 19900 more]"}, {struct{ A, B []int }{big, big}, "B:[0 0"}, {make([][]float64, 100_000), "[] [] … 99900 more]"},
		{[][]int{big, big}, "more] [0"},
	}
	for _, tt := range tests {
		got := text(tt.v)
		if !strings.Contains(got, tt.want) {
			t.Errorf("%T: %.100q … %q lacks %q", tt.v, got, got[max(0, len(got)-60):], tt.want)
		}
		if len(got) > maxText+100 {
			t.Errorf("%T: %d bytes", tt.v, len(got))
		}
	}
}

func TestRenderForms(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 3, 2))
	tests := []struct {
		name  string
		v     any
		types string
	}{
		{"number", 1, "text/plain"}, {"own forms", rich{}, "text/html text/markdown text/plain"}, {"image", img, "image/png text/plain"},
		{"structs", []point{{1, 2, ""}}, "text/html text/plain"}, {"pointers", []*point{{1, 2, ""}, nil}, "text/html text/plain"},
		{"maps", []map[string]any{{"a": 1}}, "text/html text/plain"}, {"stringers", []celsius{1}, "text/plain"}, {"times", []time.Time{{}}, "text/plain"},
		{"matrix", dense{2, 2}, "text/html text/plain"}, {"empty", []point{}, "text/plain"}, {"error", io.EOF, "text/plain"},
		{"hidden fields", []struct{ a int }{{1}}, "text/plain"}, {"nil image", (*image.RGBA)(nil), "text/plain"}, {"empty image", image.NewRGBA(image.Rectangle{}), "text/plain"},
		{"bundle", bundled{"text/html": "x", "application/javascript": "alert(1)", "image/svg+xml": "<svg/>", "nonsense": 1, "application/vnd.x+json": map[string]int{"a": 1}}, "application/vnd.x+json text/html text/plain"},
		{"svg", RawSVG("<svg/>"), "text/html text/plain"}, {"latex", RawLaTeX("x"), "text/latex text/plain"}, {"chart", Chart{Y: []float64{1}}, "text/html text/plain"},
		{"Bundle", Bundle{Data: map[string]any{"image/png": []byte{1}}}, "image/png text/plain"},
	}
	for _, tt := range tests {
		b := Render(tt.v)
		var types []string
		for k, v := range b.Data {
			types = append(types, k)
			switch v.(type) {
			case string, []byte, json.RawMessage:
			default:
				t.Errorf("%s: %s is a %T", tt.name, k, v)
			}
		}
		if got := strings.Join(sorted(types), " "); got != tt.types {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.types)
		}
	}
	got, err := png.Decode(bytes.NewReader(Render(img).Data["image/png"].([]byte)))
	if err != nil || got.Bounds() != img.Bounds() {
		t.Errorf("image: %v %v", got, err)
	}
	if got := Render(12, errors.New("e"), nil).Data["text/plain"]; got != "12 e <nil>" {
		t.Errorf("several values: %q", got)
	}
	if svg := Render(RawSVG("<svg>é</svg>")).Data["text/html"].(string); !strings.Contains(svg, base64.StdEncoding.EncodeToString([]byte("<svg>é</svg>"))) {
		t.Errorf("svg: %s", svg)
	}
}

func sorted(s []string) []string {
	for i := range s {
		for j := i; j > 0 && s[j] < s[j-1]; j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
	return s
}

func TestTables(t *testing.T) {
	many := make([]point, 250)
	var wide []map[string]any
	row := map[string]any{}
	for i := range 40 {
		row[fmt.Sprintf("c%02d", i)] = i
	}
	wide = append(wide, row)
	tests := map[string]any{
		"structs":  []point{{1, -20, ""}, {300, 4, ""}},
		"escaping": []struct{ Name, Code string }{{"<script>alert(1)</script>", "a & \"b\"\nnext"}},
		"maps":     []map[string]any{{"a": 1, "b": "x"}, {"a": 2.5, "c": nil}, nil},
		"mapped":   map[string]int{"one": 1, "two": 2},
		"list":     []float64{1, 2.25},
		"nested":   [][]int{{1, 2}, {3}},
		"matrix":   dense{2, 3},
		"large":    dense{100, 20},
		"rows":     many,
		"columns":  wide,
		"mixed": []struct {
			When time.Duration
			P    *point
			Err  error
			T    celsius
		}{{time.Second, &point{}, io.EOF, 3}, {}},
	}
	for name, v := range tests {
		b := tableBundle(v)
		html, _ := b.Data["text/html"].(string)
		golden.Check(t, filepath.Join("testdata", "table-"+name+".txt"), []byte(b.Data["text/plain"].(string)+"\n\n"+html+"\n"))
		if strings.Contains(html, "<script") {
			t.Errorf("%s: not escaped", name)
		}
		wellFormed(t, name, html)
	}
}

func wellFormed(t *testing.T, name, s string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader("<r>" + s + "</r>"))
	d.Entity = xml.HTMLEntity
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
	}
}

func TestCharts(t *testing.T) {
	nan := math.NaN()
	tests := map[string]Chart{
		"line":    {Title: "loss & <more>", Y: []float64{3, 2, 1.5, 1.2}, XLabel: "step", YLabel: "loss"},
		"bar":     {Kind: "bar", Labels: []string{"a", "b", "a very long label"}, Series: []Series{{"x", []float64{1, -2, 3}}, {"y", []float64{2, 2, 2}}}},
		"scatter": {Kind: "scatter", X: []float64{1, 10, 100}, Y: []float64{5, nan, 7}},
		"empty":   {},
		"one":     {Y: []float64{4}},
		"nothing": {Y: []float64{nan, math.Inf(1)}},
		"short x": {X: []float64{1}, Y: []float64{1, 2, 3}},
		"extreme": {Y: []float64{-1e300, 1e300}},
	}
	for name, c := range tests {
		svg := c.SVG()
		wellFormed(t, name, svg)
		if regexp.MustCompile(`NaN|Inf|e\+`).MatchString(regexp.MustCompile(`<text[^>]*>[^<]*</text>`).ReplaceAllString(svg, "")) {
			t.Errorf("%s: a figure that is not finite is drawn:\n%s", name, svg)
		}
		golden.Check(t, filepath.Join("testdata", "chart-"+strings.ReplaceAll(name, " ", "-")+".svg"), []byte(svg))
	}
	for kind, mark := range map[string]string{"line": "L", "bar": "<rect", "scatter": "<circle"} {
		if n := strings.Count(Chart{Kind: kind, Y: []float64{1, 2, 3, 4, 5}}.SVG(), mark); n < 4 {
			t.Errorf("%s: %d marks", kind, n)
		}
	}
	long := make([]float64, 1_000_000)
	long[777_777] = 5
	svg := Chart{Y: long}.SVG()
	if len(svg) > 200_000 {
		t.Errorf("a million points make %d bytes", len(svg))
	}
	peak := false
	for _, i := range thin(long) {
		peak = peak || i == 777_777
	}
	if !peak {
		t.Error("thinning loses the peak")
	}
}

func TestTicks(t *testing.T) {
	tests := []struct {
		lo, hi float64
		n      int
		want   string
	}{
		{0, 10, 5, "[0 2 4 6 8 10]"}, {0, 1, 5, "[0 0.2 0.4 0.6 0.8 1]"}, {-3, 3, 3, "[-2 0 2]"}, {1000, 1002, 4, "[1000 1000.5 1001 1001.5 1002]"},
	}
	for _, tt := range tests {
		var got []string
		for _, v := range ticks(tt.lo, tt.hi, tt.n) {
			got = append(got, fmt.Sprintf("%.6g", v))
		}
		if s := fmt.Sprint(got); s != tt.want {
			t.Errorf("%v..%v: %s, want %s", tt.lo, tt.hi, s, tt.want)
		}
	}
}

func TestSummary(t *testing.T) {
	big := make([]int64, 1000)
	tests := []struct {
		v     any
		value string
		bytes int64
		n     int
	}{
		{3, "3", 8, -1}, {"héllo", `"héllo"`, 22, 6}, {big, "[0 0 0", 24 + 8000, 1000}, {map[int32]bool{1: true}, "map[1:true]", 13, 1},
		{[]point{{1, 2, "a"}}, "[{X:1 Y:2 note:a}]", 24 + 32, 1}, {strings.Repeat("x", 500), `"xxx`, 516, 500},
	}
	for _, tt := range tests {
		value, bytes, n := Summary(reflect.ValueOf(tt.v))
		if !strings.HasPrefix(value, tt.value) || bytes != tt.bytes || n != tt.n || len([]rune(value)) > 80 {
			t.Errorf("%T: %q %d %d, want %q %d %d", tt.v, value, bytes, n, tt.value, tt.bytes, tt.n)
		}
	}
	var any any = []int{1}
	if value, _, n := Summary(reflect.ValueOf(&any).Elem()); value != "[1]" || n != 1 {
		t.Errorf("interface: %q %d", value, n)
	}
	var nothing error
	if value, _, n := Summary(reflect.ValueOf(&nothing).Elem()); value != "<nil>" || n != -1 {
		t.Errorf("nil interface: %q %d", value, n)
	}
}

// kept is a sink that keeps what it is told.
type kept struct{ said []string }

func (k *kept) Show(id ID, b Bundle) {
	k.said = append(k.said, fmt.Sprintf("show %q %v", id, sortedTypes(b)))
}
func (k *kept) Update(id ID, b Bundle) {
	k.said = append(k.said, fmt.Sprintf("update %q %v", id, b.Data["text/plain"]))
}
func (k *kept) Clear(wait bool) { k.said = append(k.said, fmt.Sprint("clear ", wait)) }
func (k *kept) Ask(prompt string, password bool) (string, error) {
	return fmt.Sprint(prompt, password), nil
}

func sortedTypes(b Bundle) string {
	var types []string
	for k := range b.Data {
		types = append(types, k)
	}
	return strings.Join(sorted(types), " ")
}

func TestSink(t *testing.T) {
	k := &kept{}
	SetSink(k)
	defer sink.Store(nil)
	HTML("<b>x</b>")
	Markdown("*x*")
	LaTeX("x^2")
	SVG("<svg/>")
	PNG([]byte{1})
	JPEG([]byte{1})
	Text("x")
	JSON(map[string]int{"a": 1})
	JSON(func() {})
	Table([]int{1})
	Display(1, []point{{}})
	Clear(true)
	id := New("0 %")
	id.Update("1 %")
	want := []string{
		`show "" text/html text/plain`, `show "" text/markdown text/plain`, `show "" text/latex text/plain`, `show "" text/html text/plain`,
		`show "" image/png text/plain`, `show "" image/jpeg text/plain`, `show "" text/plain`, `show "" application/json text/plain`, `show "" text/plain`,
		`show "" text/html text/plain`, `show "" text/plain`, `show "" text/html text/plain`, "clear true",
		fmt.Sprintf(`show %q text/plain`, id), fmt.Sprintf(`update %q 1 %%`, id),
	}
	if !reflect.DeepEqual(k.said, want) {
		t.Errorf("got  %q\nwant %q", k.said, want)
	}
	if s, _ := Password("p: "); s != "p: true" {
		t.Errorf("password: %q", s)
	}
	if a, b := New(1), New(1); a == b {
		t.Error("two displays have one id")
	}
}
