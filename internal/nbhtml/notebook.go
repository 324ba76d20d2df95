package nbhtml

import (
	"encoding/json"
	"fmt"
	"strings"
)

// notebook is what the page needs of nbformat 4.
type notebook struct {
	Format   int    `json:"nbformat"`
	Cells    []cell `json:"cells"`
	Metadata struct {
		Title      string `json:"title"`
		Kernelspec struct {
			Language string `json:"language"`
			Name     string `json:"name"`
		} `json:"kernelspec"`
		LanguageInfo struct {
			Name string `json:"name"`
		} `json:"language_info"`
	} `json:"metadata"`
}

type cell struct {
	Type        string                     `json:"cell_type"`
	Source      text                       `json:"source"`
	Count       *int                       `json:"execution_count"`
	Outputs     []output                   `json:"outputs"`
	Attachments map[string]map[string]text `json:"attachments"`
	Metadata    struct {
		Jupyter struct {
			SourceHidden  bool `json:"source_hidden"`
			OutputsHidden bool `json:"outputs_hidden"`
		} `json:"jupyter"`
		Tags []string `json:"tags"`
	} `json:"metadata"`
}

// hidden reports whether part, "source" or "outputs", is folded away in the notebook or by nbconvert's tags.
func (c *cell) hidden(part string) bool {
	for _, t := range c.Metadata.Tags {
		if t == "remove_cell" || part == "source" && (t == "remove_input" || t == "hide_input") || part == "outputs" && (t == "remove_output" || t == "hide_output") {
			return true
		}
	}
	return part == "source" && c.Metadata.Jupyter.SourceHidden || part == "outputs" && c.Metadata.Jupyter.OutputsHidden
}

type output struct {
	Type      string                     `json:"output_type"`
	Name      string                     `json:"name"`
	Text      text                       `json:"text"`
	Data      map[string]json.RawMessage `json:"data"`
	Count     *int                       `json:"execution_count"`
	Error     string                     `json:"ename"`
	Value     string                     `json:"evalue"`
	Traceback []string                   `json:"traceback"`
}

// text is a string that a notebook may store as a list of lines.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		var lines []string
		if err := json.Unmarshal(b, &lines); err != nil {
			return err
		}
		*t = text(strings.Join(lines, ""))
		return nil
	}
	var s *string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	if s != nil {
		*t = text(*s)
	}
	return nil
}

func parse(b []byte) (*notebook, error) {
	var nb notebook
	if err := json.Unmarshal(b, &nb); err != nil {
		return nil, fmt.Errorf("reading notebook: %w", err)
	}
	if nb.Format != 4 {
		return nil, fmt.Errorf("reading notebook: nbformat is %d, supported is 4", nb.Format)
	}
	return &nb, nil
}

func (nb *notebook) language() string {
	for _, s := range []string{nb.Metadata.LanguageInfo.Name, nb.Metadata.Kernelspec.Language} {
		if s != "" {
			return strings.ToLower(s)
		}
	}
	return ""
}

func (nb *notebook) title() string {
	if nb.Metadata.Title != "" {
		return nb.Metadata.Title
	}
	for i := range nb.Cells {
		if nb.Cells[i].Type != "markdown" {
			continue
		}
		for line := range strings.Lines(string(nb.Cells[i].Source)) {
			if rest, ok := strings.CutPrefix(line, "# "); ok {
				return strings.TrimSpace(strings.NewReplacer("*", "", "`", "").Replace(rest))
			}
		}
	}
	return "Notebook"
}
