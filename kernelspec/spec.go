// Package kernelspec installs what makes Jupyter offer the kernel: a folder with kernel.json and logos. It knows where
// Jupyter looks and nothing of the kernel itself. Its invariant: a spec is there whole or not at all, and only folders that
// hold a spec of ours are replaced or removed.
package kernelspec

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

//go:generate go run ./drawlogo logos

//go:embed logos/logo-32x32.png logos/logo-64x64.png logos/logo-svg.svg
var logos embed.FS

// Options say where a spec goes and what it starts. At most one of User, SysPrefix and Prefix is set.
type Options struct {
	User      bool   // the user's own data directory, as Jupyter finds it (the default)
	SysPrefix bool   // the Python environment that is active, or that of the python3 on the path
	Prefix    string // PREFIX/share/jupyter/kernels

	Name        string            // folder and kernel name; "": "gander"
	DisplayName string            // "": "Go (gander)"
	Binary      string            // "": the running executable
	Args        []string          // after Binary; nil: "kernel", "-f", "{connection_file}"
	Env         map[string]string // for the kernel's process; may be nil
}

// Spec is an installed kernel of ours.
type Spec struct {
	Name   string
	Dir    string
	Binary string
}

// Defaults of Options.
const (
	DefaultName        = "gander"
	DefaultDisplayName = "Go (gander)"
)

// kernelJSON is the file that Jupyter reads; keys beside these would raise warnings there.
type kernelJSON struct {
	Argv          []string                   `json:"argv"`
	DisplayName   string                     `json:"display_name"`
	Language      string                     `json:"language"`
	InterruptMode string                     `json:"interrupt_mode"`
	Env           map[string]string          `json:"env,omitempty"`
	Metadata      map[string]json.RawMessage `json:"metadata"`
}

// marker is the metadata key by which a spec is known as ours.
const marker = "gander"

// namePattern is what Jupyter accepts as the name of a kernel.
var namePattern = regexp.MustCompile(`^[a-z0-9._-]+$`)

// name returns the kernel's name in the form Jupyter uses: names differ by more than case.
func (o Options) name() (string, error) {
	n := strings.ToLower(o.Name)
	if n == "" {
		n = DefaultName
	}
	if !namePattern.MatchString(n) || n == "." || n == ".." {
		return "", fmt.Errorf("kernel name %q: only letters, digits, '.', '_' and '-' are allowed", o.Name)
	}
	return n, nil
}

// spec makes the contents of kernel.json.
func (o Options) spec() (kernelJSON, error) {
	binary := o.Binary
	if binary == "" {
		exe, err := os.Executable()
		if err != nil {
			return kernelJSON{}, fmt.Errorf("finding the executable: %w", err)
		}
		if isTemporary(exe) {
			return kernelJSON{}, fmt.Errorf("%q is a temporary executable of 'go run' or 'go test', which will be gone when Jupyter wants it; build it first", exe)
		}
		binary = exe
	}
	binary, err := filepath.Abs(binary)
	if err != nil {
		return kernelJSON{}, fmt.Errorf("finding the executable: %w", err)
	}
	args := o.Args
	if args == nil {
		args = []string{"kernel", "-f", "{connection_file}"}
	}
	display := o.DisplayName
	if display == "" {
		display = DefaultDisplayName
	}
	return kernelJSON{
		Argv: append([]string{binary}, args...), DisplayName: display, Language: "go", InterruptMode: "message", Env: o.Env,
		Metadata: map[string]json.RawMessage{"debugger": json.RawMessage("false"), marker: json.RawMessage("{}")},
	}, nil
}

// isTemporary reports whether exe is one that the go command removes when it ends.
func isTemporary(exe string) bool {
	dir := filepath.Dir(exe)
	return strings.Contains(dir, string(filepath.Separator)+"go-build") && filepath.Base(dir) == "exe"
}

// read returns the spec in dir if it is one of ours.
func read(dir string) (Spec, bool) {
	b, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if err != nil {
		return Spec{}, false
	}
	var k kernelJSON
	if json.Unmarshal(b, &k) != nil || k.Metadata[marker] == nil || len(k.Argv) == 0 {
		return Spec{}, false
	}
	return Spec{Name: filepath.Base(dir), Dir: dir, Binary: k.Argv[0]}, true
}

// errPlaces says that the options contradict each other.
var errPlaces = errors.New("user, sys-prefix and prefix exclude each other")
