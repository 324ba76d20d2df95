package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Where the user's cache folder takes no files, because it is read-only or full or there is no home, the workspace and the cells that are
// built go to a folder of the user's among the temporary files: the machine's next start pays for it, not this session.

// unwritable are the reasons to look for another folder.
var unwritable = []error{syscall.EROFS, syscall.EACCES, syscall.EPERM, syscall.ENOSPC, syscall.EDQUOT, syscall.ENOTDIR, fs.ErrPermission}

func isUnwritable(err error) bool {
	for _, e := range unwritable {
		if errors.Is(err, e) || strings.Contains(err.Error(), e.Error()) { // or in the go command's words
			return true
		}
	}
	return false
}

// temporaryRoot is the folder that takes the cache's place. It belongs to the user alone: what is in it is run.
func temporaryRoot() (string, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("gander-cache-%d", os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	st, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if owner, ok := st.Sys().(*syscall.Stat_t); !st.IsDir() || st.Mode().Perm()&0o077 != 0 || ok && int(owner.Uid) != os.Getuid() {
		return "", fmt.Errorf("%s is not a folder of this user alone", dir)
	}
	return dir, nil
}

// goFolders gives the go command folders below root for what it cannot keep where it usually does.
func goFolders(ctx context.Context, w *Workspace, root string) {
	ask := func(name string) string {
		cmd := exec.CommandContext(ctx, w.Go, "env", name)
		cmd.Env, cmd.Dir = w.Env, os.TempDir()
		out, err := cmd.Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	if dir := ask("GOCACHE"); !takesFiles(dir) {
		w.Env = append(w.Env, "GOCACHE="+filepath.Join(root, "go-build"))
	}
	if ask("GOMODCACHE") == "" {
		w.Env = append(w.Env, "GOPATH="+filepath.Join(root, "go"))
	}
}

// takesFiles reports whether files can be made in dir.
func takesFiles(dir string) bool {
	if dir == "" || os.MkdirAll(dir, 0o755) != nil {
		return false
	}
	f, err := os.CreateTemp(dir, "gander-")
	if err != nil {
		return false
	}
	_, err = f.Write(make([]byte, 4096))
	err = errors.Join(err, f.Close())
	os.Remove(f.Name())
	return err == nil
}
