// Package usage prints the flags of a command or magic. It is pflag's own list without the values that a switch may be
// given, which nobody writes.
package usage

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Flags is a line for each flag of fs.
func Flags(fs *pflag.FlagSet) string {
	out := pflag.NewFlagSet("", pflag.ContinueOnError)
	out.SortFlags = fs.SortFlags
	fs.VisitAll(func(f *pflag.Flag) {
		g := *f
		if g.Value.Type() == "bool" {
			g.Value = toggle{g.Value}
		}
		out.AddFlag(&g)
	})
	return out.FlagUsages()
}

// toggle is a bool that pflag lists by its name alone.
type toggle struct{ pflag.Value }

func (toggle) Type() string { return "boolfunc" }

// Use has cmd and its subcommands print their flags so.
func Use(cmd *cobra.Command) {
	cobra.AddTemplateFunc("flagUsages", Flags)
	t := cmd.UsageTemplate()
	for _, set := range []string{".LocalFlags", ".InheritedFlags"} {
		t = strings.ReplaceAll(t, set+".FlagUsages", "flagUsages "+set)
	}
	cmd.SetUsageTemplate(t)
}
