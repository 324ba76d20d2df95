package magics

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gander-go/gander/internal/usage"
	"github.com/gander-go/gander/kernel/cell"
)

func init() {
	register(magic{name: "lsmagic", use: "%lsmagic", help: "lists the magics", check: noArgs, line: func(m *call) *cell.Result { return textResult(listMagics()) }})
	register(magic{name: "help", use: "%help [MAGIC]", help: "explains Gander, or one magic", line: helpLine})
	register(magic{name: "history", use: "%history [-n N]", help: "shows the session's cells", line: historyLine,
		flags: func() *pflag.FlagSet { fs, _ := historyFlags(); return fs },
		check: func(m *call) error { fs, _ := historyFlags(); return parseNone(fs, m.args) }})
}

func listMagics() string {
	var b strings.Builder
	for _, n := range names() {
		m := registry[n]
		fmt.Fprintf(&b, "%-44s %s\n", m.use, m.help)
	}
	b.WriteString("!command" + strings.Repeat(" ", 37) + "runs a shell command\n")
	b.WriteString("expr?, expr??" + strings.Repeat(" ", 32) + "shows what is known about a name, and its source")
	return b.String()
}

func helpLine(m *call) *cell.Result {
	name := strings.TrimLeft(strings.TrimSpace(m.args), "%")
	if name == "" {
		return textResult(`Gander runs Go in notebooks. A cell holds statements and declarations in any order; what it defines stays for later cells,
and a trailing expression is shown. Standard packages are imported as they are used; %get adds modules.
%%profile above a cell shows where its time and memory went; profiler.Begin("name") and span.End() name a range.

` + listMagics())
	}
	mg := registry[name]
	if mg == nil {
		_, err := find(name, false)
		return m.failure(err)
	}
	return textResult(mg.describe())
}

// describe is what %help and questions say of a magic.
func (m *magic) describe() string {
	text := m.use + "\n" + m.help
	if m.flags != nil {
		text += "\n\n" + strings.TrimRight(usage.Flags(m.flags()), "\n")
	}
	if m.more != "" {
		text += "\n\n" + m.more
	}
	return text
}

func historyFlags() (fs *pflag.FlagSet, n *int) {
	fs = newFlags("history")
	return fs, fs.IntP("last", "n", 0, "only the last N cells; 0 for all")
}

func historyLine(m *call) *cell.Result {
	fs, n := historyFlags()
	if err := parseNone(fs, m.args); err != nil {
		return m.failure(err)
	}
	m.mu.Lock()
	inputs := append([]string(nil), m.inputs...)
	m.mu.Unlock()
	first := 0
	if *n > 0 && *n < len(inputs) {
		first = len(inputs) - *n
	}
	var b strings.Builder
	for i := first; i < len(inputs); i++ {
		head := strconv.Itoa(i+1) + ": "
		b.WriteString(head + strings.ReplaceAll(inputs[i], "\n", "\n"+strings.Repeat(" ", len(head))) + "\n")
	}
	return textResult(strings.TrimRight(b.String(), "\n"))
}

// describe answers expr?, or with the source expr??, by a page.
func (m *call) describe(expr string, source bool) *cell.Result {
	expr = strings.TrimSpace(expr)
	var b *cell.Bundle
	if name := strings.TrimLeft(expr, "%"); name != expr {
		if mg := registry[name]; mg != nil {
			t := cell.Text(mg.describe())
			b = &t
		}
	} else {
		detail := 0
		if source {
			detail = 1
		}
		b = m.lang.Inspect(m.ctx, expr, len(expr), detail)
	}
	if b == nil {
		return m.failure(fmt.Errorf("nothing is known about %s", expr))
	}
	return &cell.Result{Payload: []cell.Payload{{Source: "page", Data: b.Data}}}
}
