// Package screen stands in for the notebook in tests that run cells: it keeps the text that they print, and answers no
// questions.
package screen

import (
	"os"
	"strings"
	"sync"

	"github.com/gander-go/gander/kernel/cell"
)

// Screen is a cell.Output. The zero Screen is empty; it may be used by several goroutines.
type Screen struct {
	mu   sync.Mutex
	text strings.Builder
}

// Stream keeps text of either stream, in order.
func (s *Screen) Stream(name cell.StreamName, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.WriteString(text)
}

// Display implements cell.Output.
func (s *Screen) Display(cell.Bundle) {}

// Update implements cell.Output.
func (s *Screen) Update(cell.Bundle) {}

// Clear implements cell.Output.
func (s *Screen) Clear(bool) {}

// All is the text so far.
func (s *Screen) All() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// Take is All, and begins anew.
func (s *Screen) Take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.text.String()
	s.text.Reset()
	return t
}

// NoInput is a cell.Input of a front end that has none.
type NoInput struct{}

// Ask implements cell.Input.
func (NoInput) Ask(string, bool) (string, error) { return "", os.ErrClosed }
