//go:build linux && cgo && (amd64 || arm64)

package driver

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gander-go/gander/internal/shared"
)

// TestHeader has the C compiler compare cuda.h with the measured ABI: sizes of types, offsets of fields, values of constants,
// and that each function is declared and has its trampoline under the symbol that libcuda exports.
func TestHeader(t *testing.T) {
	f, err := os.Open(shared.Path(t, "facts", "cu_needs.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := os.ReadFile("symbols.h")
	if err != nil {
		t.Fatal(err)
	}
	var c strings.Builder
	c.WriteString("#include \"cuda.h\"\n#include <stddef.h>\n")
	function := regexp.MustCompile(`^(cu\w+) -> (cu\w+) \(`)
	value := regexp.MustCompile(`^(C\w+) (-?\d+)$`)
	size := regexp.MustCompile(`^sizeof (\w+) (\d+)$`)
	field := regexp.MustCompile(`^ +(\w+) (\d+) (\d+) `)
	structure, section := "", ""
	n := map[string]int{}
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		switch {
		case strings.HasPrefix(line, "## "):
			section, _, _ = strings.Cut(line[3:], " ")
		case section == "FUNCTIONS":
			if m := function.FindStringSubmatch(line); m != nil {
				n["functions"]++
				fmt.Fprintf(&c, "static void *f%d(void) { return (void *)%s; }\n", n["functions"], m[1])
				if m[2] != "cuInit" && !strings.Contains(string(symbols), "X("+m[2]+")\n") {
					t.Errorf("symbols.h has no %s", m[2])
				}
			}
		case section == "STRUCT" && strings.HasPrefix(line, "STRUCT "):
			structure = strings.Fields(line)[1]
		case section == "STRUCT":
			if m := field.FindStringSubmatch(line); m != nil {
				n["fields"]++
				fmt.Fprintf(&c, "_Static_assert(offsetof(%s, %s) == %s && sizeof(((%s *)0)->%s) == %s, \"%s.%s\");\n", structure, m[1], m[2], structure, m[1], m[3], structure, m[1])
			}
		case section == "CONSTANTS":
			if m := value.FindStringSubmatch(line); m != nil {
				n["constants"]++
				fmt.Fprintf(&c, "_Static_assert(%s == %s, \"%s\");\n", m[1], m[2], m[1])
			}
			if m := size.FindStringSubmatch(line); m != nil {
				n["types"]++
				fmt.Fprintf(&c, "_Static_assert(sizeof(%s) == %s, \"sizeof %s\");\n", m[1], m[2], m[1])
			}
		}
	}
	text := c.String()
	for what, least := range map[string]int{"functions": 150, "fields": 80, "constants": 280, "types": 35} {
		if n[what] < least {
			t.Errorf("%d %s were compared", n[what], what)
		}
	}
	file := filepath.Join(t.TempDir(), "header.c")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "gcc"
	}
	if out, err := exec.Command(cc, "-std=c11", "-Wno-unused-function", "-fsyntax-only", "-I.", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("compared %v", n)
}
