package fakefront

import (
	"strings"
	"testing"
)

type fields = map[string]any

func goodHeader() fields {
	return fields{"msg_id": "1", "session": "s", "username": "u", "date": "2026-12-01T05:00:00.123456Z", "msg_type": "x", "version": "5.5"}
}

func TestProblems(t *testing.T) {
	bundle := func(more fields) fields {
		b := fields{"data": fields{"text/plain": "x"}, "metadata": fields{}}
		for k, v := range more {
			b[k] = v
		}
		return b
	}
	for _, tt := range []struct {
		typ     string
		ch      Channel
		content fields
		want    string // part of the problem, empty for none
	}{
		{"status", IOPub, fields{"execution_state": "busy"}, ""},
		{"status", IOPub, fields{"execution_state": "bored"}, `execution_state is "bored"`},
		{"status", Shell, fields{"execution_state": "busy"}, "came on shell"},
		{"stream", IOPub, fields{"name": "stdout", "text": "x"}, ""},
		{"stream", IOPub, fields{"name": "stdout", "text": 1.0}, "wrong type"},
		{"stream", IOPub, fields{"name": "stdout"}, "text is missing"},
		{"stream", IOPub, fields{"name": "stdout", "text": "", "more": 1.0}, "more is not in the specification"},
		{"display_data", IOPub, bundle(nil), ""},
		{"display_data", IOPub, bundle(fields{"data": fields{"text/plain; charset=utf-8": "x"}}), "not a MIME type"},
		{"display_data", IOPub, bundle(fields{"data": fields{"text/plain": fields{}}}), "not a string"},
		{"display_data", IOPub, bundle(fields{"data": fields{"application/json": fields{}}}), ""},
		{"display_data", IOPub, bundle(fields{"metadata": nil}), "wrong type"},
		{"update_display_data", IOPub, bundle(fields{"transient": fields{}}), "display_id is missing"},
		{"execute_result", IOPub, bundle(fields{"execution_count": 1.5}), "wrong type"},
		{"execute_result", IOPub, fields{"execution_count": 1.0, "data": fields{}, "metadata": fields{}}, "text/plain is missing"},
		{"execute_reply", Shell, fields{"status": "ok", "execution_count": 1.0, "user_expressions": fields{}, "payload": []any{}}, ""},
		{"execute_reply", Control, fields{"status": "ok", "execution_count": 1.0, "user_expressions": fields{}, "payload": []any{}}, "came on control"},
		{"execute_reply", Shell, fields{"status": "error", "ename": "a", "evalue": "b", "traceback": []any{"c"}, "execution_count": 1.0}, ""},
		{"execute_reply", Shell, fields{"status": "error", "ename": "a", "evalue": "b", "traceback": nil, "execution_count": 1.0}, "wrong type"},
		{"is_complete_reply", Shell, fields{"status": "incomplete"}, "indent"},
		{"complete_reply", Shell, fields{"status": "ok", "matches": []any{"a"}, "cursor_start": 0.0, "cursor_end": 0.0, "metadata": fields{}}, "0 types for 1 matches"},
		{"history_reply", Shell, fields{"status": "ok", "history": []any{[]any{1.0, 2.0}}}, "entry 0"},
		{"kernel_info_reply", Shell, fields{"status": "error", "ename": "a", "evalue": "b", "traceback": []any{}}, "language_info"},
		{"surprise", IOPub, fields{}, "not in the specification"},
	} {
		m := &Msg{Channel: tt.ch, Type: tt.typ, Header: goodHeader(), Content: tt.content}
		got := strings.Join(m.problems(), "; ")
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s %v: got %q, want %q", tt.typ, tt.content, got, tt.want)
		}
	}
}

func TestHeaderProblems(t *testing.T) {
	for change, want := range map[[2]string]string{
		{"date", "2026-12-01T05:00:00.123456789Z"}: "date", {"date", ""}: "date", {"version", "6.0"}: "version",
		{"extra", "x"}: "extra is not in the specification", {"subshell_id", "x"}: "",
	} {
		h := goodHeader()
		h[change[0]] = change[1]
		m := &Msg{Channel: IOPub, Type: "status", Header: h, Content: fields{"execution_state": "idle"}}
		if got := strings.Join(m.problems(), "; "); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%v: got %q", change, got)
		}
	}
	h := goodHeader()
	delete(h, "session")
	m := &Msg{Channel: IOPub, Type: "status", Header: goodHeader(), Parent: h, Content: fields{"execution_state": "idle"}}
	if got := m.problems(); len(got) != 1 {
		t.Errorf("a parent header without a session: %q", got)
	}
}
