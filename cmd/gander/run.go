package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gander-go/gander/internal/compose"
	"github.com/gander-go/gander/internal/nbhtml"
	"github.com/gander-go/gander/internal/nbrun"
	"github.com/gander-go/gander/internal/notebook"
	"github.com/gander-go/gander/kernel/cell"
)

func runCommand() *cobra.Command {
	var out, page string
	var params []string
	var o nbrun.Options
	var progress, echo bool
	cmd := &cobra.Command{
		Use: "run NOTEBOOK", Short: "Run a notebook from the command line", Args: exactly(1, "one notebook"),
		Long: "Runs all cells of a notebook, without Jupyter. Without -o the notebook itself is left alone; what the cells printed is kept only in -o and --html.",
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, p := range params {
				name, value, ok := strings.Cut(p, "=")
				if !ok {
					return &usageError{fmt.Errorf("-p %s: write NAME=VALUE", p)}
				}
				o.Parameters = append(o.Parameters, nbrun.Parameter{Name: name, Value: value})
			}
			nb, err := notebook.ReadFile(args[0])
			if err != nil {
				return err
			}
			terminal := term.IsTerminal(int(os.Stderr.Fd()))
			if progress || terminal {
				o.Progress = progressLine(terminal && !progress)
			}
			if echo {
				o.Echo = func(s cell.StreamName, text string) { fmt.Fprint(cmd.OutOrStdout(), text) }
			}
			dir, err := filepath.Abs(filepath.Dir(args[0]))
			if err != nil {
				return err
			}
			engine := compose.New(dir, nil)
			runErr := nbrun.Run(cmd.Context(), engine, nb, o)
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			engine.Shutdown(ctx)
			if err := writeRun(nb, args[0], out, page); err != nil {
				return err
			}
			return reportRun(runErr)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "write the executed notebook to `FILE`")
	f.StringVar(&page, "html", "", "write a self-contained page to `FILE`")
	f.StringArrayVarP(&params, "parameter", "p", nil, "set a variable: `NAME=VALUE`; put behind the cell tagged \"parameters\"")
	f.DurationVar(&o.Timeout, "timeout", 0, "for each cell, such as 10m; no limit by default")
	f.BoolVar(&o.AllowErrors, "allow-errors", false, "go on after a cell that failed")
	f.BoolVar(&progress, "cell-progress", false, "print a line for each cell, also when standard error is no terminal")
	f.BoolVar(&echo, "echo", false, "print what the cells print")
	return cmd
}

// writeRun writes what was asked for; also of a run that failed, so that its outputs can be seen.
func writeRun(nb *notebook.Notebook, in, out, page string) error {
	if out != "" {
		if err := nb.WriteFile(out); err != nil {
			return err
		}
	}
	if page == "" {
		return nil
	}
	var b bytes.Buffer
	if err := nb.Write(&b); err != nil {
		return err
	}
	return writePage(page, b.Bytes(), nbhtml.Options{Dir: filepath.Dir(in)})
}

// reportRun tells of a failed cell with its traceback.
func reportRun(err error) error {
	var ce *nbrun.CellError
	if !errors.As(err, &ce) {
		return err
	}
	fmt.Fprintln(os.Stderr, "gander:", err)
	for _, l := range ce.Err.Text {
		fmt.Fprintln(os.Stderr, l)
	}
	return &silent{err}
}

// progressLine tells which cell runs: on one line that is written over, or on a line for each.
func progressLine(over bool) func(i, total int, c *notebook.Cell, done bool, took time.Duration) {
	return func(i, total int, c *notebook.Cell, done bool, took time.Duration) {
		first, _, _ := strings.Cut(strings.TrimSpace(c.Source), "\n")
		if r := []rune(first); len(r) > 60 {
			first = string(r[:59]) + "…"
		}
		line := fmt.Sprintf("[%d/%d] %s", i, total, first)
		switch {
		case over && !done:
			fmt.Fprintf(os.Stderr, "\r\x1b[K%s", line)
		case over && i == total:
			fmt.Fprint(os.Stderr, "\r\x1b[K")
		case !over && done:
			fmt.Fprintf(os.Stderr, "%s (%v)\n", line, took.Round(time.Millisecond))
		}
	}
}
