package analyze

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WriteJSON writes the rows as a JSON array with torch's field names; times in ns, sizes in bytes.
func (a *Averages) WriteJSON(w io.Writer) error {
	rows := a.Rows
	if rows == nil {
		rows = []Average{}
	}
	if err := json.NewEncoder(w).Encode(rows); err != nil {
		return fmt.Errorf("writing key averages as JSON: %w", err)
	}
	return nil
}

var csvHeader = []string{
	"key", "device", "overload_name", "input_shapes", "stack", "thread", "step", "count", "cpu_time_total_ns",
	"self_cpu_time_total_ns", "device_time_total_ns", "self_device_time_total_ns", "device_time_union_ns",
	"cpu_memory_usage_bytes", "self_cpu_memory_usage_bytes", "device_memory_usage_bytes", "self_device_memory_usage_bytes",
	"flops", "bytes_accessed", "min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns", "stddev_ns", "flops_estimated",
	"os_spans", "os_wall_ns", "os_cpu_ns", "page_faults", "io_blocks_in", "io_blocks_out", "context_switches", "preemptions",
}

// WriteCSV writes one line per row, with a header; times in ns, sizes in bytes. Names that a spreadsheet would run as a
// formula get a leading apostrophe.
func (a *Averages) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	if err := out.Write(csvHeader); err != nil {
		return fmt.Errorf("writing key averages as CSV: %w", err)
	}
	for i := range a.Rows {
		r := &a.Rows[i]
		c := r.os()
		err := out.Write([]string{
			plainCell(r.Key), r.Device, plainCell(r.Overload), plainCell(r.Shapes), plainCell(strings.Join(r.Stack, ";")),
			plainCell(r.Thread), plainCell(r.Step), n(r.Count), n(r.CPUTotal), n(r.SelfCPU), n(r.DeviceTotal), n(r.SelfDevice),
			n(r.DeviceUnion), n(r.CPUMemory), n(r.SelfCPUMemory), n(r.DeviceMemory), n(r.SelfDeviceMemory), n(r.FLOPs),
			n(r.Bytes), n(r.Min), n(r.P50), n(r.P90), n(r.P99), n(r.Max), strconv.FormatFloat(r.StdDev, 'f', 3, 64), n(r.About),
			n(c.Spans), n(c.Wall), n(c.CPU), n(c.Faults), n(c.BlocksIn), n(c.BlocksOut), n(c.Switches), n(c.Preemptions),
		})
		if err != nil {
			return fmt.Errorf("writing key averages as CSV: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("writing key averages as CSV: %w", err)
	}
	return nil
}

func plainCell(s string) string {
	if s != "" && strings.IndexByte("=+-@\t\r", s[0]) >= 0 {
		return "'" + s
	}
	return s
}
