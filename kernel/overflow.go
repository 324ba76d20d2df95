package kernel

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// overflow keeps the output of a cell that is too long for the front end in a file. It is used under the output's lock.
type overflow struct {
	k     *Kernel
	path  string
	file  *os.File // nil between writes of a cell that has ended
	err   error    // the file could not be written
	bytes int64
	lost  int64 // bytes that are in no file
}

// overflowAge is how long such files are kept.
const overflowAge = 14 * 24 * time.Hour

func newOverflow(k *Kernel, count int) *overflow {
	o := &overflow{k: k}
	dir := k.opts.OverflowDir
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			o.err = err
			return o
		}
		dir = filepath.Join(cache, "gander", "output")
	}
	if o.err = os.MkdirAll(dir, 0o700); o.err != nil {
		return o
	}
	prune(dir)
	if o.file, o.err = os.CreateTemp(dir, fmt.Sprintf("cell-%d-*.txt", count)); o.err == nil {
		o.path = o.file.Name()
	}
	return o
}

// prune removes what earlier kernels left long ago.
func prune(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && strings.HasPrefix(e.Name(), "cell-") && time.Since(info.ModTime()) > overflowAge {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

func (o *overflow) write(text string) {
	if o.err == nil && o.file == nil {
		o.file, o.err = os.OpenFile(o.path, os.O_APPEND|os.O_WRONLY, 0)
	}
	if o.err == nil && o.bytes+int64(len(text)) <= overflowFileCap {
		var n int
		n, o.err = o.file.WriteString(text)
		o.bytes += int64(n)
		o.lost += int64(len(text) - n)
		return
	}
	o.lost += int64(len(text))
}

// opened is the notice at the place where the output stops.
func (o *overflow) opened() string {
	limit := humanize.IBytes(uint64(o.k.opts.OutputCap))
	if o.err != nil {
		return fmt.Sprintf("\n[gander] This cell has written more than %s. The rest is dropped: %v.\n", limit, o.err)
	}
	return fmt.Sprintf("\n[gander] This cell has written more than %s. The rest goes to %s.\n", limit, o.path)
}

// close closes the file until the next write and returns the notice at the cell's end.
func (o *overflow) close() string {
	if o.file != nil {
		if err := o.file.Close(); err != nil && o.err == nil {
			o.err = err
		}
		o.file = nil
	}
	var b strings.Builder
	if o.bytes > 0 {
		fmt.Fprintf(&b, "[gander] %s more are in %s.\n", humanize.IBytes(uint64(o.bytes)), o.path)
	}
	if o.lost > 0 {
		why := fmt.Sprintf("the file is at its limit of %s", humanize.IBytes(overflowFileCap))
		if o.err != nil {
			why = o.err.Error()
		}
		fmt.Fprintf(&b, "[gander] %s are lost: %s.\n", humanize.IBytes(uint64(o.lost)), why)
	}
	return b.String()
}
