package eval

import (
	"context"

	"github.com/gander-go/gander/kernel/eval/check"
	"github.com/gander-go/gander/kernel/session/link"
)

// Engine makes a unit for the session process out of a checked cell. kernel/eval/native and kernel/eval/interp are the
// two engines. One cell is built at a time.
type Engine interface {
	// Supports reports whether the engine runs c right. When it does not, reason says what of the cell it is not
	// trusted with, in words for the user ("declares a type").
	Supports(c *check.Checked) (ok bool, reason string)

	// Build makes the unit that runs c. Cancelling ctx stops the build. An error that is a *cell.UserError is shown as
	// the cell's; any other is a failure of the engine. commit is called once the session process has loaded the unit
	// (also when the cell's code then failed), and makes what the unit defines known to later builds; when it is not
	// called, the unit never existed.
	Build(ctx context.Context, c *check.Checked, o check.BuildOptions) (unit link.Unit, commit func(), err error)

	// Reset forgets everything that was committed: the session process is a new one.
	Reset()
}

// Translator is implemented by engines whose code carries positions in a form of their own: it puts cells as In[n] back
// into stack traces.
type Translator interface {
	Translate(text string) string
}

// Learner is implemented by engines that may lack something for a cell that they support, which they can get.
type Learner interface {
	// Learn is told that another engine has built c instead. It returns at once.
	Learn(c *check.Checked)
}

// Reloader is implemented by engines that remember packages which cells import.
type Reloader interface {
	// Reload is told that packages have changed, in the session's module or on disk (no paths: any may have). Units that are
	// built from now on use them as they are now, even where the session process has loaded the versions before; the error
	// says why they do not.
	Reload(paths []string) error
}

// Discarder is implemented by engines that keep what they have built.
type Discarder interface {
	// Discard is told that the session process could not load a unit. It reports whether the cell should be built once more.
	Discard(u link.Unit) bool
}

// Noter is implemented by engines that have something to tell the user.
type Noter interface {
	// Notes returns what the user should know, each thing once.
	Notes() []string
}
