package kernel_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/internal/fakefront"
	"github.com/gander-go/gander/kernel"
)

func TestComplete(t *testing.T) {
	_, front := startFront(t)
	for _, tt := range []struct {
		code       string
		cursor     any
		matches    []string
		start, end int
	}{
		{"pri", 3, []string{"print", "printer"}, 0, 3},
		{"größe gr", 8, []string{"größe"}, 6, 8},
		{"größe grö", 9, []string{"größe"}, 6, 9},
		{"日本 pri and more", 6, []string{"print", "printer"}, 3, 6},
		{"xyz", 3, []string{}, 3, 3},
		{"", 0, []string{}, 0, 0},
		{"pri", 99, []string{"print", "printer"}, 0, 3},
		{"pri", -4, []string{}, 0, 0},
		{"pri", nil, []string{"print", "printer"}, 0, 3},
	} {
		content := fields{"code": tt.code}
		if tt.cursor != nil {
			content["cursor_pos"] = tt.cursor
		}
		reply, out := front.Request(fakefront.Shell, "complete_request", content)
		equalTypes(t, out, "busy", "idle")
		var got []string
		for _, m := range reply.Content["matches"].([]any) {
			got = append(got, m.(string))
		}
		if !slices.Equal(got, tt.matches) {
			t.Errorf("%q at %v: got %v, want %v", tt.code, tt.cursor, got, tt.matches)
		}
		equal(t, tt.code+" start", reply.Int("cursor_start"), tt.start)
		equal(t, tt.code+" end", reply.Int("cursor_end"), tt.end)
	}
}

func TestInspect(t *testing.T) {
	_, front := startFront(t)
	reply, _ := front.Request(fakefront.Shell, "inspect_request", fields{"code": "printö x", "cursor_pos": 6, "detail_level": 1})
	equal(t, "found", reply.Content["found"], any(true))
	equal(t, "text", reply.Data("text/plain"), any("print TEXT (byte 7, detail 1)"))
	reply, _ = front.Request(fakefront.Shell, "inspect_request", fields{"code": "x", "cursor_pos": 1})
	equal(t, "found", reply.Content["found"], any(false))
	equal(t, "status", reply.Text("status"), "ok")
}

func TestIsComplete(t *testing.T) {
	_, front := startFront(t)
	wants := map[string]string{"x": "complete", "f {": "incomplete", "}}": "invalid"}
	for code, want := range wants {
		reply, _ := front.Request(fakefront.Shell, "is_complete_request", fields{"code": code})
		equal(t, code, reply.Text("status"), want)
	}
}

// TestAnswersWhileACellRuns checks that nothing but cells waits for cells, and that the last status stays busy.
func TestAnswersWhileACellRuns(t *testing.T) {
	_, front := startFront(t)
	id := front.Send(fakefront.Shell, "execute_request", fakefront.Code("sleep 1h"))
	front.Await(id, "busy", fakefront.IsStatus("busy"))
	requests := map[string]fields{
		"complete_request": {"code": "pri", "cursor_pos": 3}, "inspect_request": {"code": "print", "cursor_pos": 3},
		"is_complete_request": {"code": "x"}, "kernel_info_request": {}, "comm_info_request": {},
		"history_request": {"hist_access_type": "tail", "n": 3},
	}
	for typ, content := range requests {
		_, out := front.Request(fakefront.Shell, typ, content)
		equalTypes(t, out, "busy", "idle")
	}
	front.Request(fakefront.Control, "kernel_info_request", fields{})
	front.Outputs(front.Send(fakefront.Shell, "comm_open", fields{"comm_id": "c", "target_name": "known", "data": fields{}}))
	reply, _ := front.Request(fakefront.Control, "interrupt_request", fields{})
	equal(t, "interrupt", reply.Text("status"), "ok")
	front.Reply(id)
	states := 0
	var last *fakefront.Msg
	for _, m := range front.Outputs(id) {
		if m.Type == "status" {
			states++
			last = m
		}
	}
	equal(t, "last state", last.Text("execution_state"), "idle")
	if states < 9 {
		t.Errorf("busy was said again %d times after other requests", states-2)
	}
	var state string
	for _, m := range front.All() {
		if m.Type == "status" && m.ParentID() == id {
			state = m.Text("execution_state")
		}
	}
	equal(t, "state", state, "idle")
}

func TestNewcomersAreToldThatACellRuns(t *testing.T) {
	f, front := startFront(t)
	id := front.Send(fakefront.Shell, "execute_request", fakefront.Code("sleep 1h"))
	front.Await(id, "busy", fakefront.IsStatus("busy"))
	second := fakefront.Connect(t, f.conn)
	second.Await(id, "busy", fakefront.IsStatus("busy"))
	f.kernel.Interrupt()
	second.Await(id, "idle", fakefront.IsStatus("idle"))
	third := fakefront.Connect(t, f.conn)
	third.Request(fakefront.Shell, "kernel_info_request", fields{})
	equalTypes(t, third.All(), "iopub_welcome", "busy", "idle")
}

func TestComms(t *testing.T) {
	f, front := startFront(t)
	open := func(id, target string) []*fakefront.Msg {
		return front.Outputs(front.Send(fakefront.Shell, "comm_open",
			fields{"comm_id": id, "target_name": target, "data": fields{"x": 1}}, []byte("buffer")))
	}
	equalTypes(t, open("one", "known"), "busy", "idle")
	out := open("two", "unknown")
	equalTypes(t, out, "busy", "comm_close", "idle")
	equal(t, "closed", out[1].Text("comm_id"), "two")
	equalTypes(t, front.Outputs(front.Send(fakefront.Shell, "comm_msg", fields{"comm_id": "one", "data": fields{}})), "busy", "idle")
	equalTypes(t, front.Outputs(front.Send(fakefront.Shell, "comm_msg", fields{"comm_id": "two", "data": fields{}})), "busy", "comm_close", "idle")

	c := front.Execute("comm widget")
	m := c.Outputs[2]
	equal(t, "target", m.Text("target_name"), "widget")
	if len(m.Buffers) != 1 || !slices.Equal(m.Buffers[0], []byte{1, 2, 3}) {
		t.Errorf("buffers: %v", m.Buffers)
	}
	comms := func(content fields) map[string]any {
		reply, _ := front.Request(fakefront.Shell, "comm_info_request", content)
		return reply.Content["comms"].(map[string]any)
	}
	equal(t, "comms", len(comms(fields{})), 2)
	equal(t, "comms of known", len(comms(fields{"target_name": "known"})), 1)
	front.Outputs(front.Send(fakefront.Shell, "comm_close", fields{"comm_id": "one", "data": fields{}}))
	equal(t, "comms after close", len(comms(fields{})), 1)
	equal(t, "what the engine got", f.engine.Log()[0], `comm open one known {"x":1} 1`)
}

// TestCommsComeBeforeLaterCells keeps the order between a comm message and the cell that was sent after it.
func TestCommsComeBeforeLaterCells(t *testing.T) {
	f, front := startFront(t)
	var ids []string
	for range 50 {
		front.Send(fakefront.Shell, "comm_open", fields{"comm_id": "c", "target_name": "known", "data": fields{}})
		ids = append(ids, front.Send(fakefront.Shell, "execute_request", fakefront.Code("print x")))
	}
	front.Reply(ids[len(ids)-1])
	cells, comms := 0, 0
	for _, l := range f.engine.Log() {
		if strings.HasPrefix(l, "comm") {
			comms++
		} else if cells++; comms < cells {
			t.Fatalf("cell %d ran before comm message %d", cells, cells)
		}
	}
}

func TestHistory(t *testing.T) {
	file := t.TempDir() + "/h.jsonl"
	use := func(_ *kernel.ConnectionInfo, o *kernel.Options) { o.HistoryFile = file }
	_, old := startFront(t, use)
	old.Execute("print from the first session")
	_, front := startFront(t, use)
	for _, c := range []string{"print a", "value 6", "value 6", "print größe"} {
		front.Execute(c)
	}
	front.Execute("print secret", fields{"store_history": false})
	ask := func(content fields) [][]any {
		reply, _ := front.Request(fakefront.Shell, "history_request", content)
		var entries [][]any
		for _, e := range reply.Content["history"].([]any) {
			entries = append(entries, e.([]any))
		}
		return entries
	}
	tail := ask(fields{"hist_access_type": "tail", "n": 2, "output": false, "raw": true})
	equal(t, "tail", len(tail), 2)
	equal(t, "last", tail[1][2], any("print größe"))
	equal(t, "all", len(ask(fields{"hist_access_type": "tail", "n": 100})), 5)
	session := int(tail[0][0].(float64))
	equal(t, "session", session, 2)
	ranged := ask(fields{"hist_access_type": "range", "session": session, "start": 2, "stop": 3, "output": true})
	equal(t, "range", len(ranged), 1)
	equal(t, "its session", ranged[0][0], any(float64(session)))
	if pair := ranged[0][2].([]any); pair[0] != "value 6" || pair[1] != "6" {
		t.Errorf("input and output: %v", pair)
	}
	equal(t, "this session", len(ask(fields{"hist_access_type": "range", "session": 0, "start": 1})), 4)
	equal(t, "the one before", ask(fields{"hist_access_type": "range", "session": -1, "start": 1})[0][2], any("print from the first session"))
	equal(t, "search", len(ask(fields{"hist_access_type": "search", "pattern": "value ?"})), 2)
	equal(t, "unique", len(ask(fields{"hist_access_type": "search", "pattern": "value*", "unique": true})), 1)
	equal(t, "newest", ask(fields{"hist_access_type": "search", "pattern": "*", "n": 1})[0][2], any("print größe"))
}

func TestInterrupt(t *testing.T) {
	f, front := startFront(t)
	f.kernel.Interrupt() // an idle kernel takes no notice
	for i, interrupt := range []func(){
		f.kernel.Interrupt,
		func() { front.Request(fakefront.Control, "interrupt_request", fields{}) },
		func() { front.Request(fakefront.Shell, "interrupt_request", fields{}) },
	} {
		id := front.Send(fakefront.Shell, "execute_request", fakefront.Code("sleep 1h", fields{"stop_on_error": false}))
		behind := front.Send(fakefront.Shell, "execute_request", fakefront.Code("print never"))
		front.Await(id, "execute_input", func(m *fakefront.Msg) bool { return m.Type == "execute_input" })
		interrupt()
		equal(t, "ename", front.Reply(id).Text("ename"), "Interrupted")
		equal(t, "queued cell", front.Reply(behind).Text("status"), "aborted")
		equal(t, "next cell", front.Execute("print x").Reply.Int("execution_count"), 2*i+2)
	}
}

func TestSecondInterruptReachesTheEngine(t *testing.T) {
	f, front := startFront(t)
	id := front.Send(fakefront.Shell, "execute_request", fakefront.Code("print x\nstubborn"))
	front.Await(id, "output", func(m *fakefront.Msg) bool { return m.Type == "stream" })
	f.kernel.Interrupt()
	f.kernel.Interrupt()
	equal(t, "ename", front.Reply(id).Text("ename"), "Interrupted")
}

func TestInput(t *testing.T) {
	_, front := startFront(t)
	id := front.Send(fakefront.Shell, "execute_request", fakefront.Code("print before\nask name?\nsecret word?", fields{"allow_stdin": true}))
	q := front.Asked(0)
	equal(t, "prompt", q.Text("prompt"), "name?")
	equal(t, "password", q.Content["password"], any(false))
	equal(t, "parent", q.ParentID(), id)
	front.Await(id, "output before the question", func(m *fakefront.Msg) bool { return m.Text("text") == "before\n" })
	front.Answer(q, "Ada")
	secret := front.Asked(1)
	equal(t, "password", secret.Content["password"], any(true))
	front.Answer(q, "stale") // to a question that was answered
	front.Answer(nil, "swordfish")
	equal(t, "status", front.Reply(id).Text("status"), "ok")
	c := fakefront.Cell{Outputs: front.Outputs(id)}
	equal(t, "output", c.Stream("stdout"), "before\nAda\nswordfish\n")
	front.Answer(nil, "nobody asked")
	equal(t, "next cell", front.Execute("print x").Reply.Text("status"), "ok")
}

func TestInputEnds(t *testing.T) {
	_, front := startFront(t)
	equal(t, "not allowed", front.Execute("ask name?").Reply.Text("ename"), "InputError")

	id := front.Send(fakefront.Shell, "execute_request", fakefront.Code("ask name?", fields{"allow_stdin": true}))
	front.Answer(front.Asked(0), "\x04")
	equal(t, "end of input", front.Reply(id).Text("evalue"), "EOF")

	id = front.Send(fakefront.Shell, "execute_request", fakefront.Code("ask name?", fields{"allow_stdin": true}))
	front.Asked(1)
	front.Request(fakefront.Control, "interrupt_request", fields{})
	equal(t, "interrupt", front.Reply(id).Text("evalue"), "interrupted")
}

func TestOrphanEnds(t *testing.T) {
	done, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer done.Close()
	// A process that ends when its standard input does.
	p, err := os.StartProcess("/bin/cat", []string{"cat"}, &os.ProcAttr{Files: []*os.File{done}})
	if err != nil {
		t.Skipf("SKIPPED: no /bin/cat to stand for a parent: %v", err)
	}
	f := start(t, func(_ *kernel.ConnectionInfo, o *kernel.Options) { o.ParentPID = p.Pid })
	select {
	case <-f.ended:
		t.Fatal("the kernel ended while its parent lives")
	case <-time.After(50 * time.Millisecond):
	}
	w.Close()
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	f.waitEnd(t)
}
