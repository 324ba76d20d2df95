package magics

import (
	"fmt"
	"os"
	"strings"

	"github.com/gander-go/gander/internal/notebook"
	"github.com/gander-go/gander/kernel/cell"
)

func init() {
	register(magic{name: "writefile", use: "%%writefile [-a] FILE", help: "writes the cell to a file instead of running it", cell: writeFileCell})
	register(magic{name: "load", use: "%load FILE", help: "puts the text of a file into the next cell", line: loadLine})
	register(magic{name: "run", use: "%run FILE.go|FILE.ipynb", help: "runs a file in the session, as if its text were in this cell", line: runLine})
	register(magic{name: "html", use: "%%html", help: "shows the cell as HTML", cell: showCell("text/html")})
	register(magic{name: "markdown", use: "%%markdown", help: "shows the cell as Markdown", cell: showCell("text/markdown")})
	register(magic{name: "latex", use: "%%latex", help: "shows the cell as LaTeX", cell: showCell("text/latex")})
}

func showCell(mime string) func(m *call) *cell.Result {
	return func(m *call) *cell.Result {
		m.out.Display(cell.Bundle{Data: map[string]any{mime: m.body, "text/plain": m.body}})
		return &cell.Result{}
	}
}

func writeFileCell(m *call) *cell.Result {
	fs := newFlags("writefile")
	add := fs.BoolP("append", "a", false, "add to the end of the file")
	if err := parseFlags(fs, m.args); err != nil {
		return m.failure(err)
	}
	if fs.NArg() != 1 {
		return m.failure(usagef("%%%%writefile takes one file name"))
	}
	name := fs.Arg(0)
	path := m.path(expandHome(name))
	_, statErr := os.Stat(path)
	mode, verb := os.O_TRUNC, "Writing"
	switch {
	case *add:
		mode, verb = os.O_APPEND, "Appending to"
	case statErr == nil:
		verb = "Overwriting"
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|mode, 0o644)
	if err != nil {
		return m.failure(fmt.Errorf("writing %s: %w", name, err))
	}
	_, err = f.WriteString(m.body)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return m.failure(fmt.Errorf("writing %s: %w", name, err))
	}
	m.out.Stream(cell.Stdout, verb+" "+name+"\n")
	return &cell.Result{}
}

func (m *call) oneFile() (name, text string, err error) {
	args, err := words(m.args)
	if err != nil || len(args) != 1 {
		return "", "", usagef("%%%s takes one file name", m.name)
	}
	b, err := os.ReadFile(m.path(expandHome(args[0])))
	if err != nil {
		return "", "", fmt.Errorf("reading %s: %w", args[0], err)
	}
	return args[0], string(b), nil
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
	for _, src := range sources {
		c := *m.cell
		c.Code = src
		var r *cell.Result
		if cm, args, body, line, ok := cellMagic(src); ok {
			r = m.runCell(&call{Engine: m.Engine, ctx: m.ctx, cell: &c, out: m.out, in: m.in, name: cm, args: args, body: body, line: line, last: true})
		} else {
			r = m.runSegments(m.ctx, &c, src, 1, RunOptions{}, m.out, m.in)
		}
		if r.Err != nil {
			r.Err.Text = append([]string{"while running " + name}, r.Err.Text...)
			return r
		}
	}
	return &cell.Result{}
}
