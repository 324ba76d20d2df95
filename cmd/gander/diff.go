package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gander-go/gander/internal/atomicfile"
	"github.com/gander-go/gander/internal/reportdata"
	"github.com/gander-go/gander/profiler/analyze"
	"github.com/gander-go/gander/render"
)

func diffCommand() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use: "diff BASE NEW", Short: "Compare two traces on one page", Args: exactly(2, "two traces"),
		Long: "Compares two traces by name and range by range, in the order of execution: what became slower, by how much, what is new\n" +
			"and what is gone. Opens what gander report opens.",
		RunE: func(cmd *cobra.Command, args []string) error { return f.diff(cmd, args) },
	}
	fs := cmd.Flags()
	fs.StringVarP(&f.out, "output", "o", "", "the page's `FILE` (default both names with .html, in this folder)")
	fs.IntVar(&f.limit, "limit", 0, "rows of tables")
	fs.StringVar(&f.groupBy, "group-by", "", "`shape|stack=N`: a row for each")
	fs.StringVar(&f.title, "title", "", "heading of the page")
	fs.BoolVar(&f.asJSON, "json", false, "print everything as JSON instead; times in ns")
	fs.BoolVar(&f.asCSV, "csv", false, "print the rows by name as CSV instead; times in ns")
	fs.BoolVar(&f.text, "text", false, "print a table instead")
	fs.StringVar(&f.as, "convention", "exact", "`NAME` of whose matching of ranges --json follows: exact, plugin (TensorBoard's)")
	cmd.MarkFlagsMutuallyExclusive("json", "csv", "text", "output")
	return cmd
}

func (f *reportFlags) diff(cmd *cobra.Command, args []string) error {
	keys, err := f.keys()
	if err != nil {
		return err
	}
	c, err := f.convention()
	switch {
	case err != nil:
		return err
	case c != analyze.Exact && c != analyze.Plugin:
		return &usageError{fmt.Errorf("--convention %s: comparisons know exact and plugin", f.as)}
	case c != analyze.Exact && !f.asJSON:
		return &usageError{errors.New("--convention goes with --json; pages show exact figures")}
	}
	ts, err := openTraces(cmd.Context(), args)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if f.asJSON || f.asCSV || f.text {
		d := analyze.DiffOf(analyze.Of(ts[0]), analyze.Of(ts[1]), analyze.DiffOptions{Keys: keys, Convention: c})
		warn(cmd.ErrOrStderr(), args, ts)
		switch {
		case f.asJSON:
			return reportdata.WriteDiff(w, d)
		case f.asCSV:
			return d.WriteCSV(w)
		}
		limit := f.limit
		if limit == 0 {
			limit = 20
		}
		_, err := fmt.Fprint(w, d.Text(limit))
		return err
	}
	out := f.out
	if out == "" {
		out = strings.TrimSuffix(pageName(args[0]), ".html") + "-" + pageName(args[1])
	}
	o := render.Options{Title: f.title, Note: strings.Join(baseNames(args), " → "), Limit: f.limit, GroupByShape: keys.ByShape, GroupByStack: keys.ByStack}
	if err := atomicfile.Write(out, func(w io.Writer) error { return render.DiffPage(w, ts[0], ts[1], o) }); err != nil {
		return err
	}
	warn(cmd.ErrOrStderr(), args, ts)
	fmt.Fprintln(w, out)
	return nil
}
