package magics

import (
	"fmt"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, tc := range []struct{ name, code, want string }{
		{"plain code", "x := 1\nfmt.Println(x)", `code@1 "x := 1\nfmt.Println(x)"`},
		{"leading magic", "%get a/b\nx := 1\n", `line@1 "get a/b" code@2 "x := 1\n"`},
		{"magic between", "a()\n%time b()\nc()", `code@1 "a()\n" line@2 "time b()" code@3 "c()"`},
		{"indented magic", "  %who", `line@1 "who"`},
		{"inside raw string", "s := `\n%who\n`\n", "code@1 \"s := `\\n%who\\n`\\n\""},
		{"inside comment", "/*\n%who\n*/ f()", `code@1 "/*\n%who\n*/ f()"`},
		{"string with backquote", "s := \"`\"\n%who", "code@1 \"s := \\\"`\\\"\\n\" line@2 \"who\""},
		{"shell", "!ls -l\n", `shell@1 "ls -l"`},
		{"negation continues", "ok := a &&\n!b", `code@1 "ok := a &&\n!b"`},
		{"negation inside call", "f(\n!b,\n)", `code@1 "f(\n!b,\n)"`},
		{"shell after code", "x := 1\n!ls", `code@1 "x := 1\n" shell@2 "ls"`},
		{"help behind", "fmt.Println?", `help@1 "fmt.Println"`},
		{"help twice", "fmt.Println??", `source@1 "fmt.Println"`},
		{"help in front", "?fmt", `help@1 "fmt"`},
		{"question in string", `s := "why?"`, `code@1 "s := \"why?\""`},
		{"question in comment", "f() // why?", `code@1 "f() // why?"`},
		{"continuation", "%get a \\\n  b\nc()", `line@1 "get a  b" code@3 "c()"`},
		{"percent of nothing", "%", `code@1 "%"`},
		{"empty", "\n\n", ``},
	} {
		var got []string
		for _, s := range split(tc.code) {
			got = append(got, fmt.Sprintf("%s@%d %q", [...]string{"code", "line", "shell", "help", "source"}[s.kind], s.line, s.text))
		}
		if g := strings.Join(got, " "); g != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, g, tc.want)
		}
	}
}

func TestCellMagic(t *testing.T) {
	for _, tc := range []struct{ code, want string }{
		{"%%profile --sort cpu\nf()", `profile "--sort cpu" 2 "f()"`},
		{"\n\n%%bash\nls\n", `bash "" 4 "ls\n"`},
		{"%%profile \\\n --text\nf()", `profile "--text" 3 "f()"`},
		{"%%html", `html "" 2 ""`},
		{"%time f()", "none"},
		{"// %%profile\nf()", "none"},
		{"%%", "none"},
	} {
		name, args, body, line, ok := cellMagic(tc.code)
		got := "none"
		if ok {
			got = fmt.Sprintf("%s %q %d %q", name, args, line, body)
		}
		if got != tc.want {
			t.Errorf("%q:\n got %s\nwant %s", tc.code, got, tc.want)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("x := 1\n%who\n!ls\nfmt?")
	f.Add("s := `\n%a")
	f.Fuzz(func(t *testing.T, code string) {
		lines := strings.Count(code, "\n") + 1
		for _, s := range split(code) {
			if s.line < 1 || s.line > lines {
				t.Fatalf("segment at line %d of %d", s.line, lines)
			}
			if s.kind == goCode && !strings.Contains(code, s.text) {
				t.Fatalf("code segment %q is not part of the cell", s.text)
			}
		}
		cellMagic(code)
	})
}
