package magics

import (
	"reflect"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want []string
	}{
		{``, nil},
		{`a  b`, []string{"a", "b"}},
		{`--x 'a b' "c\"d"`, []string{"--x", "a b", `c"d`}},
		{`a\ b ''`, []string{"a b", ""}},
		{`--f="x y"z`, []string{"--f=x yz"}},
	} {
		got, err := words(tc.in)
		if err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("words(%q) = %q, %v; want %q", tc.in, got, err, tc.want)
		}
	}
	for _, bad := range []string{`'a`, `"a`} {
		if _, err := words(bad); err == nil {
			t.Errorf("words(%q) did not fail", bad)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "acb", 1}, {"abc", "", 3}, {"sort", "short", 1}, {"--sotr", "--sort", 1}} {
		if got := distance(tc.a, tc.b); got != tc.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestUnknownFlag(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"--sotr x", "did you mean --sort?"},
		{"--zzzzzzzz", "flags: --sort"},
		{"-z", "no flag -z"},
		{"--sort", "needs an argument"},
		{"--sort 'x", "not closed"},
	} {
		fs := newFlags("profile")
		fs.String("sort", "", "")
		err := parseFlags(fs, tc.in)
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "%profile: ") {
			t.Errorf("%q: error %v does not say %q", tc.in, err, tc.want)
		}
	}
	fs := newFlags("profile")
	limit := fs.Int("row-limit", 0, "")
	if err := parseFlags(fs, "--row_limit 3"); err != nil || *limit != 3 {
		t.Errorf("underscores: %v, %d", err, *limit)
	}
}

func TestCutFlags(t *testing.T) {
	for _, tc := range []struct{ in, flags, rest string }{
		{`f("a b")`, "", `f("a b")`},
		{`--limit 3 --text f(x, "-y")`, "--limit 3 --text ", `f(x, "-y")`},
		{`--limit=3 -s 'a b' g()`, "--limit=3 -s 'a b' ", "g()"},
		{`-- -x`, "", "-x"},
		{`-x + 1`, "", "-x + 1"},
		{`-3`, "", "-3"},
		{`--text`, "--text", ""},
		{`--nope f()`, "--nope ", "f()"},
	} {
		fs := newFlags("profile")
		fs.Int("limit", 0, "")
		fs.Bool("text", false, "")
		fs.StringP("sort", "s", "", "")
		flags, rest, err := cutFlags(fs, tc.in)
		if err != nil || flags != tc.flags || rest != tc.rest {
			t.Errorf("%q: %q, %q, %v; want %q, %q", tc.in, flags, rest, err, tc.flags, tc.rest)
		}
	}
}
