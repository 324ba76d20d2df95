package kernel

import (
	"context"
	"time"

	"github.com/gander-go/gander/internal/bug"
)

// engineEnd is how long the engine may take to shut down; Jupyter kills the process after five seconds.
const engineEnd = 2 * time.Second

// shutdownRequest answers a shutdown_request. A restart is the same to the kernel: Jupyter starts another process. The cell
// that runs gets its reply first, if it ends in time.
func (k *Kernel) shutdownRequest(_ context.Context, r *request) any {
	var req struct {
		Restart bool `json:"restart"`
	}
	if err := r.bind(&req); err != nil {
		return badRequest(err)
	}
	k.beginShutdown()
	<-k.ended
	return map[string]any{"status": "ok", "restart": req.Restart}
}

// beginShutdown cancels what runs and shuts the engine down in the background; ended tells when that is done. It is
// idempotent.
func (k *Kernel) beginShutdown() {
	k.shutdown.Do(func() {
		k.cells.close()
		go func() {
			defer close(k.ended)
			within(engineEnd, func() {
				defer bug.Recover("shutting down the engine", nil)
				ctx, cancel := context.WithTimeout(context.Background(), engineEnd)
				defer cancel()
				k.engine.Shutdown(ctx)
			})
			within(engineEnd/4, k.cells.wait)
		}()
	})
}
