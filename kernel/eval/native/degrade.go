package native

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gander-go/gander/kernel/session/link"
)

// Discard throws away the plugins of a unit that the session process could not load, such as ones that another toolchain has left in the
// cache: the same cell is then built anew. It reports whether there is hope in that: not for the second time.
func (e *Engine) Discard(u link.Unit) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	hope := false
	for _, file := range u.Plugins {
		name := filepath.Base(file)
		if filepath.Dir(file) != filepath.Clean(e.work) || e.discarded[file] {
			continue
		}
		// A process never opens a file again that it failed to open, so that the next one has another name.
		if e.discarded == nil {
			e.discarded, e.again = map[string]bool{}, map[string]string{}
		}
		e.discarded[file] = true
		e.again[name] = fmt.Sprintf("-%d", len(e.discarded))
		e.cache.remove(name)
		e.tables.forget()
		hope = true
	}
	return hope
}

// isFull reports whether a build failed because its disk is full.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		strings.Contains(err.Error(), syscall.ENOSPC.Error()) || strings.Contains(err.Error(), syscall.EDQUOT.Error())
}

// moveWork has cells built beside the cache from now on, once, and reports whether it has. What is built already stays where it is. It is
// called with mu held.
func (e *Engine) moveWork() bool {
	if e.left != "" {
		return false
	}
	removeLeftovers(e.cache.dir)
	work, err := os.MkdirTemp(e.cache.dir, fmt.Sprintf("%s%d-", workPrefix, os.Getpid()))
	if err != nil {
		return false
	}
	e.notes = append(e.notes, fmt.Sprintf("the disk of %s is full; cells are built in %s", filepath.Dir(e.work), e.cache.dir))
	e.moving.Lock()
	e.left, e.work = e.work, work
	e.moving.Unlock()
	e.tools.setTemp(work)
	return true
}

// Notes are what a user should know of the engine's circumstances, each once.
func (e *Engine) Notes() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	notes := e.notes
	e.notes = nil
	c := e.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why != "" && !c.told {
		c.told = true
		notes = append(notes, "built cells are not kept for later sessions: "+c.why)
	}
	return notes
}
