package compose

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/gander-go/gander/internal/bug"
	"github.com/gander-go/gander/profiler/cellstack"
	"github.com/gander-go/gander/profiler/gotrace"
	"github.com/gander-go/gander/profiler/trace"
)

// StartRecording implements magics.Language.
func (l *Language) StartRecording(ctx context.Context, options json.RawMessage) error {
	if err := l.wait(ctx, nil); err != nil {
		return err
	}
	return l.session.StartRecording(ctx, options)
}

// StopRecording implements magics.Language.
func (l *Language) StopRecording(ctx context.Context) (*trace.Trace, error) {
	b, err := l.session.StopRecording(ctx)
	if err != nil {
		return nil, err
	}
	t, err := trace.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err == nil {
			cellstack.Plain(t, l.eval.Translate)
		}
	}()
	if len(t.Attachments) == 0 {
		return t, nil
	}
	gotrace.MergeAttachments(t, gotrace.Options{})
	if invalid := t.Validate(); invalid != nil {
		bug.Reportf("merging an execution trace: %v", invalid)
		if t, err = trace.Decode(bytes.NewReader(b)); err == nil {
			t.Attachments = nil
			t.Problem("exec-trace", 1, "The execution trace could not be used: "+invalid.Error()+".", "Please report this.")
		}
	}
	return t, err
}
