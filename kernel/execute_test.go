package kernel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/internal/fakefront"
	"github.com/gander-go/gander/kernel"
)

func TestCells(t *testing.T) {
	tests := []struct {
		name   string
		code   string
		change fields
		types  []string
		status string
		count  int
	}{
		{"nothing", "", nil, []string{"busy", "execute_input", "idle"}, "ok", 0},
		{"blank", " \n\t", nil, []string{"busy", "execute_input", "idle"}, "ok", 0},
		{"streams in order", "print a\neprint b\nprint c\nprint d", nil,
			[]string{"busy", "execute_input", "stream", "stream", "stream", "idle"}, "ok", 1},
		{"result", "print a\nvalue 3", nil, []string{"busy", "execute_input", "stream", "execute_result", "idle"}, "ok", 1},
		{"display", "print a\nhtml <b>\nprint b", nil,
			[]string{"busy", "execute_input", "stream", "display_data", "stream", "idle"}, "ok", 1},
		{"updates of one display", "update d 1\nupdate d 2\nupdate d 3", nil, []string{"busy", "execute_input", "update_display_data", "idle"}, "ok", 1},
		{"updates of two displays", "update d 1\nupdate e 2", nil,
			[]string{"busy", "execute_input", "update_display_data", "update_display_data", "idle"}, "ok", 1},
		{"clear", "print a\nclear\nprint b", nil,
			[]string{"busy", "execute_input", "stream", "clear_output", "stream", "idle"}, "ok", 1},
		{"error", "print a\nfail Boom it broke\nprint b", nil, []string{"busy", "execute_input", "stream", "error", "idle"}, "error", 1},
		{"silent", "print a\nhtml b\nvalue 3", fields{"silent": true}, []string{"busy", "idle"}, "ok", 0},
		{"silent error", "fail Boom it broke", fields{"silent": true}, []string{"busy", "idle"}, "error", 0},
		{"not stored", "value 3", fields{"store_history": false}, []string{"busy", "execute_input", "execute_result", "idle"}, "ok", 0},
		{"comm", "print a\ncomm widget", nil, []string{"busy", "execute_input", "stream", "comm_open", "idle"}, "ok", 1},
		{"forms without JSON", "nan", nil, []string{"busy", "execute_input", "display_data", "idle"}, "ok", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, front := startFront(t)
			c := front.Execute(tt.code, tt.change)
			equalTypes(t, c.Outputs, tt.types...)
			equal(t, "status", c.Reply.Text("status"), tt.status)
			equal(t, "execution_count", c.Reply.Int("execution_count"), tt.count)
			for _, m := range c.Outputs {
				switch m.Type {
				case "execute_input":
					equal(t, "code", m.Text("code"), tt.code)
					fallthrough
				case "execute_result":
					equal(t, "execution_count of "+m.Type, m.Int("execution_count"), tt.count)
				case "error":
					equal(t, "ename", m.Text("ename"), "Boom")
					equal(t, "evalue", m.Text("evalue"), "it broke")
				}
			}
		})
	}
}

func TestBundleForms(t *testing.T) {
	_, front := startFront(t)
	m := front.Execute("nan").Outputs[2]
	want := fields{"text/plain": "nan", "text/x": "x", "image/png": "AQID", "application/json": nil, "bad": nil}
	for mime, want := range want {
		equal(t, mime, m.Data(mime), want)
	}
	m = front.Execute("update id7 x").Outputs[2]
	equal(t, "display_id", m.Content["transient"].(map[string]any)["display_id"], any("id7"))
}

func TestExecutionCountSkipsProbes(t *testing.T) {
	_, front := startFront(t)
	for _, step := range []struct {
		code   string
		change fields
		count  int
	}{
		{"value 1", nil, 1}, {"", fields{"silent": true}, 1}, {"value 1", fields{"store_history": false}, 1},
		{"fail A b", nil, 2}, {"value 1", fields{"silent": true, "store_history": true}, 2}, {"value 1", nil, 3},
	} {
		equal(t, step.code, front.Execute(step.code, step.change).Reply.Int("execution_count"), step.count)
	}
}

// TestMissingFields sends what a minimal or broken client might.
func TestMissingFields(t *testing.T) {
	_, front := startFront(t)
	reply, _ := front.Request(fakefront.Shell, "execute_request", fields{"code": "value 3"})
	equal(t, "only code", reply.Text("status"), "ok")
	equal(t, "count", reply.Int("execution_count"), 1)
	for _, typ := range []string{
		"execute_request", "complete_request", "inspect_request", "is_complete_request", "comm_info_request", "kernel_info_request",
	} {
		reply, _ := front.Request(fakefront.Shell, typ, fields{})
		if reply.Text("status") == "error" {
			t.Errorf("%s without fields: %v", typ, reply.Content)
		}
	}
	broken := map[string]fields{
		"execute_request": {"code": 7}, "complete_request": {"code": []int{1}}, "inspect_request": {"cursor_pos": "x"},
		"is_complete_request": {"code": true}, "history_request": {"hist_access_type": "none"}, "comm_info_request": {"target_name": 1},
	}
	for typ, content := range broken {
		reply, out := front.Request(fakefront.Shell, typ, content)
		equal(t, typ, reply.Text("status"), "error")
		equalTypes(t, out, "busy", "idle")
	}
	for _, typ := range []string{"comm_open", "comm_msg", "comm_close"} {
		front.Outputs(front.Send(fakefront.Shell, typ, fields{"comm_id": 4}))
		front.Outputs(front.Send(fakefront.Shell, typ, fields{}))
	}
	equal(t, "after all that", front.Execute("value 3").Reply.Text("status"), "ok")
}

func TestUserExpressions(t *testing.T) {
	_, front := startFront(t)
	exprs := fields{"a": "1+1", "b": "fail", "c": 3}
	got := front.Execute("print x", fields{"user_expressions": exprs}).Reply.Content["user_expressions"].(map[string]any)
	a := got["a"].(map[string]any)
	equal(t, "a", a["data"].(map[string]any)["text/plain"], any("1+1"))
	equal(t, "status of a", a["status"], any("ok"))
	equal(t, "ename of b", got["b"].(map[string]any)["ename"], any("ExprError"))
	equal(t, "status of c", got["c"].(map[string]any)["status"], any("error"))
	failed := front.Execute("fail A b", fields{"user_expressions": exprs})
	equal(t, "after an error", len(failed.Reply.Content["user_expressions"].(map[string]any)), 0)
}

func TestPayloads(t *testing.T) {
	_, front := startFront(t)
	p := front.Execute("page help\nnext x := 1").Reply.Content["payload"].([]any)
	if len(p) != 2 {
		t.Fatalf("payload: %v", p)
	}
	page, next := p[0].(map[string]any), p[1].(map[string]any)
	equal(t, "page", page["data"].(map[string]any)["text/plain"], any("help"))
	equal(t, "page source", page["source"], any("page"))
	equal(t, "next", next["text"], any("x := 1"))
}

// TestErrorAbortsWhatIsQueued sends cells at once, as Run All does.
func TestErrorAbortsWhatIsQueued(t *testing.T) {
	f, front := startFront(t)
	send := func(code string, change ...map[string]any) string {
		return front.Send(fakefront.Shell, "execute_request", fakefront.Code(code, change...))
	}
	slow := send("sleep 100ms\nfail Boom it broke")
	queued := []string{send("print never 1"), send("print never 2")}
	info := front.Send(fakefront.Shell, "kernel_info_request", fields{})
	equal(t, "kernel_info", front.Reply(info).Text("status"), "ok")
	equal(t, "failed cell", front.Reply(slow).Text("status"), "error")
	for _, id := range queued {
		equal(t, "queued cell", front.Reply(id).Text("status"), "aborted")
		equal(t, "its count", front.Reply(id).Int("execution_count"), 1)
		equalTypes(t, front.Outputs(id), "busy", "idle")
	}
	equal(t, "a later cell", front.Execute("print x").Reply.Int("execution_count"), 2)

	// A cell whose failure was expected aborts nothing, and neither does a silent one.
	for _, change := range []fields{{"stop_on_error": false}, {"silent": true}} {
		send("sleep 50ms\nfail Boom it broke", change)
		equal(t, "cell behind", front.Reply(send("print runs")).Text("status"), "ok")
	}
	for _, code := range f.engine.Log() {
		if strings.Contains(code, "never") {
			t.Errorf("%q ran", code)
		}
	}
}

// TestReplyComesAfterAbort sends a cell the moment the reply of the failed one is there: it must run.
func TestReplyComesAfterAbort(t *testing.T) {
	_, front := startFront(t)
	for range 100 {
		front.Reply(front.Send(fakefront.Shell, "execute_request", fakefront.Code("fail A b")))
		id := front.Send(fakefront.Shell, "execute_request", fakefront.Code("print x"))
		equal(t, "status", front.Reply(id).Text("status"), "ok")
	}
}

func TestStreamsAreGathered(t *testing.T) {
	_, front := startFront(t, func(_ *kernel.ConnectionInfo, o *kernel.Options) { o.OutputCap = 8 << 20 })
	c := front.Execute("spam 1048576")
	n := 0
	for _, m := range c.Outputs {
		if m.Type == "stream" {
			n++
		}
	}
	if n < 2 || n > 40 {
		t.Errorf("1 MiB in lines of 64 bytes came in %d messages", n)
	}
	equal(t, "bytes", len(c.Stream("stdout")), 1<<20)
}

// TestAlternatingStreams checks that they do not exceed what Jupyter's server lets through.
func TestAlternatingStreams(t *testing.T) {
	_, front := startFront(t)
	c := front.Execute(strings.Repeat("print o\neprint e\n", 5000))
	equal(t, "stdout", c.Stream("stdout"), strings.Repeat("o\n", 5000))
	equal(t, "stderr", c.Stream("stderr"), strings.Repeat("e\n", 5000))
	if n := len(c.Outputs); n > 100 {
		t.Errorf("%d messages", n)
	}
}

// TestStreamIsNotHeldBack checks that output comes while the cell runs.
func TestStreamIsNotHeldBack(t *testing.T) {
	_, front := startFront(t)
	id := front.Send(fakefront.Shell, "execute_request", fakefront.Code("print soon\nsleep 1h"))
	front.Await(id, "output of a running cell", func(m *fakefront.Msg) bool { return m.Type == "stream" })
	front.Request(fakefront.Control, "interrupt_request", fields{})
}

func TestCharactersSplitBetweenWrites(t *testing.T) {
	_, front := startFront(t)
	c := front.Execute(`raw gr\xc3` + "\nsleep 70ms\n" + `raw \xb6\xc3\x9fe \xe2\x82`)
	equal(t, "stdout", c.Stream("stdout"), "größe \ufffd\ufffd")
}

func TestOutputCap(t *testing.T) {
	dir := t.TempDir()
	_, front := startFront(t, func(_ *kernel.ConnectionInfo, o *kernel.Options) { o.OutputCap, o.OverflowDir = 100_000, dir })
	c := front.Execute("spam 640000\nhtml still here\nprint last")
	if n := len(c.Stream("stdout")); n != 100_000 {
		t.Errorf("%d bytes reached the front end", n)
	}
	files, err := filepath.Glob(filepath.Join(dir, "cell-1-*.txt"))
	if err != nil || len(files) != 1 {
		t.Fatalf("overflow files: %v, %v", files, err)
	}
	rest, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "bytes in the file", len(rest), 540_000+len("last\n"))
	if s := c.Stream("stdout") + string(rest); !strings.HasSuffix(s, "!\nlast\n") || strings.Count(s, "gander") != 10_000 {
		t.Error("stream and file together are not what the cell wrote")
	}
	if notice := c.Stream("stderr"); strings.Count(notice, files[0]) != 2 || !strings.Contains(notice, "98 KiB") {
		t.Errorf("notice: %q", notice)
	}
	if types := c.Types(); types[len(types)-2] != "stream" || !strings.Contains(strings.Join(types, " "), "display_data") {
		t.Errorf("displays do not count towards the cap: %v", types)
	}
	equal(t, "the next cell", front.Execute("print x").Stream("stdout"), "x\n")
}

func TestOutputAfterTheCell(t *testing.T) {
	f, front := startFront(t)
	c := front.Execute("late 150ms from one")
	front.Execute("print two", fields{"silent": true})
	f.engine.Print("background\n")
	isLine := func(s string) func(*fakefront.Msg) bool {
		return func(m *fakefront.Msg) bool { return m.Type == "stream" && strings.Contains(m.Text("text"), s) }
	}
	front.Await(c.ID, "output that belongs to no cell", isLine("background"))
	second := front.Execute("print three")
	front.Await(c.ID, "output of a goroutine that outlives its cell", isLine("from one"))
	f.engine.Print("more\n")
	front.Await(second.ID, "output that belongs to no cell", isLine("more"))
}

func TestBackgroundBeforeAnyCell(t *testing.T) {
	f, front := startFront(t)
	f.engine.Print("early\n")
	front.Await("", "output", func(m *fakefront.Msg) bool { return m.Text("text") == "early\n" })
}

// TestHTMLIsSentAsItIs looks at the bytes on the wire, where an escaped angle bracket takes six.
func TestHTMLIsSentAsItIs(t *testing.T) {
	f, front := startFront(t)
	sub := rawPeer(t, f.conn.IOPubPort, "SUB", "")
	sub.SetDeadline(time.Now().Add(fakefront.Patience))
	sub.Write(frame(0, []byte{1}))
	var got []byte
	until := func(text string) {
		t.Helper()
		for !strings.Contains(string(got), text) {
			b := make([]byte, 1<<16)
			n, err := sub.Read(b)
			if err != nil {
				t.Fatalf("waiting for %s: %v", text, err)
			}
			got = append(got, b[:n]...)
		}
	}
	until("iopub_welcome")
	front.Execute("html <b>a & b</b>")
	until(`"idle"`)
	if !strings.Contains(string(got), `{"text/html":"<b>a & b</b>",`) {
		t.Errorf("the display is not among %q", got)
	}
}
