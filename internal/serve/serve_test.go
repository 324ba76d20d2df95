package serve

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

const tiny = `{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::<b>","pid":1,"tid":1,"ts":1,"dur":5}]}`

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestScan(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{
		"a/host_1.1700000000000000000.pt.trace.json", "a/host_2.1700000000100000000.pt.trace.json",
		"a/host_1.1700000100000000000.pt.trace.json.gz", "a/host_2.1700000100000000000.pt.trace.json.gz",
		"plain.json", "notes.txt", ".hidden/x.json",
	} {
		write(t, root, name, tiny)
	}
	var got []string
	for _, r := range scan(root) {
		for _, s := range r.Spans {
			var workers []string
			for _, f := range s.Workers {
				workers = append(workers, f.Worker)
			}
			got = append(got, fmt.Sprintf("%s %d %s", r.Name, s.Time.Unix(), strings.Join(workers, "+")))
		}
		for _, f := range r.Others {
			got = append(got, r.Name+" "+f.Path)
		}
	}
	want := ". plain.json|a 1700000000 host_1+host_2|a 1700000100 host_1+host_2"
	if g := strings.Join(got, "|"); g != want {
		t.Errorf("got %s\nwant %s", g, want)
	}
}

func TestNamesInOrder(t *testing.T) {
	in := []string{"w10", "w9", "w09", "w2/b", "w2", "a", "w2x10", "w2x9", "w99999999999999999999999", "w100000000000000000000000"}
	sort.Slice(in, func(i, j int) bool { return less(in[i], in[j]) })
	if got := strings.Join(in, " "); got != "a w2 w2/b w2x9 w2x10 w9 w09 w10 w99999999999999999999999 w100000000000000000000000" {
		t.Error(got)
	}
}

// TestLinkedFolder serves a folder that is named by a symbolic link, and no file that a link in it leads to.
func TestLinkedFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "real/a.json", tiny)
	write(t, dir, "secret.json", tiny)
	for link, to := range map[string]string{"link": "real", "real/b.json": "../secret.json"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	_, list := get(t, New(filepath.Join(dir, "link")), "localhost", "/")
	if !strings.Contains(list, ">a.json<") || strings.Contains(list, ">b.json<") {
		t.Error(list)
	}
}

func get(t *testing.T, s *Server, host, path string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = host
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func TestServe(t *testing.T) {
	root := t.TempDir()
	write(t, root, "run/w.1700000000000000000.pt.trace.json", tiny)
	write(t, root, "run/<img src=x>.json", tiny)
	write(t, root, "bad.json", "no trace")
	s := New(root)
	code, list := get(t, s, "localhost:1234", "/")
	if code != 200 || !strings.Contains(list, "w</a>") || strings.Contains(list, "<img src=x>") {
		t.Fatalf("list: %d\n%s", code, list)
	}
	runs := scan(root)
	span := runs[1].Spans[0]
	if code, body := get(t, s, "127.0.0.1:1", "/report/"+span.ID); code != 200 || !strings.Contains(body, "aten::") {
		t.Errorf("report: %d", code)
	}
	if code, _ := get(t, s, "127.0.0.1:1", "/diff/"+span.ID+"/"+runs[1].Others[0].ID); code != 200 {
		t.Errorf("diff: %d", code)
	}
	if code, _ := get(t, s, "localhost", "/report/"+runs[0].Others[0].ID); code != http.StatusUnprocessableEntity {
		t.Errorf("a file that is no trace: %d", code)
	}
	for _, path := range []string{"/report/nothing", "/report/..%2f..%2fetc%2fpasswd"} {
		if code, _ := get(t, s, "localhost", path); code != http.StatusNotFound {
			t.Errorf("%s: %d", path, code)
		}
	}
	if code, _ := get(t, s, "evil.example", "/"); code != http.StatusForbidden {
		t.Errorf("another host: %d", code)
	}
	_, before := get(t, s, "localhost", "/state")
	write(t, root, "new.json", tiny)
	if _, after := get(t, s, "localhost", "/state"); after == before {
		t.Error("the state is the same after a new file")
	}
}
