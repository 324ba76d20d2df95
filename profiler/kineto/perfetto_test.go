package kineto

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gander-go/gander/internal/shared"
	"github.com/gander-go/gander/profiler/trace"
)

// beyond lists the slices that this reader shows and Perfetto's importer, or the query that was asked of it, does not.
var beyond = map[string][]string{
	// A complete event without duration is shown, marked as unfinished; Perfetto drops it.
	"json_extreme_vals": {"1000000,-1,CompleteNoDur"},
	// The query looks at tracks of threads and processes; asynchronous slices have tracks of their own.
	"json_async": {"2000000,100000,AsyncMissingCat", "2200000,100000,AsyncEmptyStringId", "2400000,100000,AsyncMissingCatEmptyStringId"},
	"json_id2":   {"4000000,100000,AsyncId2StandardGlobalKey", "4200000,100000,AsyncId2EmptyGlobalKey"},
}

// perfettoRows reads the rows that Perfetto gives for a file, each as a map by column.
func perfettoRows(t *testing.T, path string) []map[string]string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "-- expected (perfetto trace_processor) --")
	if !ok {
		t.Fatalf("%s holds no expectation", path)
	}
	var lines []string
	for _, l := range strings.Split(table, "\n") {
		if l = strings.TrimSpace(l); l != "" {
			lines = append(lines, l)
		}
	}
	all, err := csv.NewReader(strings.NewReader(strings.Join(lines, "\n"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, r := range all[1:] {
		row := make(map[string]string)
		for i, column := range all[0] {
			row[column] = r[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// sliceRows lists slices, and instants that belong to a thread or process, as "ts,dur,name".
func sliceRows(tr *trace.Trace) (rows []string) {
	for i := range tr.Slices {
		s := &tr.Slices[i]
		dur := s.Dur
		if s.Flags&trace.FlagUnfinished != 0 {
			dur = -1
		}
		rows = append(rows, fmt.Sprintf("%d,%d,%s", s.Start, dur, tr.Name(s)))
	}
	for _, n := range tr.Instants {
		if n.Scope != 'g' {
			rows = append(rows, fmt.Sprintf("%d,0,%s", n.Time, tr.Strings.Get(n.Name)))
		}
	}
	slices.Sort(rows)
	return rows
}

func TestSlicesAreThoseOfPerfetto(t *testing.T) {
	dir := shared.Path(t, "data", "odd", "perfetto")
	names, _ := filepath.Glob(filepath.Join(dir, "*.expected.txt"))
	if len(names) < 30 {
		t.Fatalf("%d files, want 30", len(names))
	}
	compared := 0
	for _, path := range names {
		name := strings.TrimSuffix(filepath.Base(path), ".expected.txt")
		text, err := os.ReadFile(filepath.Join(dir, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		tr, _ := mustRead(t, text, ReadOptions{})
		var want []string
		header := false
		raw, _ := os.ReadFile(path)
		for _, columns := range []string{`"ts","dur","name"`, `"name","ts","dur"`, `"ts","dur","state"`, `"ts","dur","cpu"`} {
			header = header || strings.Contains(string(raw), columns)
		}
		if !header || name == "json_flow" { // the query of json_flow counts, so that all slices become one row
			continue
		}
		compared++
		for _, r := range perfettoRows(t, path) {
			label := r["name"]
			if label == "" {
				label = r["state"]
			}
			if label == "" {
				label = "Running" // the scheduling table holds nothing else
			}
			want = append(want, r["ts"]+","+r["dur"]+","+label)
		}
		want = append(want, beyond[name]...)
		slices.Sort(want)
		want = slices.Compact(want)
		got := slices.Compact(sliceRows(tr))
		if name == "json_thread_state_sched" {
			got = slices.DeleteFunc(got, func(r string) bool { return !strings.HasSuffix(r, ",Running") })
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, want)
		}
	}
	if compared < 17 {
		t.Errorf("only %d files were compared", compared)
	}
}

func TestOtherTablesAreThoseOfPerfetto(t *testing.T) {
	dir := shared.Path(t, "data", "odd", "perfetto")
	read := func(name string) *trace.Trace {
		text, err := os.ReadFile(filepath.Join(dir, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		tr, _ := mustRead(t, text, ReadOptions{})
		return tr
	}
	rows := func(name string) []map[string]string {
		return perfettoRows(t, filepath.Join(dir, name+".expected.txt"))
	}

	tr := read("json_counter_args")
	var got, want []string
	for _, c := range tr.Counters {
		got = append(got, fmt.Sprintf("%s %f", c.Name, c.Values[0]))
	}
	for _, r := range rows("json_counter_args") {
		want = append(want, r["name"]+" "+r["value"])
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("counters:\n got %q\nwant %q", got, want)
	}

	tr = read("json_sort_index_ordering")
	for _, r := range rows("json_sort_index_ordering") {
		ok := false
		for _, p := range tr.Processes {
			ok = ok || r["type"] == "process" && fmt.Sprint(p.PID, p.Sort) == r["id"]+" "+r["hint"]
		}
		for _, k := range tr.Tracks {
			ok = ok || r["type"] == "thread" && fmt.Sprint(k.ID, k.Sort) == r["id"]+" "+r["hint"]
		}
		if !ok && r["hint"] != "0" { // a process without hint has none, named or not
			t.Errorf("no %s %s with sort index %s", r["type"], r["id"], r["hint"])
		}
	}

	tr = read("json_metadata_missing_or_invalid_ts")
	for i, r := range rows("json_metadata_missing_or_invalid_ts") {
		if p := tr.Processes[i]; fmt.Sprint(p.PID) != r["pid"] || p.Name != r["name"] {
			t.Errorf("process %+v, want %v", p, r)
		}
	}

	tr = read("string_pid_tid")
	if p, k := tr.Processes[0], tr.Tracks[0]; p.Key != "foo" || k.Key != "bar" {
		t.Errorf("pid %q, tid %q", p.Key, k.Key)
	}
	tr = read("x_event_order")
	if len(tr.Tracks) != 1 || tr.Name(&tr.Slices[0]) != "Parent" {
		t.Errorf("the child without tid must lie in its parent: %q", sliceRows(tr))
	}
	tr = read("args_ordered")
	if s := tr.Slices[1]; tr.Strings.Get(tr.Generics[s.Args].JSON) != `{"01.step1":1,"02.step2":2}` {
		t.Errorf("arguments %q", tr.Strings.Get(tr.Generics[s.Args].JSON))
	}
	tr = read("json_trace_metadata")
	if len(tr.Meta.Values) != 1 || !strings.Contains(tr.Meta.Values[0].Value, `"networkThrottling":"No throttling"`) {
		t.Errorf("metadata %v", tr.Meta.Values)
	}
	for _, name := range []string{"overlapping_complete_event_import_log", "overlapping_complete_event_recovered"} {
		if tr = read(name); len(tr.Slices) != 2 || len(tr.Problems) != 1 || tr.Problems[0].Kind != "overlapping-slices" {
			t.Errorf("%s: %d slices, problems %v", name, len(tr.Slices), tr.Problems)
		}
	}
}
