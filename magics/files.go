package magics

import (
	"errors"
	"fmt"
	"html"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gander-go/gander/internal/notebook"
	"github.com/gander-go/gander/kernel/cell"
)

func init() {
	register(magic{name: "writefile", use: "%%writefile [-a] FILE", help: "writes the cell to a file instead of running it", cell: writeFileCell,
		flags: func() *pflag.FlagSet { fs, _ := writeFileFlags(); return fs },
		check: func(m *call) error { _, _, err := m.writeFileArgs(); return err }})
	register(magic{name: "load", use: "%load FILE", help: "puts the text of a file into the next cell", line: loadLine, check: oneFileCheck})
	register(magic{name: "run", use: "%run FILE.go|FILE.ipynb", help: "runs a file in the session, as if its text were in this cell", line: runLine, check: oneFileCheck})
	register(magic{name: "html", use: "%%html", help: "shows the cell as HTML", cell: showCell("text/html")})
	register(magic{name: "markdown", use: "%%markdown", help: "shows the cell as Markdown", cell: showCell("text/markdown")})
	register(magic{name: "latex", use: "%%latex", help: "shows the cell as LaTeX", cell: showCell("text/latex")})
}

func oneFileCheck(m *call) error { _, err := m.oneWord("file", false); return err }

func showCell(mime string) func(m *call) *cell.Result {
	return func(m *call) *cell.Result {
		m.out.Display(cell.Bundle{Data: map[string]any{mime: m.body, "text/plain": m.body}})
		return &cell.Result{}
	}
}

func writeFileFlags() (flags *pflag.FlagSet, add *bool) {
	flags = newFlags("writefile")
	return flags, flags.BoolP("append", "a", false, "add to the end of the file")
}

func (m *call) writeFileArgs() (name string, add bool, err error) {
	flags, a := writeFileFlags()
	if err := parseFlags(flags, m.args); err != nil {
		return "", false, err
	}
	if flags.NArg() != 1 {
		return "", false, usagef("%%%%writefile takes one file name")
	}
	return flags.Arg(0), *a, nil
}

func writeFileCell(m *call) *cell.Result {
	name, add, err := m.writeFileArgs()
	if err != nil {
		return m.failure(err)
	}
	path := m.path(expandHome(name))
	_, statErr := os.Stat(path)
	mode, verb := os.O_TRUNC, "Writing"
	switch {
	case add:
		mode, verb = os.O_APPEND, "Appending to"
	case statErr == nil:
		verb = "Overwriting"
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|mode, 0o644)
	if err != nil {
		return m.failure(fmt.Errorf("writing %s: %w", name, bare(err)))
	}
	_, err = f.WriteString(m.body)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return m.failure(fmt.Errorf("writing %s: %w", name, bare(err)))
	}
	m.out.Stream(cell.Stdout, verb+" "+name+"\n")
	return &cell.Result{}
}

// bare is the cause of an error about a file, without the path that the message names already.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// oneWord is what a magic that takes one file or folder is given; empty is allowed when there may be none.
func (m *call) oneWord(what string, optional bool) (string, error) {
	args, err := words(m.args)
	switch {
	case err != nil:
		return "", usagef("%%%s: %v", m.name, err)
	case len(args) > 1:
		return "", usagef("%%%s takes one %s, not %d; put quotes around a name with blanks", m.name, what, len(args))
	case len(args) == 0 && !optional:
		return "", usagef("%%%s: which %s?", m.name, what)
	case len(args) == 0:
		return "", nil
	}
	return args[0], nil
}

func (m *call) oneFile() (name, text string, err error) {
	if name, err = m.oneWord("file", false); err != nil {
		return "", "", err
	}
	b, err := os.ReadFile(m.path(expandHome(name)))
	if err != nil {
		return "", "", fmt.Errorf("reading %s: %w", name, bare(err))
	}
	return name, string(b), nil
}

func loadLine(m *call) *cell.Result {
	name, text, err := m.oneFile()
	if err != nil {
		return m.failure(err)
	}
	return &cell.Result{Payload: []cell.Payload{{Source: "set_next_input", Text: "// %load " + name + "\n" + text, Replace: true}}}
}

// runLine runs a Go file, or the code cells of a notebook one after the other.
func runLine(m *call) *cell.Result {
	name, text, err := m.oneFile()
	if err != nil {
		return m.failure(err)
	}
	sources := []string{text}
	if strings.HasSuffix(name, ".ipynb") {
		nb, err := notebook.Read([]byte(text))
		if err != nil {
			return m.failure(fmt.Errorf("reading %s: %w", name, err))
		}
		sources = nil
		for _, c := range nb.Cells {
			if c.Type == "code" {
				sources = append(sources, c.Source)
			}
		}
	}
	result := &cell.Result{}
	for _, src := range sources {
		if result.Value != nil {
			m.out.Display(*result.Value)
		}
		c := *m.cell
		c.Code = src
		if result = m.runText(m.ctx, &c, m.o, m.out, m.in); result.Err != nil {
			inFile(result.Err, m.cell.N, name)
			return result
		}
	}
	return result
}

// inFile makes an error that tells of cell n tell of a file instead.
func inFile(e *cell.UserError, n int, name string) {
	place := fmt.Sprintf("In[%d]:", n)
	for i, line := range e.Text {
		e.Text[i] = strings.ReplaceAll(line, place, name+":")
	}
	e.HTML = strings.ReplaceAll(e.HTML, place, html.EscapeString(name)+":")
}
