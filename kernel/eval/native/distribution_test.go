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
		n++
		if t.Run(name, func(t *testing.T) {
			p := start(t)
			timer := time.AfterFunc(60*time.Second, func() { p.cmd.Process.Kill() })
			defer timer.Stop()
			if _, _, err := p.run(string(b)); err != nil {
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
