package kernelspec

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// userDir is the folder of kernels in the user's data directory.
func userDir() (string, error) {
	if d := os.Getenv("JUPYTER_DATA_DIR"); d != "" {
		return filepath.Join(d, "kernels"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding Jupyter's data directory: %w", err)
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Jupyter", "kernels"), nil
	}
	base := os.Getenv("XDG_DATA_HOME")
	if base == "" {
		base = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(base, "jupyter", "kernels"), nil
}

// under is the folder of kernels of an installation prefix.
func under(prefix string) string { return filepath.Join(prefix, "share", "jupyter", "kernels") }

// environment is the prefix of the Python environment that is active, empty when there is none.
func environment() string {
	for _, v := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if p := os.Getenv(v); p != "" {
			return p
		}
	}
	return ""
}

// sysPrefix is the prefix of the active environment, else what python3 says.
func sysPrefix() (string, error) {
	if p := environment(); p != "" {
		return p, nil
	}
	for _, python := range []string{"python3", "python"} {
		out, err := exec.Command(python, "-c", "import sys; print(sys.prefix)").Output()
		if p := strings.TrimSpace(string(out)); err == nil && filepath.IsAbs(p) {
			return p, nil
		}
	}
	return "", errors.New("finding sys.prefix: no environment is active and no python3 answers; use a prefix instead")
}

// placed reports whether o names a place.
func (o Options) placed() bool { return o.User || o.SysPrefix || o.Prefix != "" }

// dir is the folder of kernels that o asks for.
func (o Options) dir() (string, error) {
	switch {
	case o.User && o.SysPrefix, o.User && o.Prefix != "", o.SysPrefix && o.Prefix != "":
		return "", errPlaces
	case o.Prefix != "":
		p, err := filepath.Abs(o.Prefix)
		return under(p), err
	case o.SysPrefix:
		p, err := sysPrefix()
		return under(p), err
	}
	return userDir()
}

// searched returns the folders where Jupyter looks for kernels, in no particular order of preference.
func searched() []string {
	var dirs []string
	for _, p := range filepath.SplitList(os.Getenv("JUPYTER_PATH")) {
		if p != "" {
			dirs = append(dirs, filepath.Join(p, "kernels"))
		}
	}
	if d, err := userDir(); err == nil {
		dirs = append(dirs, d)
	}
	if p, err := sysPrefix(); err == nil {
		dirs = append(dirs, under(p))
	}
	dirs = append(dirs, under("/usr/local"), under("/usr"))
	for i, d := range dirs {
		dirs[i] = filepath.Clean(d)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
