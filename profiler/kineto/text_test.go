package kineto

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestUnescapeAgreesWithEncodingJSON(t *testing.T) {
	for _, in := range []string{``, `plain`, `a\"b`, `\\`, `\/\b\f\n\r\t`, `\u00e9`, `é`, `\ud83d\ude00`, `日本`, `\u0000`} {
		var want string
		if err := json.Unmarshal([]byte(`"`+in+`"`), &want); err != nil {
			t.Fatal(err)
		}
		if got, fixed := unescape(nil, []byte(in)); string(got) != want || fixed != 0 {
			t.Errorf("%s: got %q (repairs %d), want %q", in, got, fixed, want)
		}
	}
}

func TestUnescapeRepairs(t *testing.T) {
	for _, c := range []struct {
		in, want string
		fixed    repairs
	}{
		{`C:\Users\pat`, `C:\Users\pat`, fixedEscape}, {"a\xffb", "a\ufffdb", fixedUTF8}, {`\ud83dx`, "\ufffdx", fixedUTF8},
		{`\u12`, `\u12`, fixedEscape}, {`\`, `\`, 0}, {"\\\xe9", "\\\ufffd", fixedEscape | fixedUTF8},
	} {
		if got, fixed := unescape(nil, []byte(c.in)); string(got) != c.want || fixed != c.fixed {
			t.Errorf("%q: got %q (repairs %d), want %q (%d)", c.in, got, fixed, c.want, c.fixed)
		}
	}
}

func TestCleanMakesJSON(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"a": [1, 2.5e3, -0.1, true, null]}`, `{"a":[1,2.5e3,-0.1,true,null]}`},
		{`{"a": NaN, "b": N/A, "c": 007}`, `{"a":"NaN","b":"N/A","c":"007"}`},
		{`[1, 2, ]`, `[1,2]`}, {`{"a":"C:\Users"}`, `{"a":"C:\\Users"}`}, {"\"a\x01\"", `"a\u0001"`}, {"[\"\xff\"]", `["�"]`},
		{`{"a" 1}`, `"{\"a\" 1}"`}, {`[1`, `[1]`}, {`{]`, `{}`}, {`"`, `""`}, {`{"a":{"b":[`, `"{\"a\":{\"b\":["`},
	} {
		got, _ := clean(nil, []byte(c.in))
		if !json.Valid(got) {
			t.Errorf("%q became %q, which is no JSON", c.in, got)
		}
		if c.in != `{"a":{"b":[` && string(got) != c.want {
			t.Errorf("%q: got %s, want %s", c.in, got, c.want)
		}
	}
	deep, fixed := clean(nil, []byte(strings.Repeat("[", 100000)+strings.Repeat("]", 100000)))
	if !json.Valid(deep) || fixed&fixedDepth == 0 || len(deep) > 3*maxDepth {
		t.Errorf("deep nesting became %d bytes, repairs %d", len(deep), fixed)
	}
}

func TestQuoteIsReadBack(t *testing.T) {
	for _, s := range []string{"", "plain", "a\"b\\c/", "\x00\x1f\x7f\n\t\r", "é日本😀", "\u2028\u2029", "</script>"} {
		var got string
		if err := json.Unmarshal(quote(nil, s), &got); err != nil || got != s {
			t.Errorf("%q is written as %s: %q, %v", s, quote(nil, s), got, err)
		}
	}
	if got := string(quote(nil, "a\xffb")); got != `"a\ufffdb"` {
		t.Errorf("invalid UTF-8 is written as %s", got)
	}
}

func FuzzClean(f *testing.F) {
	f.Add([]byte(`{"a":[1,NaN,"\U"],}`))
	f.Add([]byte(`"\ud800"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got, _ := clean(nil, raw); !json.Valid(got) {
			t.Fatalf("%q became %q", raw, got)
		}
	})
}
