package check_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval/check"
)

// cannotCheck are runnable programs of the Go distribution that are no cells, and why.
var cannotCheck = map[string]string{
	"fixedbugs/issue38093.go": "imports syscall/js",
}

// cannotSplit are those whose declarations refer to each other in a circle, so that none can come first.
var cannotSplit = map[string]bool{
	"abi/uglyfib.go": true, "fixedbugs/bug227.go": true, "fixedbugs/bug336.go": true, "ken/rob2.go": true,
	"typeparam/cons.go": true, "typeparam/dictionaryCapture.go": true, "typeparam/issue47708.go": true,
}

// programs calls f for every runnable program of one file in the test folder of the Go distribution.
func programs(t *testing.T, f func(name, text string)) {
	//lint:ignore SA1019 the tests run where they were built, with the toolchain that built them
	root := filepath.Join(runtime.GOROOT(), "test")
	n := 0
	for _, g := range []string{"*.go", "*/*.go"} {
		files, err := filepath.Glob(filepath.Join(root, g))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(root, path)
			if err == nil && strings.HasPrefix(string(b), "// run\n") && cannotCheck[name] == "" {
				n++
				f(name, string(b))
			}
		}
	}
	if n == 0 {
		t.Skipf("SKIPPED: the Go installation has no %s; its programs were NOT checked", root)
	}
	t.Logf("%d programs", n)
}

// TestDistribution checks the programs of the Go distribution as one cell each, twice.
func TestDistribution(t *testing.T) {
	programs(t, func(name, text string) {
		s := newSession(t)
		for n := 1; n <= 2; n++ {
			c := s.Check(n, text)
			if len(c.Errors) > 0 {
				t.Errorf("%s, run %d: %v", name, n, c.Errors[0])
				return
			}
			validate(t, c)
			s.Commit(c, -1)
		}
	})
}

// TestDistributionInPieces checks the same programs with each declaration in a cell of its own, again and again until all are in.
func TestDistributionInPieces(t *testing.T) {
	if testing.Short() {
		t.Skip("takes several seconds")
	}
	programs(t, func(name, text string) {
		if len(text) > 12000 || cannotSplit[name] {
			return
		}
		s := newSession(t)
		var queue []string
		for _, p := range check.Cut(text) {
			if p.Kind != check.PackagePiece {
				queue = append(queue, text[p.Doc:p.End])
			}
		}
		n := 0
		for len(queue) > 0 {
			var rest []string
			var first cell.Diagnostic
			for _, q := range queue {
				n++
				c := s.Check(n, q)
				if len(c.Errors) > 0 {
					rest = append(rest, q)
					first = c.Errors[0]
					continue
				}
				validate(t, c)
				s.Commit(c, -1)
			}
			if len(rest) == len(queue) {
				t.Errorf("%s: %d pieces never check: %v", name, len(rest), first)
				return
			}
			queue = rest
		}
	})
}
