// Package link is the language between the front process and the session process: message structs and their framing on
// one inherited stream socket. Both sides import it, so it imports only the standard library.
//
// A frame is
//
//	length uint32 little-endian, of what follows
//	kind   uint8
//	body   JSON of the struct that kind names; for Trace frames raw bytes
//
// Front to session: Run, Interrupt, InputReply, Record, Vars, Comm, Stack, Exit.
// Session to front: Ready, Output, InputRequest, Done, Trace, RecordReply, VarsReply, Comm, StackReply.
// The front sends one Run at a time and waits for its Done; the other frames may come at any time, Record and Vars being
// served between runs. Text that user code writes does not travel here: see worker's tape, which also puts Output, Done,
// InputRequest and Comm in order with it.
package link

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// Kind tells what a frame's body is.
type Kind uint8

const (
	KindReady Kind = iota + 1
	KindRun
	KindDone
	KindOutput
	KindInputRequest
	KindInputReply
	KindInterrupt
	KindRecord
	KindRecordReply
	KindTrace // raw bytes, a part of the trace
	KindVars
	KindVarsReply
	KindComm
	KindExit
	KindStack
	KindStackReply
)

// MaxFrame bounds one frame; a longer one ends the connection. Traces travel in chunks.
const MaxFrame = 256 << 20

// Ready is the session's first frame.
type Ready struct {
	PID       int
	GoVersion string // runtime.Version of the session process
	Native    bool   // it can load plugins
}

// Engine says how a unit runs.
type Engine string

const (
	EngineNative Engine = "native"
	EngineInterp Engine = "interp"
)

// Run asks the session to run one unit.
type Run struct {
	ID         int64
	Cell       int // In[Cell]
	Unit       Unit
	AllowStdin bool
	Quiet      bool // the value of a trailing expression is not wanted
	Generation int  // of the session that the unit was made for; another one refuses it. 0: any
	// Revert are names that the last run gave new variables and that its failure left without values: they mean again what
	// they did before.
	Revert []string `json:",omitempty"`
	// Vars number the meanings of the names that the unit defines as variables.
	Vars map[string]int64 `json:",omitempty"`
}

// Unit is something to run: the product of kernel/eval.
type Unit struct {
	Engine Engine

	// Plugins are opened first, in order; one that is loaded already is left alone. They register their variables,
	// types and symbols from their init functions.
	Plugins []string
	// Olds are the former variables that the code asks for by name and slot, as Run.Vars has numbered them.
	Olds map[string][]int64 `json:",omitempty"`
	// Entry names the exported func() of the last plugin to call (native). Empty: nothing is called.
	Entry string

	// Source is a Go file for the interpreter, lowered to what it does right (interp). Its package is "cell" and it
	// defines func Cell().
	Source string
	// Symbols are the import paths that Source needs symbols of: those of the tables that the session process carries, or
	// of the one that a plugin has registered under the name in Tables.
	Symbols []string
	Tables  map[string]string `json:",omitempty"`
	// Cell is the number that positions in Source's failures are reported for.
	Cell int
	// Names are the session's variables (V_name), functions (F_name) and types (T_name) that Source uses, and functions that
	// the session process makes for a type (KIND_number|type|note; see kernel/eval/interp and worker/interp).
	Names []string
	// Vars are session variables that the unit creates before it runs. Those it only uses are found by name.
	Vars []Var
}

// Var is a session variable; Type is its Go type as an expression over the registered types.
type Var struct {
	Name string
	Type string
}

// Done is the end of a run.
type Done struct {
	ID      int64
	Err     *Failure
	Value   *Bundle // trailing expression
	CPU     int64   // user and system time that the process used meanwhile, ns
	System  int64   // of that the system time
	Wall    int64   // ns
	Allocs  int64   // bytes allocated meanwhile, exact, process-wide
	Mallocs int64   // objects allocated meanwhile
}

// Failure is a run that did not end well.
type Failure struct {
	Kind    string // "panic", "goexit", "interrupted", "load"; "exit" and "died" when the process ended
	Message string
	GoType  string   // type of the panic value
	Stack   string   // as runtime/debug prints it
	Causes  []string // wrapped and joined errors
	Code    int      // exit code of os.Exit
}

// Bundle is cell.Bundle on the link: binary forms are base64 in B64, JSON forms raw in JSON.
type Bundle struct {
	Text      map[string]string          `json:",omitempty"`
	B64       map[string][]byte          `json:",omitempty"`
	JSON      map[string]json.RawMessage `json:",omitempty"`
	Metadata  map[string]any             `json:",omitempty"`
	DisplayID string                     `json:",omitempty"`
}

// Output is something the user's code shows.
type Output struct {
	Run    int64   // the run that was current when it was made, 0 between runs
	Op     string  // "display", "update", "clear", "page"
	Bundle *Bundle `json:",omitempty"`
	Wait   bool    `json:",omitempty"` // of clear
}

// InputRequest asks for a line of input.
type InputRequest struct {
	ID       int64
	Prompt   string
	Password bool
}

// InputReply answers it; Err is set when there is none to be had.
type InputReply struct {
	ID   int64
	Text string
	Err  string
}

// Interrupt asks the running unit to stop. One whose goroutine is blocked LeaveAfter ns later is left behind, so that the
// session can go on.
type Interrupt struct {
	Run        int64
	LeaveAfter int64
}

// Record starts or stops recording in the session. Options is the JSON of profiler/record's options; the link does not
// know them.
type Record struct {
	ID      int64
	Op      string // "start", "stop"
	Options json.RawMessage
}

// RecordReply answers Record; after a stop that succeeded, Trace frames precede it.
type RecordReply struct {
	ID  int64
	Err string
}

// Vars asks for the session's variables.
type Vars struct {
	ID    int64
	Names []string // none: all
}

// VarsReply lists them.
type VarsReply struct {
	ID   int64
	Vars []VarValue
}

// VarValue is a variable and a short form of its value.
type VarValue struct {
	Name  string
	Type  string
	Value string // one line, cut
	Bytes int64  // shallow size and elements, an estimate
	Len   int    // -1 where there is no length
}

// Comm carries comm messages of widgets both ways.
type Comm struct {
	Op      string // "open", "msg", "close"
	ID      string
	Target  string
	Data    json.RawMessage
	Meta    json.RawMessage
	Buffers [][]byte
}

// Stack asks where the running unit's goroutine is; it is answered at once, while the unit runs.
type Stack struct{ ID int64 }

// StackReply tells it, as runtime/debug prints stacks; empty when nothing runs.
type StackReply struct {
	ID    int64
	Stack string
}

// Exit asks the session process to end.
type Exit struct{}

// Conn frames messages over a stream. Send is safe for concurrent use; Receive is for one goroutine.
type Conn struct {
	r *bufio.Reader
	c io.ReadWriteCloser
	// mu guards writes to c.
	mu sync.Mutex
}

// NewConn wraps c.
func NewConn(c io.ReadWriteCloser) *Conn { return &Conn{r: bufio.NewReaderSize(c, 64<<10), c: c} }

// Send writes body, marshalled, as a frame of kind k.
func (c *Conn) Send(k Kind, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("sending frame %d: %w", k, err)
	}
	return c.SendRaw(k, b)
}

// SendRaw writes b as a frame of kind k.
func (c *Conn) SendRaw(k Kind, b []byte) error {
	if len(b)+1 > MaxFrame {
		return fmt.Errorf("sending frame %d: %d bytes are over the limit of %d", k, len(b), MaxFrame)
	}
	head := make([]byte, 5, 5+len(b))
	binary.LittleEndian.PutUint32(head, uint32(len(b)+1))
	head[4] = byte(k)
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.c.Write(append(head, b...))
	return err
}

// Receive reads the next frame. The body is the caller's.
func (c *Conn) Receive() (Kind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(c.r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(head[:4])
	if n == 0 || n > MaxFrame {
		return 0, nil, fmt.Errorf("receiving frame: length %d is out of range", n)
	}
	b := make([]byte, n-1)
	if _, err := io.ReadFull(c.r, b); err != nil {
		return 0, nil, fmt.Errorf("receiving frame %d: %w", head[4], err)
	}
	return Kind(head[4]), b, nil
}

// Close closes the stream.
func (c *Conn) Close() error { return c.c.Close() }
