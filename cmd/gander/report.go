package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gander-go/gander/internal/atomicfile"
	"github.com/gander-go/gander/internal/open"
	"github.com/gander-go/gander/internal/reportdata"
	"github.com/gander-go/gander/profiler/analyze"
	"github.com/gander-go/gander/profiler/trace"
	"github.com/gander-go/gander/render"
)

type reportFlags struct {
	out     string
	sort    string
	limit   int
	groupBy string
	columns string
	as      string
	flops   bool
	asJSON  bool
	asCSV   bool
	text    bool
	title   string
}

func (f *reportFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVarP(&f.out, "output", "o", "", "the page's `FILE` (default the trace's name with .html, in this folder)")
	fs.StringVar(&f.sort, "sort", "", "column to sort by, such as self_cpu_time_total or cuda_time_total")
	fs.IntVar(&f.limit, "limit", 0, "rows of tables")
	fs.StringVar(&f.groupBy, "group-by", "", "`shape|stack=N`: a row for each")
	fs.StringVar(&f.title, "title", "", "heading of the page")
}

func reportCommand() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report TRACE...",
		Short: "Make one self-contained page of a trace",
		Long: "Opens traces of PyTorch (Kineto), Chrome, Go (runtime/trace), pprof profiles and Gander's own files, plain or compressed,\n" +
			"and writes one HTML page. Several files are the ranks of one job.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return withHint(&usageError{errors.New("gander report needs a trace")}, "'gander report --help' shows how it is used")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.register(cmd)
	fs := cmd.Flags()
	fs.BoolVar(&f.asJSON, "json", false, "print everything as JSON instead; times in ns, sizes in bytes")
	fs.BoolVar(&f.asCSV, "csv", false, "print the key averages, or the functions of a sampled profile, as CSV instead")
	fs.BoolVar(&f.text, "text", false, "print tables as text instead")
	fs.StringVar(&f.columns, "columns", "", "`torch` for torch.profiler's own key averages and table (torch-2.10: as before it knew Python calls)")
	fs.BoolVar(&f.flops, "with-flops", false, "count FLOPs by torch's formulas from the shapes, where the trace has them")
	fs.StringVar(&f.as, "convention", "exact", "`NAME` of whose arithmetic --json and --text follow where tools differ: exact, torch, plugin (TensorBoard's), hta")
	cmd.MarkFlagsMutuallyExclusive("json", "csv", "text", "output")
	return cmd
}

func (f *reportFlags) keys() (analyze.KeyOptions, error) {
	var k analyze.KeyOptions
	switch f.columns {
	case "":
	case "torch":
		k.Convention, k.Python = analyze.Torch, true
	case "torch-2.10":
		k.Convention = analyze.Torch
	default:
		return k, &usageError{fmt.Errorf("--columns %s: there are torch and torch-2.10", f.columns)}
	}
	k.FLOPs = f.flops
	if f.groupBy == "" {
		return k, nil
	}
	for _, part := range strings.Split(f.groupBy, ",") {
		name, value, hasValue := strings.Cut(part, "=")
		switch {
		case name == "shape":
			k.ByShape = true
		case name == "step":
			k.ByStep = true
		case name == "thread":
			k.ByTrack = true
		case name == "stack":
			k.ByStack = 5
			if hasValue {
				n, err := strconv.Atoi(value)
				if err != nil || n < 1 {
					return k, &usageError{fmt.Errorf("--group-by stack=%s: not a number of frames", value)}
				}
				k.ByStack = n
			}
		default:
			return k, &usageError{fmt.Errorf("--group-by %s: there are shape, stack=N, thread and step", name)}
		}
	}
	return k, nil
}

func (f *reportFlags) run(cmd *cobra.Command, args []string) error {
	keys, err := f.keys()
	if err != nil {
		return err
	}
	if f.sort != "" {
		if err := (&analyze.Averages{}).Sort(f.sort); err != nil {
			return &usageError{fmt.Errorf("--sort: %w", err)}
		}
	}
	c, err := f.convention()
	if err != nil {
		return err
	}
	if c != analyze.Exact && !f.asJSON && !f.text {
		return &usageError{errors.New("--convention goes with --json or --text; pages show exact figures")}
	}
	if c == analyze.Torch && f.columns == "" {
		keys.Convention, keys.Python = c, true
	}
	ts, err := openTraces(cmd.Context(), args)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	switch {
	case f.asJSON:
		return f.writeJSON(w, ts, keys, c)
	case f.asCSV:
		for _, t := range ts {
			if len(t.Slices) == 0 && len(t.Samples) > 0 { // a sampled profile
				if err := analyze.WriteFunctionsCSV(w, analyze.Of(t).Functions()); err != nil {
					return err
				}
				continue
			}
			a := analyze.KeyAverages(t, keys)
			if f.sort != "" {
				if err := a.Sort(f.sort); err != nil {
					return err
				}
			}
			if err := a.WriteCSV(w); err != nil {
				return err
			}
		}
		warn(cmd.ErrOrStderr(), args, ts)
		return nil
	case f.text:
		return f.writeText(w, ts, keys, c)
	}
	out := f.out
	if out == "" {
		out = pageName(args[0])
	}
	o := render.Options{Title: f.title, Note: strings.Join(baseNames(args), ", "), Sort: f.sort, Limit: f.limit, GroupByShape: keys.ByShape, GroupByStack: keys.ByStack, Charts: true}
	if err := atomicfile.Write(out, func(w io.Writer) error { return render.Page(w, ts, o) }); err != nil {
		return err
	}
	warn(cmd.ErrOrStderr(), args, ts)
	fmt.Fprintln(w, out)
	return nil
}

// warn tells what was lost or repaired in the files.
func warn(w io.Writer, paths []string, ts []*trace.Trace) {
	for i, t := range ts {
		for _, p := range t.Problems {
			fmt.Fprintf(w, "%s: %s (%d)\n", filepath.Base(paths[i]), p.Text, p.Count)
		}
	}
}

// convention is the one that --convention names.
func (f *reportFlags) convention() (analyze.Convention, error) {
	switch strings.ToLower(f.as) {
	case "", "exact":
		return analyze.Exact, nil
	case "torch":
		return analyze.Torch, nil
	case "hta":
		return analyze.HTA, nil
	case "plugin", "tensorboard":
		return analyze.Plugin, nil
	}
	return 0, &usageError{fmt.Errorf("--convention %s: there are exact, torch, plugin and hta", f.as)}
}

func (f *reportFlags) writeJSON(w io.Writer, ts []*trace.Trace, keys analyze.KeyOptions, c analyze.Convention) error {
	o := reportdata.Options{Keys: keys, As: c, Sort: f.sort, Limit: f.limit}
	if len(ts) > 1 {
		j, err := reportdata.OfJob(ts, o)
		if err != nil {
			return err
		}
		return reportdata.Write(w, j)
	}
	r, err := reportdata.Of(ts[0], o)
	if err != nil {
		return err
	}
	return reportdata.Write(w, r)
}

// openTraces reads files, and says on a terminal which one.
func openTraces(ctx context.Context, paths []string) ([]*trace.Trace, error) {
	terminal := term.IsTerminal(int(os.Stderr.Fd()))
	var ts []*trace.Trace
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if terminal {
			fmt.Fprintf(os.Stderr, "\r\x1b[Kreading %s", filepath.Base(p))
		}
		t, err := open.File(p, open.Options{})
		if terminal {
			fmt.Fprint(os.Stderr, "\r\x1b[K")
		}
		if err != nil {
			return nil, err
		}
		ts = append(ts, t)
	}
	return ts, nil
}

func baseNames(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = filepath.Base(p)
	}
	return out
}

// pageName is the page of a trace: its file name without what says that it is a trace, in the present folder.
func pageName(trace string) string {
	name := filepath.Base(trace)
	for _, suffix := range []string{".gz", ".json", ".trace", ".pt", ".pb", ".pprof", ".out"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name + ".html"
}
