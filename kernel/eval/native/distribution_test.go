package native

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/kernel/eval/check"
)

var (
	distribution = flag.Int("distribution", 40, "run every n-th program of the Go distribution's test folder as a cell; 1: all, 0: none")
	listed       = flag.Bool("listed", false, "run the listed deviations too, and complain of those that pass")
)

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
	if *distribution == 0 || testing.Short() {
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
	if len(files) == 0 {
		t.Skipf("SKIPPED: the Go distribution has no folder %s", root)
	}
	n, failed, dir := 0, 0, t.TempDir()
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(b), "// run\n") {
			continue
		}
		if n++; n%*distribution != 0 {
			continue
		}
		name, _ := filepath.Rel(root, path)
		want, _ := os.ReadFile(strings.TrimSuffix(path, ".go") + ".out")
		why := deviations[name]
		if why != "" && !*listed {
			continue
		}
		t.Run(name, func(t *testing.T) {
			msg := distributed(t, dir, filepath.Dir(path), string(b), string(want))
			switch {
			case why != "" && msg == "":
				t.Errorf("listed as a deviation (%s), but passes", why)
			case why != "":
				t.Logf("listed: %s\n%s", why, msg)
			case msg != "":
				failed++
				t.Error(msg)
			}
		})
	}
	t.Logf("%d programs; of those that ran, %d failed beside the %d listed", n, failed, len(deviations))
}

// distributed runs a program as a cell and says what is wrong with how it went.
func distributed(t *testing.T, cacheDir, dir, code, want string) string {
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	p := startIn(t, dir, Options{Workspace: s.ws, CacheDir: cacheDir}, check.New(s.mods))
	timer := time.AfterFunc(60*time.Second, func() { p.cmd.Process.Kill() })
	defer timer.Stop()
	if _, _, err := p.run(code); err != nil && !p.exited(err) {
		msg := err.Error()
		return msg[:min(len(msg), 3000)]
	}
	if got := p.printed(); got != want {
		return "printed\n" + got[:min(len(got), 1000)] + "\nwant\n" + want[:min(len(want), 1000)]
	}
	return ""
}
