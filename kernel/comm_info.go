package kernel

import "context"

// commInfo answers a comm_info_request with the open comms, of one target if the request names one.
func (k *Kernel) commInfo(_ context.Context, r *request) any {
	var req struct {
		Target string `json:"target_name"`
	}
	if err := r.bind(&req); err != nil {
		return badRequest(err)
	}
	type info struct {
		Target string `json:"target_name"`
	}
	open := map[string]info{}
	k.open.mu.Lock()
	defer k.open.mu.Unlock()
	for id, target := range k.open.targets {
		if req.Target == "" || req.Target == target {
			open[id] = info{target}
		}
	}
	return map[string]any{"status": "ok", "comms": open}
}
