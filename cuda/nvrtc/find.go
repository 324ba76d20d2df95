package nvrtc

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// candidate is a file that may be NVRTC. One without a folder is looked up by the dynamic linker.
type candidate struct {
	file  string
	major int // of CUDA, by the file's name; 0 when the name does not tell
}

// sonames are the names that the dynamic linker knows, newest first.
var sonames = []string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"}

// candidates lists where NVRTC may be, best first: those that fit a driver for CUDA of major version fits, then others; fits
// is 0 when the driver is unknown. Code of a newer compiler than the driver's is what the driver may refuse.
func candidates(fits int) []candidate {
	if file := os.Getenv("GANDER_NVRTC"); file != "" {
		return []candidate{{file: file}}
	}
	var list []candidate
	add := func(file string) {
		c := candidate{file, majorOf(file)}
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	for _, s := range sonames {
		add(s)
	}
	for _, dir := range folders() {
		files, _ := filepath.Glob(filepath.Join(dir, "libnvrtc.so*"))
		slices.Reverse(files)
		for _, f := range files {
			add(f)
		}
	}
	if fits > 0 {
		slices.SortStableFunc(list, func(a, b candidate) int { return rank(b.major, fits) - rank(a.major, fits) })
	}
	return list
}

// rank is higher for better.
func rank(major, fits int) int {
	switch {
	case major == 0:
		return fits - 1 // a file without a version: of whatever toolkit is installed
	case major > fits:
		return -major
	}
	return major
}

func majorOf(file string) int {
	_, v, _ := strings.Cut(filepath.Base(file), ".so.")
	v, _, _ = strings.Cut(v, ".")
	n, _ := strconv.Atoi(v)
	return n
}

// folders are those that toolkits and Python's packages put the library into.
func folders() []string {
	var dirs []string
	target := map[string]string{"amd64": "x86_64-linux", "arm64": "sbsa-linux"}[runtime.GOARCH]
	glob := func(patterns ...string) {
		for _, p := range patterns {
			if strings.HasPrefix(p, "/") {
				m, _ := filepath.Glob(p)
				slices.Reverse(m) // newest first
				dirs = append(dirs, m...)
			}
		}
	}
	for _, v := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if home := os.Getenv(v); home != "" {
			glob(home+"/lib64", home+"/targets/"+target+"/lib", home+"/lib")
		}
	}
	glob("/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64", "/opt/cuda/lib64", "/usr/lib/"+map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH])
	if conda := os.Getenv("CONDA_PREFIX"); conda != "" {
		glob(conda+"/lib", conda+"/targets/"+target+"/lib")
	}
	var packages []string
	for _, v := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if root := os.Getenv(v); root != "" {
			packages = append(packages, root+"/lib/python3*/site-packages")
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		packages = append(packages, home+"/.local/lib/python3*/site-packages", home+"/.pyenv/versions/*/lib/python3*/site-packages")
	}
	packages = append(packages, "/usr/local/lib/python3*/site-packages", "/usr/local/lib/python3*/dist-packages", "/usr/lib/python3*/site-packages", "/usr/lib/python3/dist-packages")
	for _, p := range packages {
		glob(p+"/nvidia/cuda_nvrtc/lib", p+"/nvidia/cu13/lib")
	}
	return dirs
}

// includes are the folders of CUDA's headers that belong to a library, for sources that include cuda_fp16.h and the like.
func includes(file string) []string {
	var dirs []string
	lib := filepath.Dir(file)
	for _, d := range []string{
		filepath.Join(lib, "..", "include"),                       // a toolkit, cu13 wheels
		filepath.Join(lib, "..", "..", "cuda_runtime", "include"), // cu11 and cu12 wheels
		filepath.Join(lib, "..", "..", "..", "include"),           // targets/x86_64-linux/lib
		"/usr/local/cuda/include",
	} {
		if _, err := os.Stat(filepath.Join(d, "cuda_fp16.h")); err == nil {
			dirs = append(dirs, filepath.Clean(d))
		}
	}
	return dirs
}
