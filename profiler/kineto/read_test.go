package kineto

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gander-go/gander/internal/shared"
	"github.com/gander-go/gander/profiler/trace"
)

// mustRead reads text and checks what holds for every trace.
func mustRead(t testing.TB, text []byte, opt ReadOptions) (*trace.Trace, *merger) {
	t.Helper()
	m, err := collect(bytes.NewReader(text), opt)
	if err != nil {
		t.Fatal(err)
	}
	tr := m.finish()
	if err := tr.Validate(); err != nil {
		t.Fatal(err)
	}
	return tr, m
}

// realTraces returns the text of every trace of the reference data, by name.
func realTraces(t *testing.T) map[string][]byte {
	dir := shared.Path(t, "data", "traces")
	names, err := filepath.Glob(filepath.Join(dir, "*.gz"))
	if err != nil || len(names) < 11 {
		t.Fatalf("found %d traces (%v), want at least 11", len(names), err)
	}
	texts := make(map[string][]byte)
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, ".tar.gz") {
			if texts[filepath.Base(name)], err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for r := tar.NewReader(z); ; {
			h, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if h.Typeflag == tar.TypeReg && strings.Contains(h.Name, ".json") {
				if texts[h.Name], err = io.ReadAll(r); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return texts
}

// tally is what a test counts of a trace in two independent ways.
type tally struct {
	Count, Duration, External, Correlation int64
}

// plainTallies counts a trace with nothing but encoding/json and math/big.
func plainTallies(t *testing.T, text []byte) (byCategory map[string]tally, memory tally, points, instants, notes int64) {
	var doc struct {
		TraceEvents []map[string]json.RawMessage `json:"traceEvents"`
	}
	if text[0] == '[' {
		if err := json.Unmarshal(text, &doc.TraceEvents); err != nil {
			t.Fatal(err)
		}
	} else if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	str := func(v json.RawMessage) string {
		var s string
		_ = json.Unmarshal(v, &s)
		return s
	}
	ns := func(v json.RawMessage) int64 {
		r, ok := new(big.Rat).SetString(strings.Trim(string(v), `"`))
		if !ok {
			t.Fatalf("no number: %s", v)
		}
		r.Mul(r, big.NewRat(1000, 1))
		if !r.IsInt() {
			// Half away from zero; the traces have no negative times.
			r.Add(r, big.NewRat(1, 2))
			return new(big.Int).Quo(r.Num(), r.Denom()).Int64()
		}
		return r.Num().Int64()
	}
	byCategory = make(map[string]tally)
	for _, e := range doc.TraceEvents {
		var args map[string]json.RawMessage
		_ = json.Unmarshal(e["args"], &args)
		num := func(keys ...string) int64 {
			for _, k := range keys {
				if v, ok := args[k]; ok {
					n, _ := new(big.Int).SetString(string(v), 10)
					return n.Int64()
				}
			}
			return 0
		}
		switch str(e["ph"]) {
		case "X":
			c := byCategory[str(e["cat"])]
			c.Count++
			c.Duration += ns(e["dur"])
			c.External += num("External id", "external id")
			c.Correlation += num("correlation")
			byCategory[str(e["cat"])] = c
		case "s", "f", "t":
			points++
		case "M":
			notes++
		case "i":
			if str(e["name"]) == "[memory]" {
				memory.Count++
				memory.Duration += num("Bytes")
			} else {
				instants++
			}
		default:
			t.Fatalf("the plain reader does not know phase %s", e["ph"])
		}
	}
	return byCategory, memory, points, instants, notes
}

func tallies(tr *trace.Trace) (byCategory map[string]tally, memory tally, points, instants int64) {
	byCategory = make(map[string]tally)
	for i := range tr.Slices {
		s := &tr.Slices[i]
		name := tr.Categories[s.Cat].Name
		c := byCategory[name]
		c.Count++
		c.Duration += s.Dur
		c.External += s.Ext
		c.Correlation += s.Corr
		byCategory[name] = c
	}
	for i := range tr.Memory {
		memory.Count++
		memory.Duration += tr.Memory[i].Bytes
	}
	for i := range tr.Flows {
		if tr.Flows[i].FromTrack != trace.NoTrack {
			points++
		}
		if tr.Flows[i].ToTrack != trace.NoTrack {
			points++
		}
	}
	return byCategory, memory, points, int64(len(tr.Instants))
}

func TestRealTracesAgreeWithPlainPass(t *testing.T) {
	for name, text := range realTraces(t) {
		t.Run(name, func(t *testing.T) {
			tr, m := mustRead(t, text, ReadOptions{})
			wantCats, wantMemory, wantPoints, wantInstants, notes := plainTallies(t, text)
			gotCats, gotMemory, gotPoints, gotInstants := tallies(tr)
			events := wantMemory.Count + wantPoints + wantInstants + notes
			for c, want := range wantCats {
				events += want.Count
				if gotCats[c] != want {
					t.Errorf("category %q: got %+v, want %+v", c, gotCats[c], want)
				}
			}
			if len(gotCats) != len(wantCats) || gotMemory != wantMemory || gotPoints != wantPoints || gotInstants != wantInstants {
				t.Errorf("categories %d (want %d), memory %+v (%+v), ends of flows %d (%d), instants %d (%d)",
					len(gotCats), len(wantCats), gotMemory, wantMemory, gotPoints, wantPoints, gotInstants, wantInstants)
			}
			if m.events != events {
				t.Errorf("read %d events, want %d", m.events, events)
			}
			for _, p := range tr.Problems {
				if p.Kind != "overlapping-slices" {
					t.Errorf("unexpected problem %+v", p)
				}
			}
		})
	}
}

func TestUnitsDoNotChangeTheResult(t *testing.T) {
	for name, text := range realTraces(t) {
		if len(text) < 4*unitBytes {
			continue
		}
		one, _ := mustRead(t, text, ReadOptions{Workers: 1})
		many, _ := mustRead(t, text, ReadOptions{Workers: 4})
		if a, b := dump(t, one), dump(t, many); a != b {
			t.Errorf("%s: one worker and four disagree: %s", name, firstDifference(a, b))
		}
	}
}

func dump(t testing.TB, tr *trace.Trace) string {
	var b strings.Builder
	if err := trace.Dump(&b, tr); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			other := "(nothing)"
			if i < len(y) {
				other = y[i]
			}
			return "line " + x[i] + "\n against " + other
		}
	}
	return "the second goes on"
}

// expected is one entry of the manifest of odd files.
type expected struct {
	File   string
	Events any `json:"expect_events"`
	X      any `json:"expect_X"`
	Sum    any `json:"expect_sum_dur_us"`
}

func (e expected) check(t *testing.T, what string, want any, got int64) {
	t.Helper()
	switch want := want.(type) {
	case nil:
	case float64:
		if got != int64(want) {
			t.Errorf("%s: got %d, want %v", what, got, want)
		}
	case string:
		low, high, isRange := strings.Cut(want, "..")
		switch {
		case want == ">0":
			if got <= 0 {
				t.Errorf("%s: got %d, want some", what, got)
			}
		case isRange:
			if s := big.NewInt(got).String(); s != low && s != high {
				t.Errorf("%s: got %d, want %s", what, got, want)
			}
		default:
			t.Errorf("%s: cannot read expectation %q", what, want)
		}
	}
}

// oddProblems are the problems that must be told for files of odd/synthetic; those that are not named here have none.
var oddProblems = map[string]string{
	"02_array_unterminated.json": "truncated", "06_truncated_gzip.json.gz": "truncated", "08_gzip_trailing_garbage.json.gz": "trailing-garbage",
	"20_dur_negative.json": "negative-duration", "22_nan_inf.json": "missing-duration", "24_bare_NA.json": "invalid-values",
	"26_unescaped_quote_name.json": "damaged-events", "28_backslash_path.json": "invalid-escapes", "30_non_utf8.json": "invalid-utf8",
	"38_concatenated_docs.json": "second-document", "40_null_event.json": "skipped-elements", "44_overlap.json": "overlapping-slices",
}

// oddErrors are parts of the messages for those that are no traces.
var oddErrors = map[string]string{
	"54_no_events_key.json": `no "traceEvents"`, "56_execution_trace.json": "PyTorch execution trace", "58_lfs_pointer.json": "no JSON",
}

func TestOddFiles(t *testing.T) {
	dir := shared.Path(t, "data", "odd", "synthetic")
	raw, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []expected
	if err := json.Unmarshal(raw, &list); err != nil || len(list) < 30 {
		t.Fatalf("%d entries, %v", len(list), err)
	}
	for _, e := range list {
		t.Run(e.File, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, e.File))
			if err != nil {
				t.Fatal(err)
			}
			if want := oddErrors[e.File]; want != "" {
				if _, err := Read(bytes.NewReader(text), ReadOptions{}); err == nil || !strings.Contains(err.Error(), want) {
					t.Fatalf("got error %v, want one that says %q", err, want)
				}
				return
			}
			tr, m := mustRead(t, text, ReadOptions{})
			var sum int64
			for i := range tr.Slices {
				sum += tr.Slices[i].Dur
			}
			e.check(t, "events", e.Events, m.events-m.lost[lostElement]-m.lost[lostDamage])
			e.check(t, "complete events", e.X, int64(len(tr.Slices)))
			e.check(t, "sum of durations in us", e.Sum, sum/1000)
			want, kinds := oddProblems[e.File], []string{}
			for _, p := range tr.Problems {
				kinds = append(kinds, p.Kind)
			}
			if got := strings.Join(kinds, ","); got != want {
				t.Errorf("problems %q, want %q", got, want)
			}
		})
	}
}

func TestRoundTripOfRealTraces(t *testing.T) {
	for name, text := range realTraces(t) {
		t.Run(name, func(t *testing.T) {
			first, _ := mustRead(t, text, ReadOptions{})
			roundTrip(t, first)
		})
	}
}

// roundTrip writes tr, reads it back and compares everything.
func roundTrip(t testing.TB, tr *trace.Trace) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, tr, WriteOptions{Host: true}); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Bytes()) {
		t.Fatal("the writer wrote no valid JSON")
	}
	again, _ := mustRead(t, out.Bytes(), ReadOptions{})
	want, got := *tr, *again
	want.Problems, got.Problems = nil, nil
	if a, b := dump(t, &want), dump(t, &got); a != b {
		t.Fatalf("reading back differs: %s", firstDifference(a, b))
	}
	return out.Bytes()
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{
		`{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"g"}],"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1.5,"dur":2.25,"args":{"device":0,"stream":7,"correlation":3,"grid":[1,2,3],"External id":5}},` +
			`{"ph":"s","id":3,"pid":1,"tid":1,"ts":1,"cat":"ac2g","name":"ac2g"},{"ph":"f","id":3,"pid":0,"tid":7,"ts":1.5,"cat":"ac2g","name":"ac2g","bp":"e"},` +
			`{"ph":"i","name":"[memory]","s":"t","pid":1,"tid":1,"ts":2,"args":{"Device Type":1,"Device Id":0,"Addr":7,"Bytes":-4,"Ev Idx":9}},` +
			`{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"main"}}],"baseTimeNanoseconds":17}`,
		`[{"ph":"B","ts":1,"name":"a"},{"ph":"E","ts":2},{"ph":"b","id":"0x1","ts":0,"cat":"c"},{"ph":"e","id":"0x1","ts":5,"cat":"c"},{"ph":"C","name":"n","ts":1,"args":{"v":"+1.5"}},{"ph":"P","ts":3,"sf":"1"},null,{`,
		`{"traceEvents":[{"name": "a "b" c", "ph":"X"}, {"name":"C:\Users","ph":"X","ts":NaN,"dur":N/A,"args":{"x":[{},{"ph":1}],}}], "stackFrames":{"1":{"name":"f","parent":"1"}}`,
	} {
		f.Add([]byte(text), uint16(0))
		f.Add([]byte(text), uint16(40))
	}
	f.Fuzz(func(t *testing.T, text []byte, split uint16) {
		// A second run that gets the text in small pieces, on limits that it meets, must hold the same promises.
		m, err := collect(bytes.NewReader(text), ReadOptions{})
		if err != nil {
			return
		}
		tr := m.finish()
		if err := tr.Validate(); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := Write(&out, tr, WriteOptions{Host: true}); err != nil {
			t.Fatal(err)
		}
		if !json.Valid(out.Bytes()) {
			t.Fatalf("no valid JSON: %s", out.Bytes())
		}
		again, err := Read(bytes.NewReader(out.Bytes()), ReadOptions{})
		if err != nil {
			t.Fatalf("reading what was written: %v\n%s", err, out.Bytes())
		}
		if len(again.Slices) != len(tr.Slices) || len(again.Memory) != len(tr.Memory) || len(again.Flows) != len(tr.Flows) {
			t.Fatalf("wrote %d slices, %d memory events, %d flows; read %d, %d, %d\n%s", len(tr.Slices), len(tr.Memory), len(tr.Flows),
				len(again.Slices), len(again.Memory), len(again.Flows), out.Bytes())
		}
		if tr, err := Read(iotest.OneByteReader(bytes.NewReader(text)), ReadOptions{MaxEventBytes: 1 + int(split), MaxModelBytes: 4000, MaxInputBytes: 1 + int64(split)*8}); err == nil {
			if err := tr.Validate(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
