package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/gander-go/gander/internal/compose"
	"github.com/gander-go/gander/internal/version"
	"github.com/gander-go/gander/kernel"
	"github.com/gander-go/gander/kernel/session/worker"
	_ "github.com/gander-go/gander/kernel/session/worker/parts"
)

func kernelCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "kernel -f FILE", Short: "Serve a Jupyter front end (started by Jupyter)",
		Args: cobra.ArbitraryArgs, // 'jupyter run' hands its own arguments on
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				return withHint(&usageError{errors.New("gander kernel needs the connection file of a front end")}, "it is started by Jupyter; 'gander install' makes Jupyter know it")
			}
			conn, err := kernel.ParseConnectionFile(file)
			if err != nil {
				return err
			}
			dir, err := os.Getwd()
			if err != nil {
				return err
			}
			engine := compose.New(dir, nil)
			k, err := kernel.New(engine, conn, kernel.Options{Version: version.Number, Signals: true})
			if err != nil {
				return err
			}
			// The kernel handles signals itself: an interrupt is for the cell, not for the process.
			return k.Run(context.WithoutCancel(cmd.Context()))
		},
	}
	cmd.Flags().StringVarP(&file, "connection-file", "f", "", "connection `FILE`")
	return cmd
}

func sessionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "session", Short: "Run cells (started by the kernel)", Hidden: true,
		Run: func(cmd *cobra.Command, args []string) { worker.Main() },
	}
}
