package fakefront

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// kind is the JSON type of a field.
type kind uint8

const (
	text kind = iota
	integer
	number
	boolean
	object
	list
	texts // list of strings
)

// field is one field of a message's content. Those not optional must be there.
type field struct {
	name     string
	kind     kind
	optional bool
	oneOf    []string
}

// statuses of a reply; the fields of an error are checked apart.
var status = field{name: "status", kind: text, oneOf: []string{"ok", "error", "aborted"}}

var bundleFields = []field{{name: "data", kind: object}, {name: "metadata", kind: object}}

// contents is the message specification of protocol 5.5, for what a kernel sends
// (https://jupyter-client.readthedocs.io/en/stable/messaging.html). A field that is not listed is an error.
var contents = map[string][]field{
	"execute_reply": {status, {name: "execution_count", kind: integer}, {name: "user_expressions", kind: object}, {name: "payload", kind: list}},
	"inspect_reply": append([]field{status, {name: "found", kind: boolean}}, bundleFields...),
	"complete_reply": {status, {name: "matches", kind: texts}, {name: "cursor_start", kind: integer},
		{name: "cursor_end", kind: integer}, {name: "metadata", kind: object}},
	"is_complete_reply": {{name: "status", kind: text, oneOf: []string{"complete", "incomplete", "invalid", "unknown"}},
		{name: "indent", kind: text, optional: true}},
	"history_reply":   {status, {name: "history", kind: list}},
	"comm_info_reply": {status, {name: "comms", kind: object}},
	"kernel_info_reply": {status, {name: "protocol_version", kind: text}, {name: "implementation", kind: text},
		{name: "implementation_version", kind: text}, {name: "language_info", kind: object}, {name: "banner", kind: text},
		{name: "help_links", kind: list}, {name: "debugger", kind: boolean}, {name: "supported_features", kind: texts}},
	"connect_reply": {status, {name: "shell_port", kind: integer}, {name: "iopub_port", kind: integer},
		{name: "stdin_port", kind: integer}, {name: "control_port", kind: integer}, {name: "hb_port", kind: integer}},
	"shutdown_reply":  {status, {name: "restart", kind: boolean}},
	"interrupt_reply": {status},
	"usage_reply": {{name: "hostname", kind: text}, {name: "pid", kind: integer}, {name: "cpu_count", kind: integer},
		{name: "kernel_memory", kind: integer, optional: true}, {name: "kernel_cpu", kind: number, optional: true},
		{name: "host_cpu_percent", kind: number, optional: true}, {name: "host_virtual_memory", kind: object, optional: true}},

	"status":        {{name: "execution_state", kind: text, oneOf: []string{"busy", "idle", "starting"}}},
	"execute_input": {{name: "code", kind: text}, {name: "execution_count", kind: integer}},
	"execute_result": append([]field{{name: "execution_count", kind: integer},
		{name: "transient", kind: object, optional: true}}, bundleFields...),
	"display_data":        append([]field{{name: "transient", kind: object, optional: true}}, bundleFields...),
	"update_display_data": append([]field{{name: "transient", kind: object}}, bundleFields...),
	"stream":              {{name: "name", kind: text, oneOf: []string{"stdout", "stderr"}}, {name: "text", kind: text}},
	"error":               {{name: "ename", kind: text}, {name: "evalue", kind: text}, {name: "traceback", kind: texts}},
	"clear_output":        {{name: "wait", kind: boolean}},
	"comm_open":           {{name: "comm_id", kind: text}, {name: "target_name", kind: text}, {name: "data", kind: object}},
	"comm_msg":            {{name: "comm_id", kind: text}, {name: "data", kind: object}},
	"comm_close":          {{name: "comm_id", kind: text}, {name: "data", kind: object}},
	"iopub_welcome":       {{name: "subscription", kind: text}},

	"input_request": {{name: "prompt", kind: text}, {name: "password", kind: boolean}},
}

// channels says where each message may come. A reply may come on shell and, where the request may, on control.
var channels = map[string][]Channel{
	"execute_reply": {Shell}, "inspect_reply": {Shell}, "complete_reply": {Shell}, "is_complete_reply": {Shell},
	"history_reply": {Shell}, "comm_info_reply": {Shell}, "kernel_info_reply": {Shell, Control},
	"connect_reply": {Shell, Control}, "shutdown_reply": {Shell, Control, IOPub}, "interrupt_reply": {Shell, Control},
	"usage_reply": {Control}, "input_request": {Stdin},
}

var (
	mimeType   = regexp.MustCompile(`^[\w\-+.]+/[\w\-+.]+$`)
	dateFormat = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$`)
)

// problems returns what is wrong with a message by the specification.
func (m *Msg) problems() (wrong []string) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	checkHeader(m.Header, "header", bad)
	if len(m.Parent) > 0 {
		checkHeader(m.Parent, "parent_header", bad)
	}
	allowed, known := channels[m.Type]
	if !known {
		allowed = []Channel{IOPub}
	}
	if !slices.Contains(allowed, m.Channel) {
		bad("it came on %s", m.Channel)
	}
	fields, known := contents[m.Type]
	if !known {
		bad("its type is not in the specification")
		return wrong
	}
	failed := m.Content["status"] == "error" || m.Content["status"] == "aborted"
	if failed {
		fields = append([]field{status}, contents["error"]...)
		if m.Type == "execute_reply" {
			fields = append(fields, field{name: "execution_count", kind: integer},
				field{name: "user_expressions", kind: object, optional: true}, field{name: "payload", kind: list, optional: true})
		}
	}
	checkFields(m.Content, fields, "content", bad)
	checkMore(m, bad)
	return wrong
}

func checkHeader(h map[string]any, name string, bad func(string, ...any)) {
	checkFields(h, []field{{name: "msg_id", kind: text}, {name: "session", kind: text}, {name: "username", kind: text},
		{name: "date", kind: text}, {name: "msg_type", kind: text}, {name: "version", kind: text},
		{name: "subshell_id", kind: text, optional: true}}, name, bad)
	if date, _ := h["date"].(string); !dateFormat.MatchString(date) {
		bad("%s: date %q is not one that every client parses", name, date)
	}
	if v, _ := h["version"].(string); !strings.HasPrefix(v, "5.") {
		bad("%s: version is %q", name, v)
	}
}

func checkFields(content map[string]any, fields []field, name string, bad func(string, ...any)) {
	seen := map[string]bool{}
	for _, f := range fields {
		seen[f.name] = true
		v, ok := content[f.name]
		switch {
		case !ok && !f.optional:
			bad("%s: %s is missing", name, f.name)
		case ok && !f.kind.holds(v):
			bad("%s: %s has the wrong type: %T", name, f.name, v)
		case ok && f.oneOf != nil && !slices.Contains(f.oneOf, v.(string)):
			bad("%s: %s is %q", name, f.name, v)
		}
	}
	for k := range content {
		if !seen[k] {
			bad("%s: %s is not in the specification", name, k)
		}
	}
}

// holds reports whether v, as encoding/json decodes it, is of kind k.
func (k kind) holds(v any) bool {
	switch v := v.(type) {
	case string:
		return k == text
	case float64:
		return k == number || k == integer && v == float64(int64(v))
	case bool:
		return k == boolean
	case map[string]any:
		return k == object
	case []any:
		if k == texts {
			for _, e := range v {
				if _, ok := e.(string); !ok {
					return false
				}
			}
			return true
		}
		return k == list
	}
	return false
}

// checkMore checks what a list of fields cannot say.
func checkMore(m *Msg, bad func(string, ...any)) {
	switch m.Type {
	case "display_data", "update_display_data", "execute_result", "inspect_reply":
		data, _ := m.Content["data"].(map[string]any)
		for mime, v := range data {
			if !mimeType.MatchString(mime) {
				bad("data: %q is not a MIME type", mime)
			}
			_, isText := v.(string)
			if json := mime == "application/json" || strings.HasSuffix(mime, "+json"); !json && !isText {
				bad("data: %q is %T, not a string", mime, v)
			}
		}
		if _, ok := data["text/plain"]; m.Type == "execute_result" && !ok {
			bad("data: text/plain is missing")
		}
		if tr, _ := m.Content["transient"].(map[string]any); m.Type == "update_display_data" && tr["display_id"] == nil {
			bad("transient: display_id is missing")
		}
	case "is_complete_reply":
		if _, has := m.Content["indent"]; has != (m.Content["status"] == "incomplete") {
			bad("content: indent belongs to incomplete code, and to it alone")
		}
	case "complete_reply":
		matches, _ := m.Content["matches"].([]any)
		meta, _ := m.Content["metadata"].(map[string]any)
		types, _ := meta["_jupyter_types_experimental"].([]any)
		if len(types) != len(matches) {
			bad("metadata: %d types for %d matches", len(types), len(matches))
			return
		}
		for i, t := range types {
			if e, _ := t.(map[string]any); e["text"] != matches[i] {
				bad("metadata: type %d is of %v, the match is %v", i, e["text"], matches[i])
			}
		}
	case "kernel_info_reply":
		lang, _ := m.Content["language_info"].(map[string]any)
		for _, k := range []string{"name", "version", "mimetype", "file_extension"} {
			if _, ok := lang[k].(string); !ok {
				bad("language_info: %s is missing", k)
			}
		}
	case "history_reply":
		entries, _ := m.Content["history"].([]any)
		for i, e := range entries {
			if t, _ := e.([]any); len(t) != 3 || !integer.holds(t[0]) || !integer.holds(t[1]) {
				bad("history: entry %d is %v", i, e)
			}
		}
	}
}
