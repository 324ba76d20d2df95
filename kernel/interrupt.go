package kernel

import "context"

// Interrupter is implemented by engines that can do more than to cancel the context of Execute. InterruptAgain is called
// for every further interrupt of a cell that has been interrupted and has not replied yet; at the edges of a cell that may
// be when Execute is not running.
type Interrupter interface{ InterruptAgain() }

// Interrupt stops the running cell and aborts the queued ones; it does nothing to an idle kernel.
func (k *Kernel) Interrupt() {
	if k.cells.interrupt() < 2 {
		return
	}
	if e, ok := k.engine.(Interrupter); ok {
		e.InterruptAgain()
	}
}

// interruptRequest answers an interrupt_request.
func (k *Kernel) interruptRequest(context.Context, *request) any {
	k.Interrupt()
	return map[string]any{"status": "ok"}
}
