package check_test

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if p, err := std(); err == nil {
		os.RemoveAll(p.Dir())
	}
	os.Exit(code)
}
