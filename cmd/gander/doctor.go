package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gander-go/gander/internal/compose"
	"github.com/gander-go/gander/internal/doctor"
	"github.com/gander-go/gander/kernel/session"
)

func doctorCommand() *cobra.Command {
	var asJSON, build bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Tell what Gander finds on this machine and what is missing", Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, args []string) error {
			checks := doctor.Run(cmd.Context())
			w := cmd.OutOrStdout()
			if asJSON {
				enc := json.NewEncoder(w)
				enc.SetIndent("", "  ")
				if err := enc.Encode(checks); err != nil {
					return err
				}
			} else {
				doctor.Print(w, checks)
			}
			if build {
				if err := warm(cmd.Context(), cmd.ErrOrStderr()); err != nil {
					return err
				}
			}
			if !doctor.Healthy(checks) {
				return &silent{errors.New("something is missing")}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().BoolVar(&build, "warm", false, "build the session program and the standard library now, so that no first cell waits for that")
	return cmd
}

// warm builds the session program into the cache, and the packages that cells import. A machine that cannot compile is no failure: cells are interpreted.
func warm(ctx context.Context, w io.Writer) error {
	terminal := term.IsTerminal(int(os.Stderr.Fd()))
	cfg := session.BuildConfig{Progress: func(what string, done, total int) {
		if !terminal {
			return
		}
		if total > 0 {
			fmt.Fprintf(w, "\r\x1b[K%s (%d of %d)", what, done, total)
		} else {
			fmt.Fprintf(w, "\r\x1b[K%s", what)
		}
	}}
	ws, err := session.Prepare(ctx, cfg)
	if terminal {
		fmt.Fprint(w, "\r\x1b[K")
	}
	var none *session.NoToolchain
	switch {
	case errors.As(err, &none):
		fmt.Fprintf(w, "cells will be interpreted: %v\n", none)
		return nil
	case err != nil:
		return err
	}
	dir, err := os.MkdirTemp("", "gander-warm-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l := compose.NewLanguage(dir, nil)
	defer l.Shutdown(ctx)
	if err := l.Start(); err != nil {
		return err
	}
	l.Warm()
	if terminal {
		fmt.Fprint(w, "building the standard library for cells")
	}
	err = l.BuildStandard()
	if terminal {
		fmt.Fprint(w, "\r\x1b[K")
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "the session program for %s is ready\n", ws.GoVersion)
	return nil
}
