// Package notebook reads and writes Jupyter notebooks (nbformat 4). It knows the format, not how cells run or look.
//
// Its one invariant: what it does not understand (metadata, attachments, outputs of other tools) survives a read and a
// write unchanged.
package notebook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gander-go/gander/internal/atomicfile"
)

// Notebook is a notebook in memory. Values of maps are as encoding/json decodes them, numbers as json.Number.
type Notebook struct {
	Cells    []*Cell
	Metadata map[string]any
	Minor    int // nbformat_minor

	rest map[string]any // unknown keys
}

// Cell is one cell.
type Cell struct {
	Type     string // "code", "markdown", "raw"
	ID       string // empty before nbformat 4.5
	Source   string
	Metadata map[string]any

	// Of code cells.
	Outputs        []map[string]any // nbformat outputs; multi-line text is joined to one string
	ExecutionCount int              // 0 when it was not run

	rest map[string]any
}

// Tagged reports whether the cell carries tag.
func (c *Cell) Tagged(tag string) bool {
	tags, _ := c.Metadata["tags"].([]any)
	for _, t := range tags {
		if t == tag {
			return true
		}
	}
	return false
}

// ReadFile reads the notebook at path.
func ReadFile(path string) (*Notebook, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading notebook: %w", err)
	}
	nb, err := Read(b)
	if err != nil {
		return nil, fmt.Errorf("reading notebook %s: %w", path, err)
	}
	return nb, nil
}

// Read decodes a notebook.
func Read(b []byte) (*Notebook, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var top map[string]any
	if err := dec.Decode(&top); err != nil {
		return nil, fmt.Errorf("not a notebook: %w", err)
	}
	major, ok := integer(top["nbformat"])
	switch {
	case !ok:
		return nil, fmt.Errorf("not a notebook: it has no number %q", "nbformat")
	case major != 4:
		return nil, fmt.Errorf("its format is nbformat %d; only 4 is supported: open and save it with a current Jupyter", major)
	}
	cells, ok := top["cells"].([]any)
	if !ok {
		return nil, fmt.Errorf("not a notebook: it has no list %q", "cells")
	}
	nb := &Notebook{Metadata: object(top["metadata"])}
	nb.Minor, _ = integer(top["nbformat_minor"])
	for i, c := range cells {
		m, ok := c.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("cell %d is no object", i+1)
		}
		nb.Cells = append(nb.Cells, readCell(m))
	}
	nb.rest = without(top, "nbformat", "nbformat_minor", "metadata", "cells")
	return nb, nil
}

func readCell(m map[string]any) *Cell {
	c := &Cell{Source: joined(m["source"]), Metadata: object(m["metadata"])}
	c.Type, _ = m["cell_type"].(string)
	c.ID, _ = m["id"].(string)
	c.ExecutionCount, _ = integer(m["execution_count"])
	outs, _ := m["outputs"].([]any)
	for _, o := range outs {
		if om, ok := o.(map[string]any); ok {
			c.Outputs = append(c.Outputs, joinOutput(om))
		}
	}
	c.rest = without(m, "cell_type", "id", "source", "metadata", "outputs", "execution_count")
	return c
}

// joinOutput joins the lists of lines that nbformat stores text as.
func joinOutput(o map[string]any) map[string]any {
	if t, ok := o["text"]; ok {
		o["text"] = joined(t)
	}
	data, _ := o["data"].(map[string]any)
	for mime, v := range data {
		if !IsJSON(mime) {
			data[mime] = joined(v)
		}
	}
	return o
}

// IsJSON reports whether values of the MIME type are JSON rather than text.
func IsJSON(mime string) bool {
	return mime == "application/json" || strings.HasPrefix(mime, "application/") && strings.HasSuffix(mime, "+json")
}

func joined(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var b strings.Builder
		for _, l := range v {
			s, _ := l.(string)
			b.WriteString(s)
		}
		return b.String()
	}
	return ""
}

func integer(v any) (int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return int(i), err == nil
}

func object(v any) map[string]any {
	if m, ok := v.(map[string]any); ok {
		return m
	}
	return map[string]any{}
}

func without(m map[string]any, keys ...string) map[string]any {
	for _, k := range keys {
		delete(m, k)
	}
	return m
}

// Write encodes nb as nbformat does: keys sorted, one space of indent, text as lists of lines.
func (nb *Notebook) Write(w io.Writer) error {
	top := map[string]any{"nbformat": 4, "nbformat_minor": nb.Minor, "metadata": nb.Metadata}
	for k, v := range nb.rest {
		top[k] = v
	}
	cells := make([]any, 0, len(nb.Cells))
	for _, c := range nb.Cells {
		cells = append(cells, c.encode(nb.Minor))
	}
	top["cells"] = cells
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(top); err != nil {
		return fmt.Errorf("writing notebook: %w", err)
	}
	return nil
}

func (c *Cell) encode(minor int) map[string]any {
	m := map[string]any{"cell_type": c.Type, "source": lines(c.Source), "metadata": c.Metadata}
	for k, v := range c.rest {
		m[k] = v
	}
	if c.ID != "" && minor >= 5 {
		m["id"] = c.ID
	}
	if c.Type != "code" {
		return m
	}
	m["execution_count"] = nil
	if c.ExecutionCount > 0 {
		m["execution_count"] = c.ExecutionCount
	}
	outs := make([]any, 0, len(c.Outputs))
	for _, o := range c.Outputs {
		outs = append(outs, encodeOutput(o))
	}
	m["outputs"] = outs
	return m
}

func encodeOutput(o map[string]any) map[string]any {
	out := make(map[string]any, len(o))
	for k, v := range o {
		out[k] = v
	}
	if t, ok := out["text"].(string); ok {
		out["text"] = lines(t)
	}
	if data, ok := out["data"].(map[string]any); ok {
		d := make(map[string]any, len(data))
		for mime, v := range data {
			if s, isText := v.(string); isText && strings.HasPrefix(mime, "text/") {
				d[mime] = lines(s)
			} else {
				d[mime] = v
			}
		}
		out["data"] = d
	}
	return out
}

func lines(s string) []string {
	if s == "" {
		return []string{}
	}
	l := strings.SplitAfter(s, "\n")
	if l[len(l)-1] == "" {
		l = l[:len(l)-1]
	}
	return l
}

// WriteFile writes nb to path, in whole or not at all.
func (nb *Notebook) WriteFile(path string) error {
	return atomicfile.Write(path, nb.Write)
}
