// Package cell holds the nouns that every layer of the kernel shares: the cell a user sent, what comes out of it while it
// runs, and how it ended. It is a leaf: it imports only the standard library and holds next to no logic.
package cell

import "encoding/json"

// Cell is one piece of code to execute.
type Cell struct {
	N          int    // the number in In[N]; the execution count
	Code       string // as the user sent it
	ID         string // the front end's id of the cell, when it sends one
	Silent     bool   // nothing is shown, nothing is counted
	AllowStdin bool
}

// StreamName is stdout or stderr.
type StreamName string

const (
	Stdout StreamName = "stdout"
	Stderr StreamName = "stderr"
)

// Bundle is one thing to show in several forms, by MIME type. Values are a string for text types, []byte for binary
// types (encoded as base64 on the wire) and json.RawMessage for JSON types.
type Bundle struct {
	Data      map[string]any
	Metadata  map[string]any
	DisplayID string // names the display so that Update can replace it later; empty for none
}

// Text makes a bundle with only a plain text form.
func Text(s string) Bundle { return Bundle{Data: map[string]any{"text/plain": s}} }

// JSON makes a JSON value for a bundle out of v. It panics when v cannot be marshalled, which is a programmer's mistake.
func JSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// Output receives what a cell produces, in order. It is safe for concurrent use.
type Output interface {
	Stream(name StreamName, text string)
	Display(b Bundle)
	Update(b Bundle) // replaces the display with b.DisplayID
	Clear(wait bool)
}

// Input asks the user for a line. It fails at once when the front end allows no input, and when the cell is interrupted.
type Input interface {
	Ask(prompt string, password bool) (string, error)
}

// Result is how a cell ended.
type Result struct {
	Value   *Bundle // the value of a trailing expression, if there is one to show
	Err     *UserError
	Payload []Payload // for the front end: pages and next input
}

// Payload is an instruction to the front end that travels in the execute reply.
type Payload struct {
	Source  string // "page", "set_next_input"
	Data    map[string]any
	Text    string
	Start   int
	Replace bool
}

// Pos is a place in a cell. Line and Col start at 1; Col counts bytes. Cell 0 is no cell.
type Pos struct {
	Cell int
	Line int
	Col  int
}

// UserError is a mistake of the user's code, or its failure: never one of ours.
type UserError struct {
	Name    string       // "CompileError", "panic", "Interrupted", "SessionDied", …
	Message string       // one line or a few
	Diags   []Diagnostic // what the checker or the compiler found
	Frames  []Frame      // the user's frames, innermost first
	Causes  []string     // the errors that an error value wraps or joins
	Text    []string     // traceback lines as the front end shows them; ANSI colours allowed
	HTML    string       // the same for front ends that show HTML; empty for none
}

func (e *UserError) Error() string { return e.Name + ": " + e.Message }

// Severity of a diagnostic.
type Severity uint8

const (
	Error Severity = iota
	Warning
)

// Diagnostic is one finding about a cell's text.
type Diagnostic struct {
	Pos
	EndLine, EndCol int // 0 when unknown
	Severity        Severity
	Message         string
}

// Frame is one call of user code.
type Frame struct {
	Func string
	Pos         // in a cell, when Cell > 0
	File string // otherwise
}

// Completion is the answer to a completion request. Offsets are in bytes of the code; the wire converts to code points.
type Completion struct {
	Start, End int
	Items      []CompletionItem
}

// CompletionItem is one candidate.
type CompletionItem struct {
	Text      string // what is inserted
	Type      string // "function", "method", "type", "variable", "constant", "field", "module", "keyword", "magic", "path"
	Signature string
}

// Completeness is the state of a piece of code that is still being typed.
type Completeness struct {
	Status string // "complete", "incomplete", "invalid", "unknown"
	Indent string // what to put on the next line when incomplete
}
