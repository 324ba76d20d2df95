package check_test

import (
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/gander-go/gander/internal/golden"
	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval/check"
)

// TestScenarios runs the cells of testdata/check/*.txt through a session and compares what the checker says about each
// with the .golden file beside it.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/check/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			s := newSession(t)
			var b strings.Builder
			for i, c := range readCells(t, f) {
				checked := s.Check(i+1, c.code)
				validate(t, checked)
				fmt.Fprintf(&b, "In[%d]\n", i+1)
				describe(&b, checked)
				if os.Getenv("SHOW_TEXT") != "" {
					t.Log(checked.Cell.Text)
				}
				s.Commit(checked, -1)
			}
			golden.Check(t, strings.TrimSuffix(f, ".txt")+".golden", []byte(b.String()))
		})
	}
}

// describe writes what a check found, without ids.
func describe(b *strings.Builder, c *check.Checked) {
	diags := func(head string, l []cell.Diagnostic) {
		for _, d := range l {
			fmt.Fprintf(b, "  %s In[%d]:%d:%d: %s\n", head, d.Cell, d.Line, d.Col, strings.ReplaceAll(d.Message, "\n", "\n    "))
		}
	}
	diags("error", c.Errors)
	diags("warning", c.Warnings)
	if len(c.Errors) > 0 {
		return
	}
	name := func(s *check.Symbol) string {
		if s == nil {
			return "_"
		}
		return s.Key()
	}
	q := types.RelativeTo(c.Pkg)
	for _, st := range c.Steps {
		switch st.Kind {
		case check.StmtStep:
			show := ""
			if st.Show {
				show = " shown: " + types.TypeString(c.Info.Types[c.Show].Type, q)
			}
			fmt.Fprintf(b, "  run %T%s\n", st.Stmt, show)
		case check.DefineStep:
			var l []string
			for _, t := range st.Targets {
				l = append(l, name(t.Sym))
			}
			fmt.Fprintf(b, "  define %s with %d values\n", strings.Join(l, ", "), len(st.Values))
		case check.InitStep:
			fmt.Fprintf(b, "  call init\n")
		case check.MainStep:
			fmt.Fprintf(b, "  call main\n")
		}
	}
	for _, v := range c.Vars {
		how := "new"
		if v.Reused {
			how = "kept"
		}
		fmt.Fprintf(b, "  var %s %s (%s)\n", v.Sym.Name, plain(types.TypeString(v.Type, q)), how)
	}
	var lines []string
	for _, d := range c.Decls {
		how := ""
		if d.Unchanged {
			how = " unchanged"
		}
		lines = append(lines, fmt.Sprintf("  %s %s%s\n", d.Sym.Kind, name(d.Sym), how))
	}
	for _, d := range c.Rebound {
		lines = append(lines, fmt.Sprintf("  rebound %s %s of In[%d]\n", d.Sym.Kind, name(d.Sym), d.Sym.Origin.Cell))
	}
	for _, m := range c.Migrated {
		lines = append(lines, fmt.Sprintf("  migrated %s\n", name(m.New)))
	}
	for _, s := range c.Extended {
		lines = append(lines, fmt.Sprintf("  extended %s\n", name(s)))
	}
	for _, r := range c.Redefined {
		what := "gone"
		if r.New != nil {
			what = "a " + r.New.Kind.String()
			if r.SameType {
				what += " of the same type"
			}
		}
		lines = append(lines, fmt.Sprintf("  %s %s of In[%d] is now %s\n", r.Old.Kind, name(r.Old), r.Old.Cell, what))
	}
	for _, i := range c.AddedImports {
		lines = append(lines, fmt.Sprintf("  added import %q\n", i.Path))
	}
	for _, v := range c.Unused {
		lines = append(lines, fmt.Sprintf("  unused %s\n", v.Name()))
	}
	sort.Strings(lines)
	b.WriteString(strings.Join(lines, ""))
}

// plain removes the numbers from internal names: they depend on how often the session was checked.
func plain(s string) string {
	name, rest, ok := strings.Cut(s, "ꞏ")
	if !ok {
		return s
	}
	return name + "(old)" + plain(strings.TrimLeft(rest, "0123456789"))
}
