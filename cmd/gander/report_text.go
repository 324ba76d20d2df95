package main

import (
	"fmt"
	"io"

	"github.com/gander-go/gander/profiler/analyze"
	"github.com/gander-go/gander/profiler/trace"
)

// textRows is how many rows a table in the terminal has when nobody says otherwise.
const textRows = 20

// writeText prints what a terminal can show: for each trace its overview and key averages (of a sampled profile, which has no
// events, its functions), then what the ranks of a job have in common.
func (f *reportFlags) writeText(w io.Writer, ts []*trace.Trace, keys analyze.KeyOptions, c analyze.Convention) error {
	limit := f.limit
	if limit == 0 {
		limit = textRows
	}
	for _, t := range ts {
		a := analyze.Of(t)
		if len(ts) > 1 && t.Meta.Rank != trace.NoRank {
			fmt.Fprintf(w, "Rank %d\n", t.Meta.Rank)
		}
		if len(t.Slices) > 0 || len(t.Samples) == 0 { // a sampled profile has no timeline to sum up
			fmt.Fprintln(w, a.OverviewAs(c).Text())
		}
		if len(t.Slices) > 0 || len(t.Memory) > 0 {
			averages := a.KeyAverages(keys)
			o := analyze.TableOptions{Sort: f.sort, RowLimit: limit, Columns: keys.Convention}
			if o.Sort == "" && keys.Convention != analyze.Torch { // torch's own table keeps the order of appearance
				o.Sort = "self_cpu_time_total"
				if averages.SelfDeviceTotal > 0 {
					o.Sort = "self_device_time_total"
				}
			}
			table, err := averages.Table(o)
			if err != nil {
				return err
			}
			fmt.Fprintln(w, table)
		}
		for _, r := range a.Functions() {
			fmt.Fprintln(w, r.Text(limit))
		}
		for _, p := range t.Problems {
			fmt.Fprintf(w, "Note: %s (%d)\n", p.Text, p.Count)
		}
	}
	if len(ts) > 1 {
		fmt.Fprintln(w, analyze.DistributedAs(ts, c).Text())
	}
	return nil
}
