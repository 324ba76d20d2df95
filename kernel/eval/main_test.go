package eval

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if p, err := packages(); err == nil {
		os.RemoveAll(p.Dir())
	}
	os.Exit(code)
}
