//go:build linux && cgo && (amd64 || arm64)

package driver

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
)

// Program is compiled kernels that are loaded on each device when they are first launched there. The functions that %%cuda
// makes are built on it.
type Program struct {
	image   string
	missing error

	// mu guards what follows.
	mu     sync.Mutex
	loaded map[*Context]*loadedProgram
	open   *Context // the context of launches that name none
}

type loadedProgram struct {
	module    *Module
	functions map[string]*Function
}

// NewProgram makes a program of PTX or a CUBIN. Nothing is loaded yet.
func NewProgram(image string) *Program { return &Program{image: image} }

// MissingProgram makes a program that could not be compiled: each launch fails with the reason.
func MissingProgram(reason string) *Program { return &Program{missing: errors.New(reason)} }

// Err returns why the program cannot run on this machine, nil when it can.
func (p *Program) Err() error {
	if p.missing != nil {
		return p.missing
	}
	return Available()
}

// Launch starts a kernel in the context of the launch's stream, or else of the first argument that is device memory, or else
// of device 0. See Function.Launch.
func (p *Program) Launch(kernel string, l Launch, args ...any) error {
	if err := p.Err(); err != nil {
		return fmt.Errorf("launching kernel %q: %w", kernel, err)
	}
	f, err := p.function(l, args, kernel)
	if err != nil {
		return fmt.Errorf("launching kernel %q: %w", kernel, err)
	}
	return f.Launch(l, args...)
}

// Function finds a kernel on a device, to ask for its resources.
func (p *Program) Function(c *Context, kernel string) (*Function, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	return p.find(c, kernel)
}

func (p *Program) function(l Launch, args []any, kernel string) (*Function, error) {
	c := l.Stream.context()
	for _, a := range args {
		if r, ok := a.(reach); ok && c == nil && !reflect.ValueOf(r).IsNil() {
			if err := r.usable(); err != nil {
				return nil, err
			}
			c = r.context()
		}
	}
	if c == nil {
		var err error
		p.mu.Lock()
		if p.open == nil {
			p.open, err = Open(0)
		}
		c = p.open
		p.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
	return p.find(c, kernel)
}

func (p *Program) find(c *Context, kernel string) (*Function, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.loaded[c]
	if at == nil {
		m, err := c.Load([]byte(p.image))
		if err != nil {
			return nil, err
		}
		if p.loaded == nil {
			p.loaded = map[*Context]*loadedProgram{}
		}
		at = &loadedProgram{m, map[string]*Function{}}
		p.loaded[c] = at
	}
	if f := at.functions[kernel]; f != nil {
		return f, nil
	}
	f, err := at.module.Function(kernel)
	if err != nil {
		return nil, err
	}
	at.functions[kernel] = f
	return f, nil
}
