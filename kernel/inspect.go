package kernel

import (
	"context"
	"encoding/json"
)

// inspect answers an inspect_request; that nothing is found is no error.
func (k *Kernel) inspect(ctx context.Context, r *request) any {
	var req struct {
		completeRequest
		DetailLevel int `json:"detail_level"`
	}
	if err := r.bind(&req); err != nil {
		return badRequest(err)
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	reply := struct {
		Status string `json:"status"`
		Found  bool   `json:"found"`
		display
	}{Status: "ok", display: display{map[string]json.RawMessage{}, map[string]json.RawMessage{}}}
	if b := k.engine.Inspect(ctx, req.Code, req.cursor(), req.DetailLevel); b != nil {
		reply.Found, reply.display = true, k.encodeBundle(*b)
	}
	return reply
}
