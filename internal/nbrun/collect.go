package nbrun

import (
	"encoding/base64"
	"encoding/json"
	"sync"

	"github.com/gander-go/gander/internal/notebook"
	"github.com/gander-go/gander/kernel/cell"
)

// collector turns what cells produce into notebook outputs. One collector serves a whole notebook, because an update may
// change a display of an earlier cell.
type collector struct {
	echo func(stream cell.StreamName, text string) // sees stream output as it comes; nil for nobody

	// mu guards what follows.
	mu       sync.Mutex
	cell     *notebook.Cell
	clear    bool                        // the next output replaces all before it
	displays map[string][]map[string]any // outputs by display id
}

func newCollector() *collector { return &collector{displays: map[string][]map[string]any{}} }

// begin directs output to c.
func (k *collector) begin(c *notebook.Cell) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cell, k.clear = c, false
}

func (k *collector) add(o map[string]any) {
	if k.cell == nil {
		return
	}
	if k.clear {
		k.cell.Outputs, k.clear = nil, false
	}
	k.cell.Outputs = append(k.cell.Outputs, o)
}

// Stream implements cell.Output. Text of one stream in a row becomes one output.
func (k *collector) Stream(name cell.StreamName, text string) {
	if k.echo != nil {
		k.echo(name, text)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cell == nil || text == "" {
		return
	}
	if n := len(k.cell.Outputs); n > 0 && !k.clear {
		if last := k.cell.Outputs[n-1]; last["output_type"] == "stream" && last["name"] == string(name) {
			last["text"] = last["text"].(string) + text
			return
		}
	}
	k.add(map[string]any{"output_type": "stream", "name": string(name), "text": text})
}

// Display implements cell.Output.
func (k *collector) Display(b cell.Bundle) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o := output("display_data", b)
	k.add(o)
	k.remember(b.DisplayID, o)
}

// Update implements cell.Output.
func (k *collector) Update(b cell.Bundle) {
	k.mu.Lock()
	defer k.mu.Unlock()
	next := output("display_data", b)
	for _, o := range k.displays[b.DisplayID] {
		o["data"], o["metadata"] = next["data"], next["metadata"]
	}
}

// Clear implements cell.Output.
func (k *collector) Clear(wait bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.clear = wait; !wait && k.cell != nil {
		k.cell.Outputs = nil
	}
}

// result adds how the cell ended.
func (k *collector) result(n int, r *cell.Result) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.Value != nil {
		o := output("execute_result", *r.Value)
		o["execution_count"] = n
		k.add(o)
		k.remember(r.Value.DisplayID, o)
	}
	if r.Err != nil {
		trace := make([]any, 0, len(r.Err.Text))
		for _, l := range r.Err.Text {
			trace = append(trace, l)
		}
		k.add(map[string]any{"output_type": "error", "ename": r.Err.Name, "evalue": r.Err.Message, "traceback": trace})
	}
	for _, p := range r.Payload {
		if p.Source == "page" {
			k.add(output("display_data", cell.Bundle{Data: p.Data}))
		}
	}
}

func (k *collector) remember(id string, o map[string]any) {
	if id != "" {
		k.displays[id] = append(k.displays[id], o)
	}
}

func output(kind string, b cell.Bundle) map[string]any {
	data := make(map[string]any, len(b.Data))
	for mime, v := range b.Data {
		switch v := v.(type) {
		case []byte:
			data[mime] = base64.StdEncoding.EncodeToString(v)
		case json.RawMessage:
			var decoded any
			if json.Unmarshal(v, &decoded) == nil {
				data[mime] = decoded
			}
		default:
			data[mime] = v
		}
	}
	meta := b.Metadata
	if meta == nil {
		meta = map[string]any{}
	}
	return map[string]any{"output_type": kind, "data": data, "metadata": meta}
}
