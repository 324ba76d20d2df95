package usage

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestFlagsOfCommands(t *testing.T) {
	root := &cobra.Command{Use: "root", Run: func(*cobra.Command, []string) {}}
	sub := &cobra.Command{Use: "sub", Run: func(*cobra.Command, []string) {}}
	root.PersistentFlags().Bool("verbose", false, "tell more")
	sub.Flags().BoolP("all", "a", false, "take all")
	sub.Flags().StringP("out", "o", "x", "the `FILE` to write")
	root.AddCommand(sub)
	Use(root)
	var b bytes.Buffer
	root.SetOut(&b)
	root.SetArgs([]string{"sub", "--help"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{
		"  -a, --all        take all\n",
		"  -o, --out FILE   the FILE to write (default \"x\")\n",
		"      --verbose   tell more\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no line %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "true") {
		t.Errorf("names the values of switches:\n%s", got)
	}
}
