// Package plugins lets the session process load compiled cells. It is apart from the worker because a program that links
// package plugin keeps all its code and data, which `gander session` must not.
package plugins

import (
	"fmt"
	"plugin"

	"github.com/gander-go/gander/kernel/session/worker"
)

func init() { worker.RegisterLoader(load) }

// load opens the plugin at path, running its init functions when it is new, and finds its exported func() entry; nil
// when entry is empty. A plugin that is open already is not opened again.
func load(path, entry string) (func(), error) {
	p, err := plugin.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening compiled cell: %w", err)
	}
	if entry == "" {
		return nil, nil
	}
	s, err := p.Lookup(entry)
	if err != nil {
		return nil, fmt.Errorf("opening compiled cell: %w", err)
	}
	f, ok := s.(func())
	if !ok {
		return nil, fmt.Errorf("opening compiled cell %q: %s is a %T, not a func()", path, entry, s)
	}
	return f, nil
}
