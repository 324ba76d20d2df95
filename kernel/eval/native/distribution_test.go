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

// sometimes begins the reason of a deviation that does not show in every run.
const sometimes = "in some runs: "

// deviations are the programs that do not behave in a cell as in a program of their own, and why.
var deviations = map[string]string{
	"nilptr.go":                      "expects a variable at a low address; session variables are on the heap",
	"recover3.go":                    "the runtime names an unexported method of an interface as the engine spells it",
	"heapsampling.go":                "looks for main.f among the names of functions, which have the path of the cell's package",
	"devirtualization_nil_panics.go": "looks for main.main.func1 among the names of functions",
	"linkobj.go":                     "needs STDLIB_IMPORTCFG, which the distribution's own runner sets",
	"fixedbugs/bug347.go":            "looks for bug347.go among the files of callers; a cell is no such file",
	"fixedbugs/bug348.go":            "looks for bug348.go among the files of callers",
	"fixedbugs/bug369.go":            "needs STDLIB_IMPORTCFG, which the distribution's own runner sets",
	"fixedbugs/bug514.go":            "has a variable of a type that only C may allocate; session variables are on the heap",
	"fixedbugs/issue42032.go":        "has a variable of a type that only C may allocate",
	"fixedbugs/issue46903.go":        "has a variable of a type that only C may allocate",
	"fixedbugs/issue10332.go":        "asks for the import path of a type's package",
	"fixedbugs/issue17381.go":        "looks for main.main among the callers",
	"fixedbugs/issue19040.go":        "the runtime's own message names a type by the path of its package",
	"fixedbugs/issue21317.go":        "needs STDLIB_IMPORTCFG, which the distribution's own runner sets",
	"fixedbugs/issue21879.go":        "prints the names of functions",
	"fixedbugs/issue22083.go":        "looks for main.f in a stack trace",
	"fixedbugs/issue24491a.go":       "//go:uintptrescapes keeps an object alive during the call; the engine wraps calls in go and defer statements, which hold it longer",
	"fixedbugs/issue27201.go":        "looks for issue27201.go:20 in a stack trace",
	"fixedbugs/issue38093.go":        "imports syscall/js",
	"fixedbugs/issue42076.go":        "has a variable of a type that only C may allocate; session variables are on the heap",
	"fixedbugs/issue4562.go":         "looks for issue4562.go among the files of callers",
	"fixedbugs/issue58300.go":        "prints the names of functions",
	"fixedbugs/issue58300b.go":       "prints the names of functions",
	"fixedbugs/issue5856.go":         "looks for issue5856.go among the files of callers",
	"fixedbugs/issue5963.go":         sometimes + "runtime.Goexit in an init function: the cell ends, or another goroutine's os.Exit is first",
	"fixedbugs/issue7690.go":         "looks for main.main in a stack trace",
}

// TestDistribution runs programs of the Go distribution as one cell each. They print nothing, or what their .out file says, and do not panic.
func TestDistribution(t *testing.T) {
	if *distribution == 0 || testing.Short() {
		t.Skip("SKIPPED: takes long; -distribution 1 runs them all")
	}
	//lint:ignore SA1019 the tests run where they were built, with the toolchain that built them
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
			patience := 5 * time.Minute
			if why != "" {
				patience = time.Minute // some of these never end
			}
			msg := distributed(t, dir, root, string(b), string(want), patience)
			switch {
			case why != "" && msg == "" && !strings.HasPrefix(why, sometimes):
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
func distributed(t *testing.T, cacheDir, dir, code, want string, patience time.Duration) string {
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	p := startIn(t, dir, Options{Workspace: s.ws, CacheDir: cacheDir}, check.New(s.mods))
	timer := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
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
