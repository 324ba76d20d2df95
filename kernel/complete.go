package kernel

import (
	"context"
)

// completeRequest is the content of a complete_request and the part an inspect_request shares with it.
type completeRequest struct {
	Code      string `json:"code"`
	CursorPos *int   `json:"cursor_pos"` // in code points; the end of the code, when missing
}

// cursor returns the cursor as a byte offset within the code.
func (c *completeRequest) cursor() int {
	if c.CursorPos == nil {
		return len(c.Code)
	}
	return byteOffset(c.Code, *c.CursorPos)
}

// typedMatch is an entry of _jupyter_types_experimental. JupyterLab inserts Text, so it equals the match.
type typedMatch struct {
	Start     int    `json:"start"`
	End       int    `json:"end"`
	Text      string `json:"text"`
	Type      string `json:"type"`
	Signature string `json:"signature,omitempty"`
}

// complete answers a complete_request; that there is nothing to offer is no error.
func (k *Kernel) complete(ctx context.Context, r *request) any {
	var req completeRequest
	if err := r.bind(&req); err != nil {
		return badRequest(err)
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	cursor := req.cursor()
	c := k.engine.Complete(ctx, req.Code, cursor)
	if len(c.Items) == 0 {
		c.Start, c.End = cursor, cursor
	}
	start, end := codePoints(req.Code, c.Start), codePoints(req.Code, c.End)
	matches := make([]string, len(c.Items))
	types := make([]typedMatch, len(c.Items))
	for i, it := range c.Items {
		matches[i] = it.Text
		types[i] = typedMatch{start, end, it.Text, it.Type, it.Signature}
	}
	return map[string]any{
		"status": "ok", "matches": matches, "cursor_start": start, "cursor_end": end,
		"metadata": map[string]any{"_jupyter_types_experimental": types},
	}
}
