package native

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnasked answers the linker's questions without the compiler, and hands everything else on to it as it is.
func TestUnasked(t *testing.T) {
	dir := t.TempDir()
	cc := filepath.Join(dir, "cc")
	if err := os.WriteFile(cc, []byte("#!/bin/sh\nprintf '<%s>' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/bin/sh"); err != nil || !plainWords.MatchString(cc) {
		t.Skip("SKIPPED: no shell, or a folder with an odd name")
	}
	before, script, _ := strings.Cut(unasked(cc+" -m64"), "'")
	script, name, _ := strings.Cut(script, "'")
	words := append(strings.Fields(before), script, strings.TrimSpace(name))
	out, err := exec.Command(words[0], append(words[1:], "-o", "a b", `c"$d`)...).Output()
	if err != nil || string(out) != `<-m64><-o><a b><c"$d>` {
		t.Errorf("the compiler got %s, %v", out, err)
	}
	if err := exec.Command(words[0], "-m64", "-fuse-ld=gold", "-o", filepath.Join(dir, "a.out"), "-Wl,--build-id=0x1", filepath.Join(dir, "trivial.c")).Run(); err == nil {
		t.Error("the shell knows a flag of the linker")
	}
	for _, odd := range []string{"gcc; rm x", "'a b'", "", "a  $b", "gcc\n"} {
		if unasked(odd) != odd {
			t.Errorf("%q goes through a shell: %q", odd, unasked(odd))
		}
	}
}
