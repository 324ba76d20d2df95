// Package dl opens NVIDIA's shared libraries at run time, so that no program of ours is linked with one: it knows where
// toolkits, distributions, Conda and Python wheels put them. It calls nothing in what it opens.
//
// Its one invariant: nothing is opened, and no folder is read, before Open or Files is called.
package dl

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Search says what to look for.
type Search struct {
	Env   string   // variable that names the file and ends the search, "GANDER_LIBCUPTI"
	Names []string // sonames, the best first: "libcupti.so.13", "libcupti.so.12", "libcupti.so"
	Extra []string // folders below a toolkit's root beside its library folders: "extras/CUPTI/lib64"
	Wheel []string // folders below site-packages/nvidia: "cuda_cupti/lib", "cu13/lib"
	// Major is the newest major version that is wanted, that of the driver; 0 is any. Files and names of newer ones are left
	// out: a library that is newer than the driver does not work, and some end the process.
	Major int
}

// Files lists existing files in the order in which to try them, and then the bare names, which the system's linker looks
// for. With the variable set the list is what it names and nothing else.
//
// The order: LD_LIBRARY_PATH; CUDA_HOME, CUDA_PATH; /usr/local/cuda and its versions; distributions' folders; Conda; Python
// wheels, of a virtual environment first; HPC SDK and Nsight Systems.
func (s Search) Files() []string {
	if f := os.Getenv(s.Env); s.Env != "" && f != "" {
		if st, err := os.Stat(f); err == nil && st.IsDir() {
			return s.in(nil, []string{f})
		}
		return []string{f}
	}
	return slices.DeleteFunc(append(s.in(nil, s.folders()), s.Names...), s.tooNew)
}

// tooNew reports whether a file's soname, or that of the file that it is a link to, is newer than Major.
func (s Search) tooNew(file string) bool {
	if s.Major == 0 {
		return false
	}
	if soMajor(file) > s.Major {
		return true
	}
	real, err := filepath.EvalSymlinks(file)
	// Links without a version lead to files like libcupti.so.2025.3.1, whose number is a year: the soname is beside it.
	return err == nil && soMajor(real) > s.Major && soMajor(real) < 1000
}

// soMajor is the first number after ".so." of a file's name, 0 without one.
func soMajor(file string) int {
	_, v, _ := strings.Cut(filepath.Base(file), ".so.")
	v, _, _ = strings.Cut(v, ".")
	n, _ := strconv.Atoi(v)
	return n
}

// in appends the files of s.Names that exist in the folders, without repeating a file by another name.
func (s Search) in(files, folders []string) []string {
	seen := map[string]bool{}
	for _, dir := range folders {
		for _, name := range s.Names {
			f := filepath.Join(dir, name)
			real, err := filepath.EvalSymlinks(f)
			if err != nil || seen[real] {
				continue
			}
			seen[real] = true
			files = append(files, f)
		}
	}
	return files
}

func (s Search) folders() []string {
	target, triple := "x86_64-linux", "x86_64-linux-gnu"
	if runtime.GOARCH == "arm64" {
		target, triple = "sbsa-linux", "aarch64-linux-gnu"
	}
	var list []string
	for dir := range strings.SplitSeq(os.Getenv("LD_LIBRARY_PATH"), ":") {
		if filepath.IsAbs(dir) {
			list = append(list, dir)
		}
	}
	roots := []string{os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"), "/usr/local/cuda"}
	roots = append(roots, newest("/usr/local/cuda-*")...)
	roots = append(roots, "/opt/cuda")
	for _, root := range roots {
		if !filepath.IsAbs(root) {
			continue
		}
		for _, e := range s.Extra {
			list = append(list, filepath.Join(root, e))
		}
		list = append(list, filepath.Join(root, "targets", target, "lib"), filepath.Join(root, "lib64"))
	}
	list = append(list, "/usr/lib/"+triple, "/usr/lib64")
	if conda := os.Getenv("CONDA_PREFIX"); filepath.IsAbs(conda) {
		list = append(list, filepath.Join(conda, "lib"), filepath.Join(conda, "targets", target, "lib"))
	}
	for _, site := range sitePackages() {
		for _, w := range s.Wheel {
			list = append(list, filepath.Join(site, "nvidia", w))
		}
		list = append(list, filepath.Join(site, "triton/backends/nvidia/lib/cupti"))
	}
	for _, e := range s.Extra {
		list = append(list, newest("/opt/nvidia/hpc_sdk/Linux_*/*/cuda/*/"+e)...)
	}
	return append(list, newest("/opt/nvidia/nsight-systems/*/target-linux-*")...)
}

// sitePackages are the folders that Python installs into: of an active virtual environment, of that of the python3 on PATH, the
// user's and the system's.
func sitePackages() []string {
	var list []string
	home, _ := os.UserHomeDir()
	python := ""
	if file, err := exec.LookPath("python3"); err == nil { // of a virtual environment it is a link, which is not followed
		python = filepath.Dir(filepath.Dir(file))
	}
	var seen []string
	for _, root := range []string{os.Getenv("VIRTUAL_ENV"), os.Getenv("CONDA_PREFIX"), python, join(home, ".local"), "/usr/local", "/usr"} {
		if filepath.IsAbs(root) && !slices.Contains(seen, root) {
			seen = append(seen, root)
			list = append(list, newest(filepath.Join(root, "lib/python3*/site-packages"))...)
			list = append(list, newest(filepath.Join(root, "lib/python3*/dist-packages"))...)
		}
	}
	return list
}

func join(dir, name string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

// newest lists what matches, the highest version numbers first.
func newest(pattern string) []string {
	list, _ := filepath.Glob(pattern) // the only error is of patterns, and ours are constant but for paths
	slices.SortFunc(list, func(a, b string) int { return compareVersions(b, a) })
	return list
}

// compareVersions compares texts with the numbers in them compared as numbers.
func compareVersions(a, b string) int {
	for a != "" && b != "" {
		x, restA := cutNumber(a)
		y, restB := cutNumber(b)
		if x >= 0 && y >= 0 {
			if c := cmp.Compare(x, y); c != 0 {
				return c
			}
			a, b = restA, restB
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// cutNumber cuts the number at the start of s, -1 when there is none.
func cutNumber(s string) (int, string) {
	n := 0
	for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	v, err := strconv.Atoi(s[:n])
	if err != nil {
		return -1, s
	}
	return v, s[n:]
}
