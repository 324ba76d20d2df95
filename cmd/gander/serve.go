package main

import (
	"fmt"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/gander-go/gander/internal/serve"
)

func serveCommand() *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use: "serve DIR", Short: "Serve a local page over a folder of traces", Args: exactly(1, "one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := os.Stat(args[0])
			if err != nil {
				return fmt.Errorf("serving: %w", err)
			}
			if !st.IsDir() {
				return withHint(&usageError{fmt.Errorf("%s is no folder", args[0])}, "'gander report %s' shows one trace", args[0])
			}
			host, _, err := net.SplitHostPort(addr)
			if err != nil {
				return &usageError{fmt.Errorf("--addr: %w", err)}
			}
			return serve.New(args[0], host).Listen(cmd.Context(), addr, func(url string) {
				fmt.Fprintln(cmd.OutOrStdout(), url)
			})
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:0", "`HOST:PORT` to listen on; anything but loopback lets others read the traces")
	return cmd
}
