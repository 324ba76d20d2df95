package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	gander "github.com/gander-go/gander"
)

// importable are packages of ours that cells can import and the session process does not link.
var importable = []string{"cuda/driver"}

// cudaFiles are what other packages than ours need to call the CUDA driver: a header, and a library that opens the
// driver when it is used (see its source).
var cudaFiles = []string{"cuda.h", "symbols.h", "libcuda.c"}

// offerCUDA makes packages that include <cuda.h> and link libcuda, as gorgonia.org/cu does, build in cells without CUDA and
// load without a driver: it puts our header and our library ahead of any toolkit's. The folder depends on nothing but the two, so that the packages
// built with it are not built again for each version of ours. GANDER_CUDA=system leaves them out, for packages that
// need the toolkit's own.
//
// Where the library cannot be built, the environment stays as it is: packages of that kind then need a toolkit.
func offerCUDA(ctx context.Context, w *Workspace, root string, cc []string) {
	if os.Getenv("GANDER_CUDA") == "system" || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return
	}
	files := map[string][]byte{}
	h := sha256.New()
	fmt.Fprintln(h, cc, runtime.GOARCH)
	for _, name := range cudaFiles {
		b, err := gander.Sources.ReadFile("cuda/driver/" + name)
		if err != nil {
			return
		}
		files[name] = b
		fmt.Fprintf(h, "%s %x\n", name, sha256.Sum256(b))
	}
	dir := filepath.Join(root, "cuda", hex.EncodeToString(h.Sum(nil)[:8]))
	if _, err := os.Stat(filepath.Join(dir, "lib", "libcuda.a")); err != nil {
		if err := buildCUDA(ctx, dir, files, cc); err != nil {
			return
		}
	}
	w.Env = withFlags(w.Env, "CGO_CFLAGS", "-I"+filepath.Join(dir, "include"))
	w.Env = withFlags(w.Env, "CGO_LDFLAGS", "-L"+filepath.Join(dir, "lib"))
}

// buildCUDA fills dir in one step, so that nobody sees half of it.
func buildCUDA(ctx context.Context, dir string, files map[string][]byte, cc []string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	for _, d := range []string{"include", "lib", "src"} {
		if err := os.Mkdir(filepath.Join(tmp, d), 0o755); err != nil {
			return err
		}
	}
	for name, b := range files {
		sub := "src"
		if name == "cuda.h" {
			sub = "include"
		}
		if err := os.WriteFile(filepath.Join(tmp, sub, name), b, 0o644); err != nil {
			return err
		}
	}
	compile := append(append([]string(nil), cc...), "-O2", "-fPIC", "-c", "src/libcuda.c", "-o", "src/libcuda.o")
	for _, args := range [][]string{compile, {"ar", "rcs", "lib/libcuda.a", "src/libcuda.o"}} {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir = tmp
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", args[0], err, out)
		}
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, there := os.Stat(filepath.Join(dir, "lib", "libcuda.a")); there == nil {
			return nil // another process was faster
		}
		return err
	}
	return nil
}

// withFlags puts a flag ahead of the C flags in env; those of the go command's default count where there are none.
func withFlags(env []string, name, flag string) []string {
	if strings.ContainsAny(flag, " \t'\"") {
		flag = "'" + flag + "'" // paths with quotes in them fail to build, and say so
	}
	for i, kv := range env {
		if old, ok := strings.CutPrefix(kv, name+"="); ok {
			env[i] = name + "=" + flag + " " + old
			return env
		}
	}
	return append(env, name+"="+flag+" -g -O2")
}
