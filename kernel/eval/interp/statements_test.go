package interp_test

import (
	"os"
	"strings"
	"testing"
)

// TestStatements runs the statements of testdata/statements.txt, one program between blank lines, and compares what
// they print with what a compiled program prints. A line "---" inside a program starts a new cell. A program that is
// refused must begin with the comment "// refused", and the reverse.
func TestStatements(t *testing.T) {
	data, err := os.ReadFile("testdata/statements.txt")
	if err != nil {
		t.Fatal(err)
	}
	programs := strings.Split(strings.TrimSpace(string(data)), "\n\n")
	want := goRun(t, withoutCells(programs))
	refusals := 0
	for i, p := range programs {
		b := newBench(t)
		got, refused := b.program(p)
		if refused != "" {
			refusals++
			if !strings.HasPrefix(p, "// refused") {
				t.Errorf("%s\n%s", refused, p)
			}
			continue
		}
		if strings.HasPrefix(p, "// refused") {
			t.Errorf("not refused:\n%s", p)
		}
		if got != want[i] {
			t.Errorf("printed\n%s\nwant\n%s\nprogram\n%s\nlowered\n%s", got, want[i], p, b.lowered(p))
		}
	}
	t.Logf("%d programs, %d refused", len(programs), refusals)
}

func withoutCells(programs []string) []string {
	r := make([]string, len(programs))
	for i, p := range programs {
		r[i] = strings.ReplaceAll(p, "\n---\n", "\n") + "\n" + uses(p)
	}
	return r
}
