package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gander-go/gander/kernelspec"
)

func specFlags(cmd *cobra.Command, o *kernelspec.Options) {
	cmd.Flags().BoolVar(&o.User, "user", false, "in the user's own Jupyter folder (the default)")
	cmd.Flags().BoolVar(&o.SysPrefix, "sys-prefix", false, "in the Python environment that is active")
	cmd.Flags().StringVar(&o.Prefix, "prefix", "", "in `DIR`/share/jupyter/kernels")
	cmd.Flags().StringVar(&o.Name, "name", "gander", "name of the kernel")
	cmd.MarkFlagsMutuallyExclusive("user", "sys-prefix", "prefix")
}

func installCommand() *cobra.Command {
	var o kernelspec.Options
	var noBuild bool
	cmd := &cobra.Command{
		Use: "install", Short: "Make Jupyter offer the kernel", Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := kernelspec.Install(o)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "installed kernel %q in %s\n", spec.Name, spec.Dir)
			if noBuild {
				return nil
			}
			return warm(cmd.Context(), cmd.ErrOrStderr())
		},
	}
	specFlags(cmd, &o)
	cmd.Flags().StringVar(&o.DisplayName, "display-name", "", "name that front ends show (default \"Go (gander)\")")
	cmd.Flags().BoolVar(&noBuild, "no-build", false, "do not build the session program and the standard library now; the first cells will")
	return cmd
}

func uninstallCommand() *cobra.Command {
	var o kernelspec.Options
	cmd := &cobra.Command{
		Use: "uninstall", Short: "Take the kernel away from Jupyter", Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, args []string) error {
			removed, err := kernelspec.Uninstall(o)
			if err != nil {
				return err
			}
			if len(removed) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "it was not installed there")
				return nil
			}
			fmt.Fprintln(cmd.OutOrStdout(), "removed", strings.Join(removed, ", "))
			return nil
		},
	}
	specFlags(cmd, &o)
	return cmd
}
