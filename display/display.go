// Package display shows values in a notebook: as HTML, images, tables, charts. Cells have it imported already; programs
// outside a notebook may use it too, and then see the plain text form on standard output.
//
// It renders and hands over; it does not know what shows the result. It imports only the standard library.
// Invariant: every bundle has a plain text form.
package display

// Bundle is one thing to show in several forms, by MIME type. Values are a string for text types, []byte for binary
// types and json.RawMessage for JSON types.
type Bundle struct {
	Data     map[string]any
	Metadata map[string]any
}

// ID names something shown, so that Update can replace it.
type ID string

// Sink is where what is shown goes. The session process sets one; without it the plain text goes to standard output.
type Sink interface {
	Show(id ID, b Bundle)   // id is "" for a display that is never updated
	Update(id ID, b Bundle) // replaces what was shown with id
	Clear(wait bool)
	Ask(prompt string, password bool) (string, error)
}
