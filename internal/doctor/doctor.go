// Package doctor looks at the machine and tells what Gander finds on it, what is missing, and how to get it. It changes
// nothing.
package doctor

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gander-go/gander/kernelspec"
)

// Status is the outcome of one check.
type Status string

const (
	Found    Status = "found"
	Missing  Status = "missing"  // Gander needs it, or is much less without it
	Optional Status = "optional" // missing, and only some things need it
	Wrong    Status = "wrong"    // there, and not as it must be
)

// Check is one finding.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`        // what was found, or why not
	Fix    string `json:"fix,omitempty"` // what to do
}

// Run makes all checks.
func Run(ctx context.Context) []Check {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cuda := cudaChecks(ctx) // meanwhile
	checks := []Check{goToolchain(ctx), compiler(ctx), jupyter(ctx)}
	checks = append(checks, kernels()...)
	return append(append(checks, cache()), cuda()...)
}

// Healthy reports whether nothing that Gander needs is missing or wrong.
func Healthy(checks []Check) bool {
	for _, c := range checks {
		if c.Status == Missing || c.Status == Wrong {
			return false
		}
	}
	return true
}

// Print writes checks for people.
func Print(w io.Writer, checks []Check) {
	marks := map[Status]string{Found: "✓", Missing: "✗", Optional: "–", Wrong: "✗"}
	for _, c := range checks {
		fmt.Fprintf(w, "%s %-16s %s\n", marks[c.Status], c.Name, c.Detail)
		if c.Fix != "" && c.Status != Found {
			fmt.Fprintf(w, "  %-16s → %s\n", "", c.Fix)
		}
	}
}

func output(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	return strings.TrimSpace(string(out)), err
}

func goToolchain(ctx context.Context) Check {
	c := Check{Name: "Go toolchain", Status: Missing, Fix: "install Go 1.26 or newer and put it on PATH; without it cells are only interpreted"}
	path, err := exec.LookPath("go")
	if err != nil {
		c.Detail = "there is no go command on PATH"
		return c
	}
	v, err := output(ctx, path, "env", "GOVERSION")
	if err != nil {
		c.Status, c.Detail = Wrong, fmt.Sprintf("%s does not run: %v", path, err)
		return c
	}
	c.Status, c.Detail = Found, fmt.Sprintf("%s (%s)", v, path)
	var major, minor int
	if n, _ := fmt.Sscanf(strings.TrimPrefix(v, "go"), "%d.%d", &major, &minor); n == 2 && (major < 1 || major == 1 && minor < 26) {
		c.Status = Wrong
	}
	return c
}

func compiler(ctx context.Context) Check {
	c := Check{Name: "C compiler", Status: Missing, Fix: "install gcc ('apt-get install gcc' on Debian); without it cells are only interpreted"}
	cc := os.Getenv("CC")
	if cc == "" {
		cc, _ = output(ctx, "go", "env", "CC")
	}
	if cc == "" {
		cc = "gcc"
	}
	path, err := exec.LookPath(strings.Fields(cc)[0])
	if err != nil {
		c.Detail = fmt.Sprintf("there is no %s; plugins of cells need one", cc)
		return c
	}
	v, _ := output(ctx, path, "--version")
	first, _, _ := strings.Cut(v, "\n")
	c.Status, c.Detail = Found, fmt.Sprintf("%s (%s)", first, path)
	return c
}

func jupyter(ctx context.Context) Check {
	c := Check{Name: "Jupyter", Status: Optional, Fix: "pip install jupyterlab; 'gander run' works without it"}
	path, err := exec.LookPath("jupyter")
	if err != nil {
		c.Detail = "there is no jupyter command on PATH"
		return c
	}
	v, err := output(ctx, path, "--version")
	if err != nil {
		c.Status, c.Detail = Wrong, fmt.Sprintf("%s does not run: %v", path, err)
		return c
	}
	var parts []string
	for _, l := range strings.Split(v, "\n") {
		name, version, ok := strings.Cut(l, ":")
		name, version = strings.TrimSpace(name), strings.TrimSpace(version)
		if ok && version != "" && !strings.Contains(version, "not installed") && (name == "jupyterlab" || name == "notebook" || name == "jupyter_client") {
			parts = append(parts, name+" "+version)
		}
	}
	c.Status, c.Detail = Found, fmt.Sprintf("%s (%s)", strings.Join(parts, ", "), path)
	return c
}

func kernels() []Check {
	specs, err := kernelspec.List()
	if err != nil {
		return []Check{{Name: "kernelspec", Status: Wrong, Detail: err.Error()}}
	}
	if len(specs) == 0 {
		return []Check{{Name: "kernelspec", Status: Optional, Detail: "Jupyter does not know the kernel yet", Fix: "gander install"}}
	}
	var out []Check
	for _, s := range specs {
		c := Check{Name: "kernelspec", Status: Found, Detail: fmt.Sprintf("%s starts %s", s.Dir, s.Binary)}
		if _, err := os.Stat(s.Binary); err != nil {
			c.Status, c.Detail, c.Fix = Wrong, fmt.Sprintf("%s starts %s, which is not there", s.Dir, s.Binary), "gander install"
		}
		out = append(out, c)
	}
	return out
}

func cache() Check {
	c := Check{Name: "cache", Status: Wrong, Fix: "make the folder writable, or set XDG_CACHE_HOME"}
	dir, err := os.UserCacheDir()
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	dir = filepath.Join(dir, "gander")
	if err = os.MkdirAll(dir, 0o755); err == nil {
		var f *os.File
		if f, err = os.CreateTemp(dir, ".doctor-*"); err == nil {
			f.Close()
			os.Remove(f.Name())
		}
	}
	if err != nil {
		c.Detail = fmt.Sprintf("compiled cells cannot be kept: %v", err)
		return c
	}
	c.Status, c.Detail = Found, dir
	return c
}
