package display

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
)

// Bundle is one thing to show in several forms, by MIME type. Values are a string for text types, []byte for binary
// types and json.RawMessage for JSON types. A Bundle may be displayed like any value.
type Bundle struct {
	Data     map[string]any
	Metadata map[string]any
}

// Sink is where what is shown goes. The session process sets one; without it the plain text goes to standard output.
type Sink interface {
	Show(id ID, b Bundle)   // id is "" for a display that is never updated
	Update(id ID, b Bundle) // replaces what was shown with id
	Clear(wait bool)
	Ask(prompt string, password bool) (string, error)
}

var sink atomic.Pointer[Sink]

// SetSink sets where what is shown goes; for the session process.
func SetSink(s Sink) { sink.Store(&s) }

func current() Sink {
	if p := sink.Load(); p != nil {
		return *p
	}
	return nil
}

func show(id ID, b Bundle) {
	if s := current(); s != nil {
		s.Show(id, b)
		return
	}
	printText(b)
}

func printText(b Bundle) {
	if s, ok := b.Data[mimeText].(string); ok {
		fmt.Println(strings.TrimSuffix(s, "\n"))
	}
}

func newID() ID {
	var b [12]byte
	rand.Read(b[:])
	return ID("gander-" + hex.EncodeToString(b[:]))
}

// Ask shows prompt and returns the line that the user answers with. It fails when there is nobody to ask and when the
// cell is interrupted. Outside a notebook it reads standard input.
func Ask(prompt string) (string, error) { return ask(prompt, false) }

// Password is Ask with an answer that is not shown. It needs a notebook.
func Password(prompt string) (string, error) { return ask(prompt, true) }

func ask(prompt string, password bool) (string, error) {
	if s := current(); s != nil {
		return s.Ask(prompt, password)
	}
	if password {
		return "", errors.New("asking for a password: there is no notebook to ask in")
	}
	fmt.Print(prompt)
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err == io.EOF && line != "" {
		err = nil
	}
	return strings.TrimRight(line, "\r\n"), err
}
