//go:build linux && cgo && (amd64 || arm64)

package dl

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	l, err := Open("/nowhere/libx.so", "libc.so.6")
	if err != nil {
		t.Fatal(err)
	}
	if l.Symbol("malloc") == nil || l.Symbol("no_such_function") != nil {
		t.Error("symbols of libc are not found as they are")
	}
	if p := l.Path("malloc"); !filepath.IsAbs(p) {
		t.Errorf("libc lies in %q", p)
	}
	if Loaded("libnowhere.so", "libc.so.6") == nil || Loaded("libnowhere.so") != nil {
		t.Error("what is loaded is not known")
	}
	broken := touch(t, t.TempDir(), "libbroken.so")
	if _, err := Open("/nowhere/libx.so", broken); err == nil || !strings.Contains(err.Error(), broken) {
		t.Errorf("the error is %v, without the file that exists", err)
	}
	if _, err := Open(); err == nil {
		t.Error("nothing was opened without an error")
	}
}
