package history

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s.Session() // takes its number now
	return s
}

func inputs(t testing.TB, s *Store) []string {
	t.Helper()
	all, err := s.Tail(-1)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(all))
	for i, e := range all {
		out[i] = fmt.Sprintf("%d/%d %s %s", e.Session, e.Line, e.Input, e.Output)
	}
	return out
}

func check(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func add(t testing.TB, s *Store, line int, input, output string) {
	t.Helper()
	if err := s.Input(line, input); err != nil {
		t.Error(err)
	}
	if output != "" {
		if err := s.Output(line, output); err != nil {
			t.Error(err)
		}
	}
}

func TestSessions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "h.jsonl")
	a := open(t, path)
	add(t, a, 1, "x := 1\ny := \"größe\"", "")
	add(t, a, 2, "x", "1")
	b := open(t, path) // beside a, which goes on
	add(t, b, 1, "b", "2")
	add(t, a, 3, "a again", "")
	want := []string{"1/1 x := 1\ny := \"größe\" ", "1/2 x 1", "2/1 b 2", "1/3 a again "}
	check(t, "a", inputs(t, a), want...)
	check(t, "b", inputs(t, b), want...)
	if n := open(t, path).Session(); n != 3 {
		t.Errorf("third session is %d", n)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode: %v, %v", info.Mode(), err)
	}
}

func TestQueries(t *testing.T) {
	s := InMemory()
	for i, in := range []string{"a", "ab", "b", "ab", "a*b"} {
		add(t, s, i+1, in, "")
	}
	query := func(es []Entry, err error) []string {
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, e := range es {
			out = append(out, fmt.Sprint(e.Line))
		}
		return out
	}
	check(t, "tail", query(s.Tail(2)), "4", "5")
	check(t, "tail of none", query(s.Tail(0)))
	check(t, "range", query(s.Range(1, 2, 4)), "2", "3")
	check(t, "range of this session", query(s.Range(0, 4, -1)), "4", "5")
	check(t, "range of no session", query(s.Range(7, 1, -1)))
	check(t, "search", query(s.Search("a*", -1, false)), "1", "2", "4", "5")
	check(t, "search for the newest", query(s.Search("a*", 1, false)), "5")
	check(t, "unique", query(s.Search("a?", -1, true)), "4")
	check(t, "whole input", query(s.Search("b", -1, false)), "3")
	check(t, "everything", query(s.Search("*", -1, true)), "1", "3", "4", "5")
}

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"", "x", false}, {"*", "", true}, {"**", "x", true}, {"?", "ö", true}, {"?", "", false},
		{"*b*c", "abbcbc", true}, {"*b*c", "abbcb", false}, {"a?c*", "abcdef", true}, {"a\n*", "a\nb", true},
	} {
		if got := match([]rune(tt.pattern), []rune(tt.text)); got != tt.want {
			t.Errorf("%q on %q: got %v", tt.pattern, tt.text, got)
		}
	}
	began := time.Now() // a pattern that makes a naive matcher exponential
	match([]rune(strings.Repeat("*a", 30)+"b"), []rune(strings.Repeat("a", 5000)))
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestTornLine cuts the file at every byte of its last record: the ones before must survive, and the next one is whole.
func TestTornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.jsonl")
	s := open(t, path)
	add(t, s, 1, "first", "")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, 2, "second", "")
	all, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := len(whole); n < len(all)-1; n++ {
		if err := os.WriteFile(path, all[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, path)
		add(t, s, 1, "third", "")
		got := inputs(t, s)
		if n == len(all)-1-len("\n") && len(got) == 3 {
			continue // only the end of the line was missing
		}
		check(t, fmt.Sprintf("cut at %d", n), got, "1/1 first ", "2/1 third ")
	}
}

func TestForeignLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.jsonl")
	junk := "\n{}\n[1]\nnull\n{\"s\":-4,\"i\":\"no session\"}\n{\"s\":\"x\"}\n\x00\xff\n" + strings.Repeat("x", 9<<20) +
		"\n{\"s\":4,\"n\":1,\"o\":\"output of nothing\"}\n{\"s\":4,\"n\":2,\"i\":\"good\"}\n"
	if err := os.WriteFile(path, []byte(junk), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	if s.Session() != 5 {
		t.Errorf("session is %d", s.Session())
	}
	check(t, "entries", inputs(t, s), "4/2 good ")
}

// TestManyAtOnce has several kernels begin and write at the same time, across the cut of a file that is too long.
func TestManyAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.jsonl")
	var old strings.Builder
	for i := 0; old.Len() < maxFile-1000; i++ {
		fmt.Fprintf(&old, "{\"s\":1,\"n\":%d,\"i\":%q}\n", i+1, strings.Repeat("x", 500))
	}
	if err := os.WriteFile(path, []byte(old.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	const kernels, lines = 5, 20
	var wg sync.WaitGroup
	for range kernels {
		wg.Go(func() {
			s := open(t, path)
			for n := range lines {
				add(t, s, n+1, fmt.Sprintf("new %d", n+1), "")
			}
		})
	}
	wg.Wait()
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxFile {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	all, err := open(t, path).Search("new *", -1, false)
	if err != nil || len(all) != kernels*lines {
		t.Errorf("%d of %d new entries, %v", len(all), kernels*lines, err)
	}
	sessions := map[int]int{}
	for _, e := range all {
		sessions[e.Session]++
		if e.Line != sessions[e.Session] {
			t.Fatalf("line %d of session %d came as number %d", e.Line, e.Session, sessions[e.Session])
		}
	}
	if len(sessions) != kernels {
		t.Errorf("%d kernels shared %d sessions", kernels, len(sessions))
	}
}

func TestFileThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "h.jsonl")
	s := open(t, path)
	add(t, s, 1, "kept", "")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil { // no file can be opened there any more
		t.Fatal(err)
	}
	if err := s.Input(2, "in memory"); err == nil {
		t.Error("the first failure is no error")
	}
	add(t, s, 3, "in memory too", "")
	s.mu.Lock()
	n := len(s.memory)
	s.mu.Unlock()
	if n != 2 {
		t.Errorf("%d records in memory", n)
	}
	if _, err := Open(filepath.Join(path, "x", "y")); err != nil {
		t.Error(err)
	}
	blocked := filepath.Join(dir, "file")
	os.WriteFile(blocked, nil, 0o600)
	if _, err := Open(filepath.Join(blocked, "h.jsonl")); err == nil {
		t.Error("a directory that cannot be made is no error")
	}
}

func TestLongTexts(t *testing.T) {
	s := InMemory()
	add(t, s, 1, strings.Repeat("x", maxLine+1), "")
	add(t, s, 2, "x", strings.Repeat("y", maxOutput+1))
	all, _ := s.Tail(-1)
	if len(all) != 1 || len(all[0].Output) != maxOutput {
		t.Errorf("%d entries", len(all))
	}
}

func TestDefaultFile(t *testing.T) {
	t.Setenv("HOME", "/home/x")
	for _, tt := range []struct{ jupyter, xdg, want string }{
		{"/j", "/xdg", "/j/gander/history.jsonl"}, {"", "/xdg", "/xdg/jupyter/gander/history.jsonl"},
	} {
		t.Setenv("JUPYTER_DATA_DIR", tt.jupyter)
		t.Setenv("XDG_DATA_HOME", tt.xdg)
		if got, err := DefaultFile(); err != nil || got != tt.want {
			t.Errorf("got %q, %v, want %q", got, err, tt.want)
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte("{\"s\":1,\"n\":1,\"i\":\"x\"}\n{\"s\":1"))
	f.Add([]byte("{\"s\":9223372036854775807,\"n\":1}\n"))
	f.Add([]byte("\n\n{\"s\":1,\"t\":5}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "h.jsonl")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, path)
		before := inputs(t, s)
		add(t, s, 1, "added", "")
		after := inputs(t, s)
		if len(after) != len(before)+1 || !strings.HasSuffix(after[len(after)-1], "/1 added ") {
			t.Fatalf("before %q, after %q", before, after)
		}
	})
}

func BenchmarkInput(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "h.jsonl"))
	b.ReportAllocs()
	for b.Loop() {
		s.Input(1, "x := 1")
	}
}
