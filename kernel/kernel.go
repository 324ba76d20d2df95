package kernel

import (
	"context"
)

// Kernel is one running kernel: its sockets, its queue of cells and its history.
type Kernel struct{}

// New binds the sockets that conn names and prepares a kernel over engine. Run serves it.
func New(engine Engine, conn ConnectionInfo, opts Options) (*Kernel, error) { return &Kernel{}, nil }

// Run serves until a client asks for shutdown, ctx ends or the parent process is gone. What was sent has reached the
// clients, as far as they take it, when it returns. It returns nil for every orderly end.
func (k *Kernel) Run(ctx context.Context) error { return nil }

// Interrupt stops the running cell and aborts the queued ones; it does nothing to an idle kernel.
func (k *Kernel) Interrupt() {}
