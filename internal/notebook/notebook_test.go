package notebook

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

const sample = `{
 "cells": [
  {"cell_type": "markdown", "id": "a1", "metadata": {"tags": ["x", "y"]}, "source": ["# T\n", "text"], "attachments": {"i.png": {"image/png": "AA=="}}},
  {"cell_type": "code", "id": "b2", "metadata": {}, "execution_count": 7, "source": "x := 1 < 2\n",
   "outputs": [
    {"output_type": "stream", "name": "stdout", "text": ["a\n", "b"]},
    {"output_type": "display_data", "metadata": {}, "data": {"text/html": ["<b>", "x</b>"], "application/json": ["kept", 12345678901234567890], "image/png": "AA=="}}
   ]},
  {"cell_type": "code", "id": "c3", "metadata": {}, "execution_count": null, "source": [], "outputs": []}
 ],
 "metadata": {"kernelspec": {"name": "gander"}, "odd": 1.50},
 "nbformat": 4, "nbformat_minor": 5, "future": {"k": [1]}
}`

func TestRoundTrip(t *testing.T) {
	nb, err := Read([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	if got := nb.Cells[0].Source; got != "# T\ntext" {
		t.Errorf("source %q", got)
	}
	if !nb.Cells[0].Tagged("y") || nb.Cells[0].Tagged("z") {
		t.Error("tags are not read")
	}
	if got := nb.Cells[1].Outputs[0]["text"]; got != "a\nb" {
		t.Errorf("stream text %q", got)
	}
	var buf bytes.Buffer
	if err := nb.Write(&buf); err != nil {
		t.Fatal(err)
	}
	again, err := Read(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(nb, again) {
		t.Errorf("a written notebook reads differently:\n%s", buf.String())
	}
	for _, keep := range []string{`"odd": 1.50`, "12345678901234567890", `"attachments"`, `"future"`, `1 < 2`} {
		if !strings.Contains(buf.String(), keep) {
			t.Errorf("%s was lost in:\n%s", keep, buf.String())
		}
	}
	var v any
	if err := json.Unmarshal(buf.Bytes(), &v); err != nil {
		t.Error(err)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"no JSON", "hello", "not a notebook"},
		{"no format", `{"cells": []}`, "nbformat"},
		{"version 3", `{"nbformat": 3, "worksheets": []}`, "nbformat 3"},
		{"no cells", `{"nbformat": 4}`, "cells"},
		{"odd cell", `{"nbformat": 4, "cells": [1]}`, "cell 1"},
	} {
		if _, err := Read([]byte(tc.in)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v does not mention %q", tc.name, err, tc.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(`{"nbformat":4,"cells":[{}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		nb, err := Read(b)
		if err != nil {
			return
		}
		var buf bytes.Buffer
		if err := nb.Write(&buf); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(buf.Bytes()); err != nil {
			t.Fatalf("a written notebook does not read: %v", err)
		}
	})
}
