package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gander-go/gander/internal/atomicfile"
	"github.com/gander-go/gander/internal/nbhtml"
)

func exportCommand() *cobra.Command {
	var out string
	var o nbhtml.Options
	cmd := &cobra.Command{
		Use: "export NOTEBOOK -o OUT.html", Short: "Write a notebook as one self-contained page, as it is", Args: exactly(1, "one notebook"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := os.ReadFile(args[0])
			if err != nil {
				return fmt.Errorf("reading notebook: %w", err)
			}
			if out == "" {
				out = strings.TrimSuffix(args[0], filepath.Ext(args[0])) + ".html"
			}
			o.Dir = filepath.Dir(args[0])
			if err := writePage(out, b, o); err != nil {
				return err
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "wrote", out)
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "the page's `FILE` (default NOTEBOOK.html)")
	cmd.Flags().StringVar(&o.Title, "title", "", "title of the page (default the notebook's first heading)")
	cmd.Flags().BoolVar(&o.Sanitize, "sanitize", false, "remove scripts from outputs: for notebooks of strangers")
	cmd.Flags().BoolVar(&o.HideCode, "no-code", false, "leave the code out")
	return cmd
}

// writePage writes a notebook as a page.
func writePage(out string, notebook []byte, o nbhtml.Options) error {
	return atomicfile.Write(out, func(w io.Writer) error { return nbhtml.Write(w, notebook, o) })
}
