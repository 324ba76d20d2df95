package eval

import (
	"strings"

	"github.com/gander-go/gander/kernel/cell"
)

// Translate puts the numbers of cells into text that an engine's code has written: stack traces that the user prints, and
// those of goroutines that panic.
func (e *Evaluator) Translate(text string) string {
	if !strings.Contains(text, "In[#") {
		return text
	}
	if t, ok := e.cfg.Native.(Translator); ok {
		return t.Translate(text)
	}
	return text
}

// translated is an output whose streams name cells by number.
type translated struct {
	cell.Output
	e *Evaluator
}

// Stream implements cell.Output.
func (o translated) Stream(name cell.StreamName, text string) {
	o.Output.Stream(name, o.e.Translate(text))
}
