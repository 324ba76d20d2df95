package kernel

import "context"

// isComplete answers an is_complete_request. Consoles wait a second at most and then never ask again.
func (k *Kernel) isComplete(_ context.Context, r *request) any {
	var req struct {
		Code string `json:"code"`
	}
	if err := r.bind(&req); err != nil {
		return badRequest(err)
	}
	c := k.engine.IsComplete(req.Code)
	reply := map[string]any{"status": c.Status}
	if c.Status == "incomplete" {
		reply["indent"] = c.Indent
	}
	return reply
}
