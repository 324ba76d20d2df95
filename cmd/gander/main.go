// Command gander is a Jupyter kernel for Go with a profiler inside, and its tools for notebooks and traces.
//
// Exit codes: 0 done, 1 the work failed, 2 wrong usage. Errors go to standard error: one line, and a hint where one helps.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gander-go/gander/internal/usage"
)

func main() { os.Exit(run(os.Args[1:])) }

// usageError is a mistake in how the command was called.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// hinted is an error with advice.
type hinted struct {
	error
	hint string
}

func (e *hinted) Unwrap() error { return e.error }

func withHint(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &hinted{err, fmt.Sprintf(format, args...)}
}

// silent is an error that has been told already.
type silent struct{ error }

func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	var told *silent
	if !errors.As(err, &told) {
		fmt.Fprintln(os.Stderr, "gander:", err)
		var h *hinted
		if errors.As(err, &h) {
			fmt.Fprintln(os.Stderr, "hint:", h.hint)
		}
	}
	var usage *usageError
	if errors.As(err, &usage) {
		return 2
	}
	return 1
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "gander",
		Short:         "A Jupyter kernel for Go with a profiler inside",
		Long:          "Gander runs Go in Jupyter notebooks and profiles it, and opens traces of PyTorch, Go and pprof.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return withHint(&usageError{fmt.Errorf("there is no command %q", args[0])}, "'gander --help' lists the commands")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return withHint(&usageError{err}, "'%s --help' lists the flags", cmd.CommandPath())
	})
	root.AddCommand(
		runCommand(), exportCommand(), reportCommand(), diffCommand(), serveCommand(),
		installCommand(), uninstallCommand(), doctorCommand(), versionCommand(),
		kernelCommand(), sessionCommand(),
	)
	usage.Use(root)
	return root
}

// exactly is cobra.ExactArgs with an error of ours.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return withHint(&usageError{fmt.Errorf("%s takes %s", cmd.CommandPath(), what)}, "'%s --help' shows how it is used", cmd.CommandPath())
		}
		return nil
	}
}
