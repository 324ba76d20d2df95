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
			host, port, err := net.SplitHostPort(addr)
			if err != nil {
				return &usageError{fmt.Errorf("--addr: %w", err)}
			}
			// Traces name hosts, users and files. Whoever needs them from afar has better doors than this one.
			if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
				return withHint(&usageError{fmt.Errorf("--addr %s: only this machine is served", addr)}, "'ssh -L %[1]s:localhost:%[1]s THIS-MACHINE' brings it to another one", port)
			}
			return serve.New(args[0], host).Listen(cmd.Context(), addr, func(url string) {
				fmt.Fprintln(cmd.OutOrStdout(), url)
			})
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:0", "`HOST:PORT` of this machine to listen on")
	return cmd
}
