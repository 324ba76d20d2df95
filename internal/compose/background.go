package compose

import (
	"github.com/gander-go/gander/kernel/cell"
)

// backgroundOutput hands on what belongs to no running cell, as soon as somebody wants it.
type backgroundOutput Language

func (b *backgroundOutput) to() cell.Output {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.background
}

// Stream implements cell.Output.
func (b *backgroundOutput) Stream(name cell.StreamName, text string) {
	if out := b.to(); out != nil {
		select {
		case <-b.done:
			if b.err == nil {
				text = b.eval.Translate(text)
			}
		default:
		}
		out.Stream(name, text)
	}
}

// Display implements cell.Output.
func (b *backgroundOutput) Display(x cell.Bundle) {
	if out := b.to(); out != nil {
		out.Display(x)
	}
}

// Update implements cell.Output.
func (b *backgroundOutput) Update(x cell.Bundle) {
	if out := b.to(); out != nil {
		out.Update(x)
	}
}

// Clear implements cell.Output.
func (b *backgroundOutput) Clear(wait bool) {
	if out := b.to(); out != nil {
		out.Clear(wait)
	}
}
