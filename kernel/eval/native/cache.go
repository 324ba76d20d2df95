package native

import (
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// cache keeps built files by the hash in their names. It is shared by processes: files appear by rename, are never changed, and
// users hold a link of their own, so that a file which another process evicts stays usable. Beside each file lies its check sum: one that
// a full disk has cut short, or that was damaged, is as good as none. Whatever goes wrong with the cache only costs time.
type cache struct {
	dir string
	max int64
	log *slog.Logger

	// mu guards what follows.
	mu     sync.Mutex
	warned bool
	told   bool   // the reason has been told to the user
	why    string // the first failure
	added  int64  // bytes stored since the last sweep
}

func openCache(dir string, max int64, log *slog.Logger) *cache {
	if max == 0 {
		max = DefaultCacheBytes
	}
	if dir == "" {
		d, err := os.UserCacheDir()
		if err != nil {
			d = os.TempDir()
		}
		dir = filepath.Join(d, "gander", "cells")
	}
	c := &cache{dir: dir, max: max, log: log}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		c.complain(err)
	}
	return c
}

// complain logs the first failure; later ones are the same.
func (c *cache) complain(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.warned {
		c.warned, c.why = true, err.Error()
		c.log.Warn("built cells are not kept between sessions", "cache", c.dir, "err", err)
	}
}

// fetch puts the cached file name at path to, and reports whether there is a sound one.
func (c *cache) fetch(name, to string) bool {
	from := filepath.Join(c.dir, name)
	want, err := os.ReadFile(from + sumExt)
	if err != nil {
		return false
	}
	if os.Link(from, to) != nil && copyFile(from, to) != nil {
		return false
	}
	if got, err := checkSum(to); err != nil || got != string(want) {
		os.Remove(to)
		c.remove(name)
		return false
	}
	now := time.Now()
	os.Chtimes(from, now, now) // least recently used goes first
	os.Chtimes(from+sumExt, now, now)
	return true
}

const sumExt = ".sum"

// checkSum is the size and the check sum of a file.
func checkSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	n, err := io.Copy(h, f)
	return fmt.Sprintf("%d %08x", n, h.Sum32()), err
}

// remove forgets a file.
func (c *cache) remove(name string) {
	os.Remove(filepath.Join(c.dir, name))
	os.Remove(filepath.Join(c.dir, name+sumExt))
}

// store puts the file at path from into the cache.
func (c *cache) store(name, from string) {
	st, err := os.Stat(from)
	if err != nil {
		return
	}
	sum, err := checkSum(from)
	if err != nil {
		return
	}
	tmp, err := os.CreateTemp(c.dir, "tmp-")
	if err != nil {
		c.complain(err)
		return
	}
	tmp.Close()
	os.Remove(tmp.Name()) // for the link
	err = os.Link(from, tmp.Name())
	if err != nil {
		err = copyFile(from, tmp.Name())
	}
	if err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(c.dir, name))
	}
	if err != nil {
		os.Remove(tmp.Name())
		c.complain(err)
		return
	}
	c.write(name+sumExt, []byte(sum))
	c.mu.Lock()
	c.added += st.Size()
	sweep := c.added > c.max/16
	if sweep {
		c.added = 0
	}
	c.mu.Unlock()
	if sweep {
		c.sweep()
	}
}

// write puts data into the cache under a name that may be there already.
func (c *cache) write(name string, data []byte) {
	tmp, err := os.CreateTemp(c.dir, "tmp-")
	if err != nil {
		c.complain(err)
		return
	}
	_, err = tmp.Write(data)
	if err2 := tmp.Close(); err == nil {
		err = err2
	}
	if err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(c.dir, name))
	}
	if err != nil {
		os.Remove(tmp.Name())
		c.complain(err)
	}
}

// sweep removes what was used least recently until the cache is within its bound.
func (c *cache) sweep() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	var total int64
	for _, e := range entries {
		if i, err := e.Info(); err == nil && i.Mode().IsRegular() && filepath.Ext(i.Name()) != sumExt {
			files = append(files, i)
			total += i.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if total <= c.max {
			return
		}
		if time.Since(f.ModTime()) < time.Minute && filepath.Ext(f.Name()) == "" {
			continue // another process is writing it
		}
		if os.Remove(filepath.Join(c.dir, f.Name())) == nil {
			os.Remove(filepath.Join(c.dir, f.Name()+sumExt))
			total -= f.Size()
		}
	}
}

func copyFile(from, to string) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	if err2 := w.Close(); err == nil {
		err = err2
	}
	if err != nil {
		os.Remove(to)
	}
	return err
}
