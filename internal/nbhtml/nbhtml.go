// Package nbhtml writes a Jupyter notebook as one self-contained HTML page: Markdown, highlighted code and every output,
// with no network.
//
// It knows nothing of kernels or traces. Its one invariant: text that is not an HTML output of a cell can never become
// markup or code.
package nbhtml

import (
	"errors"
	"io"
)

// Options say how the page is made. The zero value is right for notebooks that the user ran.
type Options struct {
	Title    string // empty for the notebook's first heading
	Sanitize bool   // remove scripts and other active content from HTML outputs: for notebooks of strangers
	HideCode bool
	Dir      string // folder that relative image paths of Markdown start from; empty: they are not embedded
}

// Write reads notebook JSON (nbformat 4) and writes the page.
func Write(w io.Writer, notebook []byte, o Options) error {
	return errors.New("writing a notebook page: not built yet")
}
