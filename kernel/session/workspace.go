package session

import (
	"context"
	"os"
	"os/exec"
	"slices"
)

// Workspace is the module directory that the session program and the plugins of cells are built in, with one toolchain
// and one set of flags, so that they always fit each other. Its files are never changed once it is ready: builders put
// their own packages elsewhere, or in folders of their own below Dir/cells.
type Workspace struct {
	Dir       string   // root of the module; go.mod requires and replaces github.com/gander-go/gander => ./gander
	Module    string   // its module path, "gander.session"
	Source    string   // Dir/gander: our own sources
	Binary    string   // the built session program
	Go        string   // the go command
	GoVersion string   // as runtime.Version prints it, "go1.26.8"
	GOROOT    string   //
	Env       []string // complete environment for go commands
	Flags     []string // flags of every go build and go list, e.g. -buildvcs=false -mod=mod
	LDFlags   string   // the value of -ldflags of every link

	Cells string // folder for built cells; empty for the usual one in the user's cache
	Note  string // what the user should know of where things are built; empty for nothing

	cc []string // the C compiler's command
}

// Module is the module path of a workspace.
const Module = "gander.session"

// Command is a go command in the workspace: args[0] is "build", "list", …; the workspace's flags are put after it.
func (w *Workspace) Command(ctx context.Context, args ...string) *exec.Cmd {
	args = slices.Concat(args[:1], w.Flags, args[1:])
	cmd := exec.CommandContext(ctx, w.Go, args...)
	cmd.Dir, cmd.Env = w.Dir, w.Env
	return cmd
}

// NoToolchain is the error of Prepare when cells cannot be compiled on this machine; it says what is missing.
type NoToolchain struct{ Missing string }

func (e *NoToolchain) Error() string { return "compiling cells needs " + e.Missing }

// BuildConfig says where and with what to build.
type BuildConfig struct {
	CacheDir string // below os.UserCacheDir() when empty
	Go       string // the go command; looked up when empty
	// Progress is called while building, from one goroutine at a time: what is being done, and how far it is (total is 0
	// when unknown). It may be nil.
	Progress func(what string, done, total int)
}

// environment is what go commands get: the user's own, without what would change the module that is built.
func environment(extra ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(s string) bool {
		for _, p := range []string{"GOFLAGS=", "GOWORK=", "GO111MODULE=", "CGO_ENABLED=", "GOOS=", "GOARCH=", "PWD="} {
			if len(s) >= len(p) && s[:len(p)] == p {
				return true
			}
		}
		return false
	})
	return append(append(env, "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=1"), extra...)
}
