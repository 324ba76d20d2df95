// Package shared finds the reference data that lies beside a checkout on developers' machines and is never committed.
package shared

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Path returns the path of elem below the reference data, and skips the test with a loud message where it is absent.
// GANDER_SHARED names another place to look.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	root := os.Getenv("GANDER_SHARED")
	if root == "" {
		_, file, _, _ := runtime.Caller(0)
		root = filepath.Join(filepath.Dir(file), "..", "..", "..", "shared")
	}
	p := filepath.Join(append([]string{root}, elem...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("SKIPPED: reference data %s is not here; the checks against it did NOT run (set GANDER_SHARED to run them)", p)
	}
	return p
}
