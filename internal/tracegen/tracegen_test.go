package tracegen

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
)

func TestWriteIsJSONAndKnowsWhatItWrote(t *testing.T) {
	var b bytes.Buffer
	tot, err := Write(&b, Options{Steps: 12, Python: true, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		TraceEvents []struct {
			Ph, Cat string
			Ts, Dur json.Number
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]int64)
	for _, e := range doc.TraceEvents {
		if e.Ph == "X" {
			counts[e.Cat]++
			if e.Dur[0] == '-' {
				t.Fatalf("negative duration %s", e.Dur)
			}
		}
	}
	if int64(len(doc.TraceEvents)) != tot.Events || int64(b.Len()) != tot.Bytes || tot.Steps != 12 {
		t.Fatalf("%d events and %d bytes, told %+v", len(doc.TraceEvents), b.Len(), tot)
	}
	for c, n := range counts {
		if tot.Categories[c].Count != n {
			t.Errorf("%s: %d events, told %d", c, n, tot.Categories[c].Count)
		}
	}
	if len(counts) != len(tot.Categories) || counts["kernel"] != 12*40+1 {
		t.Errorf("categories %v", counts)
	}
}

func TestWriteStopsAtItsSize(t *testing.T) {
	tot, err := Write(io.Discard, Options{Bytes: 1 << 20})
	if err != nil || tot.Bytes < 1<<20 || tot.Bytes > 1<<21 {
		t.Fatalf("wrote %d bytes, %v", tot.Bytes, err)
	}
}
