package kernel

import (
	"context"

	"github.com/gander-go/gander/kernel/history"
)

// historyRequest answers a history_request: [session, line, input], or [session, line, [input, output]] when outputs
// are asked for.
func (k *Kernel) historyRequest(_ context.Context, r *request) any {
	req := struct {
		Output  bool   `json:"output"`
		Access  string `json:"hist_access_type"`
		Session int    `json:"session"`
		Start   int    `json:"start"`
		Stop    *int   `json:"stop"`
		N       *int   `json:"n"`
		Pattern string `json:"pattern"`
		Unique  bool   `json:"unique"`
	}{Pattern: "*"}
	if err := r.bind(&req); err != nil {
		return badRequest(err)
	}
	var entries []history.Entry
	var err error
	n := -1
	if req.N != nil {
		n = *req.N
	}
	switch req.Access {
	case "tail":
		entries, err = k.history.Tail(n)
	case "range":
		stop := -1
		if req.Stop != nil {
			stop = *req.Stop
		}
		entries, err = k.history.Range(req.Session, req.Start, stop)
	case "search":
		entries, err = k.history.Search(req.Pattern, n, req.Unique)
	default:
		return failed("BadRequest", "hist_access_type is none of tail, range and search")
	}
	if err != nil {
		return failed("HistoryError", err.Error())
	}
	list := make([]any, len(entries))
	for i, e := range entries {
		if !req.Output {
			list[i] = []any{e.Session, e.Line, e.Input}
			continue
		}
		var output any // null where the cell had no result
		if e.Output != "" {
			output = e.Output
		}
		list[i] = []any{e.Session, e.Line, []any{e.Input, output}}
	}
	return map[string]any{"status": "ok", "history": list}
}
