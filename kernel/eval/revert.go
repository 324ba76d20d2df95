package eval

import "github.com/gander-go/gander/kernel/eval/check"

// takeRevert are the names that the last run left without values, once.
func (e *Evaluator) takeRevert() []string {
	l := e.revert
	e.revert = nil
	return l
}

// newNames are the variables that a cell defines anew.
func newNames(c *check.Checked) (out []string) {
	for _, v := range c.Vars {
		if !v.Reused {
			out = append(out, v.Sym.Name)
		}
	}
	return out
}

// numbers are the meanings that a cell gives to names of variables.
func numbers(c *check.Checked) map[string]int64 {
	m := map[string]int64{}
	for _, v := range c.Vars {
		m[v.Sym.Name] = v.Sym.ID
	}
	for _, v := range c.Migrated {
		m[v.New.Name] = v.New.ID
	}
	return m
}
