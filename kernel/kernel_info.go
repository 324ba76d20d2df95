package kernel

import (
	"context"

	"github.com/gander-go/gander/kernel/wire"
)

// kernelInfo answers a kernel_info_request, on shell and control alike. Clients send several in a row and need busy, the
// reply and idle for each.
func (k *Kernel) kernelInfo(context.Context, *request) any {
	info := k.engine.Info()
	return map[string]any{
		"status":                 "ok",
		"protocol_version":       wire.ProtocolVersion,
		"implementation":         "gander",
		"implementation_version": k.version(),
		"language_info": map[string]any{
			"name":            "go",
			"version":         info.GoVersion,
			"mimetype":        "text/x-go",
			"file_extension":  ".go",
			"pygments_lexer":  "go",
			"codemirror_mode": "go",
		},
		"banner": info.Banner,
		"help_links": []map[string]string{
			{"text": "Go documentation", "url": "https://go.dev/doc/"},
			{"text": "Go standard library", "url": "https://pkg.go.dev/std"},
		},
		"debugger":           false,
		"supported_features": []string{}, // neither "debugger" nor "kernel subshells": completions need none here
	}
}

func (k *Kernel) version() string {
	if k.opts.Version == "" {
		return "0.0.0"
	}
	return k.opts.Version
}
