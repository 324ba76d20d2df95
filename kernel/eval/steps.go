package eval

import (
	"go/token"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval/check"
)

// stepsDone is how many steps of c were done before the failure: those before the one whose lines hold the place where the cell's own
// statements stopped. It is -1 when that is not known.
func stepsDone(c *check.Checked, frames []cell.Frame) int {
	for i := len(frames) - 1; i >= 0; i-- { // the outermost frame of the cell is its statements'
		f := frames[i]
		if f.Cell != c.N {
			continue
		}
		for done, s := range c.Steps {
			if first, last := lines(c, s); first <= f.Line && f.Line <= last {
				return done
			}
		}
		return -1
	}
	return -1
}

// lines are the first and the last line of a step in its cell.
func lines(c *check.Checked, s check.Step) (first, last int) {
	line := func(p token.Pos) int { return c.Fset.Position(p).Line }
	first = line(s.Pos)
	last = first
	switch {
	case s.Stmt != nil:
		last = line(s.Stmt.End())
	case s.Func != nil:
		last = line(s.Func.End())
	default:
		for _, v := range s.Values {
			first, last = min(first, line(v.Pos())), max(last, line(v.End()))
		}
	}
	return first, last
}
