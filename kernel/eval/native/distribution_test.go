package native

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var distribution = flag.Int("distribution", 0, "run every n-th program of the Go distribution's test folder as a cell; 0: none")

// deviations are the programs that do not behave in a cell as in a program of their own, and why.
var deviations = map[string]string{
	"nilptr.go":                "expects a variable at a low address; session variables are on the heap",
	"recover3.go":              "the runtime names an unexported method of an interface as the engine spells it",
	"heapsampling.go":          "looks for main.f among the names of functions, which have the path of the cell's package",
	"fixedbugs/bug347.go":      "looks for main.f among the names of functions",
	"fixedbugs/bug348.go":      "looks for main.f among the names of functions",
	"fixedbugs/bug369.go":      "builds other files of the distribution, in its folder",
	"fixedbugs/issue10332.go":  "asks for the import path of a type's package",
	"fixedbugs/issue10607.go":  "builds other files of the distribution, in its folder",
	"fixedbugs/issue9355.go":   "builds other files of the distribution, in its folder",
	"fixedbugs/issue21879.go":  "prints the names of functions",
	"fixedbugs/issue42076.go":  "uses a type that only the runtime may allocate as a session variable",
	"fixedbugs/issue17381.go":  "looks for main.main among the callers",
	"fixedbugs/issue22083.go":  "looks for main.f in a stack trace",
	"fixedbugs/issue38093.go":  "imports syscall/js",
	"fixedbugs/issue46903.go":  "uses types that only the runtime may allocate",
	"fixedbugs/issue5856.go":   "looks for its own file among the callers",
	"fixedbugs/issue24491a.go": "//go:uintptrescapes with go and defer statements, which the engine wraps",
	"uintptrescapes3.go":       "//go:uintptrescapes with go and defer statements, which the engine wraps",
}

// TestDistribution runs programs of the Go distribution as one cell each. They print nothing, or what their .out file says, and do not panic.
func TestDistribution(t *testing.T) {
	if *distribution == 0 {
		t.Skip("SKIPPED: takes long; -distribution 1 runs them all")
	}
	root := filepath.Join(runtime.GOROOT(), "test")
	var files []string
	for _, g := range []string{"*.go", "*/*.go"} {
		f, err := filepath.Glob(filepath.Join(root, g))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f...)
	}
	n, passed := 0, 0
	for i, path := range files {
		if i%*distribution != 0 {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(b), "// run\n") {
			continue
		}
		name, _ := filepath.Rel(root, path)
		want, _ := os.ReadFile(strings.TrimSuffix(path, ".go") + ".out")
		if deviations[name] != "" {
			continue
		}
		n++
		if t.Run(name, func(t *testing.T) {
			p := start(t)
			timer := time.AfterFunc(60*time.Second, func() { p.cmd.Process.Kill() })
			defer timer.Stop()
			if _, _, err := p.run(string(b)); err != nil && !p.exited(err) {
				msg := err.Error()
				if len(msg) > 1500 {
					msg = msg[:1500]
				}
				t.Fatal(msg)
			}
			if got := p.printed(); got != string(want) {
				t.Errorf("printed\n%.1000s\nwant\n%.1000s", got, want)
			}
		}) {
			passed++
		}
	}
	t.Logf("%d of %d programs", passed, n)
}
