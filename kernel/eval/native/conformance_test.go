package native

import (
	"path/filepath"
	"strings"
	"testing"

	shareddata "github.com/gander-go/gander/internal/shared"
)

// TestConformance runs the reference programs, cut into cells, and compares what they print with what `go build` gives.
func TestConformance(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shareddata.Path(t, "data", "conformance"), "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("no conformance programs", err)
	}
	runPrograms(t, files)
}

// TestPrograms runs the programs of the repository.
func TestPrograms(t *testing.T) {
	files, err := filepath.Glob("../testdata/programs/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	runPrograms(t, files)
}

func runPrograms(t *testing.T, files []string) {
	cache := t.TempDir()
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			startCached(t, cache).play(readProgram(t, f))
		})
	}
}
