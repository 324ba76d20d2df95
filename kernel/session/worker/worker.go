// Package worker is what runs inside the session process: it opens plugins and calls them, hands interpreted units to
// the interpreter, tells the front what the user's code shows, and ends when the front goes away.
//
// It is not the place of anything that the user did not ask to run: checking, building, analysis and rendering live in
// the front process. It links the standard library and packages of ours that import nothing else.
//
// Invariant: one unit runs at a time, and everything a unit wrote or displayed reaches the front before its Done.
package worker

import (
	"context"
	"fmt"
	"io"

	"github.com/gander-go/gander/kernel/session/link"
)

// Interpreter runs units whose engine is link.EngineInterp. It lives with its implementation in worker/interp.
type Interpreter interface {
	// Run runs u to its end. Its output goes to rt's writers and its value to rt's Show, as that of compiled units
	// does. A failure of the user's code is returned as a *Panic or simply escapes as a panic; another error means
	// that the unit could not be run. When ctx ends it returns as soon as it can.
	Run(ctx context.Context, u *link.Unit) error
}

// Panic is a panic of interpreted code.
type Panic struct {
	Value any
	Stack []byte // as runtime/debug prints it; frames of user code at In[n]:line
}

func (p *Panic) Error() string { return fmt.Sprint("panic: ", p.Value) }

// Recorder records a profile in this process. It is registered by the profiler's part of the session process.
type Recorder interface {
	// Start begins recording; options is the JSON of the profiler's options. An error means that nothing records.
	Start(options []byte) error
	// Stop ends recording and returns what writes the trace in its file form.
	Stop() (io.WriterTo, error)
}

// registry is filled by init functions and read-only after.
var registry struct {
	interpreter func() (Interpreter, error)
	recorder    Recorder
}

// RegisterInterpreter sets what makes the interpreter; it is called once, when the first unit needs it. For use in init.
func RegisterInterpreter(make func() (Interpreter, error)) { registry.interpreter = make }

// RegisterRecorder sets the recorder. For use in init.
func RegisterRecorder(r Recorder) { registry.recorder = r }
