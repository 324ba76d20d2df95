package analyze

import (
	"fmt"
	"slices"
	"strings"
)

type sortKey struct {
	name  string
	value func(*Average) float64
}

// sortKeys lists torch's numeric attributes first, then those that only Gander has.
var sortKeys = []sortKey{
	{"count", func(a *Average) float64 { return float64(a.Count) }},
	{"cpu_time", (*Average).CPUAvg},
	{"cpu_time_total", func(a *Average) float64 { return float64(a.CPUTotal) }},
	{"self_cpu_time_total", func(a *Average) float64 { return float64(a.SelfCPU) }},
	{"device_time", (*Average).DeviceAvg},
	{"device_time_total", func(a *Average) float64 { return float64(a.DeviceTotal) }},
	{"self_device_time_total", func(a *Average) float64 { return float64(a.SelfDevice) }},
	{"cpu_memory_usage", func(a *Average) float64 { return float64(a.CPUMemory) }},
	{"self_cpu_memory_usage", func(a *Average) float64 { return float64(a.SelfCPUMemory) }},
	{"device_memory_usage", func(a *Average) float64 { return float64(a.DeviceMemory) }},
	{"self_device_memory_usage", func(a *Average) float64 { return float64(a.SelfDeviceMemory) }},
	{"os_cpu_time", func(a *Average) float64 { return float64(a.os().CPU) }},
	{"page_faults", func(a *Average) float64 { return float64(a.os().Faults) }},
	{"io_blocks", func(a *Average) float64 { return float64(a.os().BlocksIn + a.os().BlocksOut) }},
	{"context_switches", func(a *Average) float64 { return float64(a.os().Switches + a.os().Preemptions) }},
	{"flops", func(a *Average) float64 { return float64(a.FLOPs) }},
	{"device_time_union", func(a *Average) float64 { return float64(a.DeviceUnion) }},
	{"bytes_accessed", func(a *Average) float64 { return float64(a.Bytes) }},
	{"min", func(a *Average) float64 { return float64(a.Min) }},
	{"max", func(a *Average) float64 { return float64(a.Max) }},
	{"p50", func(a *Average) float64 { return float64(a.P50) }},
	{"p90", func(a *Average) float64 { return float64(a.P90) }},
	{"p99", func(a *Average) float64 { return float64(a.P99) }},
	{"stddev", func(a *Average) float64 { return a.StdDev }},
}

// os is OS, or no counts.
func (a *Average) os() OSCounts {
	if a.OS == nil {
		return OSCounts{}
	}
	return *a.OS
}

// deviceSpellings are torch's older names of a device in sort keys.
var deviceSpellings = []string{"cuda", "xpu", "privateuse1", "mtia", "hpu"}

// SortKeys are the names Sort accepts, one spelling each; torch's cuda_, xpu_ and privateuse1_ spellings work too.
func SortKeys() []string {
	names := make([]string, len(sortKeys))
	for i, k := range sortKeys {
		names[i] = k.name
	}
	return names
}

// Sort orders the rows by key, largest first, ties in their present order. An unknown key is an error that names the
// nearest. "name" and "key" sort by name, ascending. Where no row has anything in the column, as in those of a device on a
// machine without one, rows are ordered by self CPU time, unless the convention is Torch.
func (a *Averages) Sort(key string) error {
	rows, err := sorted(a.Rows, key, a.Options.Convention)
	if err == nil {
		a.Rows = rows
	}
	return err
}

func sorted(rows []Average, key string, c Convention) ([]Average, error) {
	out := slices.Clone(rows)
	if key == "" {
		return out, nil
	}
	if key == "name" || key == "key" {
		slices.SortStableFunc(out, func(p, q Average) int { return strings.Compare(p.Key, q.Key) })
		return out, nil
	}
	canonical := key
	for _, d := range deviceSpellings {
		canonical = strings.ReplaceAll(canonical, d, "device")
	}
	for _, k := range sortKeys {
		if k.name != canonical {
			continue
		}
		if c != Torch && !slices.ContainsFunc(out, func(a Average) bool { return k.value(&a) != 0 }) {
			k.value = func(a *Average) float64 { return float64(a.SelfCPU) }
		}
		slices.SortStableFunc(out, func(p, q Average) int {
			switch v, w := k.value(&p), k.value(&q); {
			case v > w:
				return -1
			case v < w:
				return 1
			}
			return 0
		})
		return out, nil
	}
	candidates := append(SortKeys(), "name")
	for _, name := range SortKeys() {
		if strings.Contains(name, "device") {
			candidates = append(candidates, strings.ReplaceAll(name, "device", "cuda"))
		}
	}
	return nil, fmt.Errorf("sorting key averages: no column %q; did you mean %q? (columns: %s)", key, nearest(key, candidates), strings.Join(SortKeys(), ", "))
}

// nearest returns the candidate that s was most likely meant to be: one a few edits away, else one that begins with or
// contains s, else the fewest edits away.
func nearest(s string, candidates []string) string {
	best, bestDistance := "", 1<<30
	for _, c := range candidates {
		if d := editDistance(s, c); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	if bestDistance <= 1+len(s)/4 {
		return best
	}
	for _, match := range []func(c, s string) bool{strings.HasPrefix, strings.Contains} {
		for _, c := range candidates {
			if s != "" && match(c, s) {
				return c
			}
		}
	}
	return best
}

// editDistance is the Levenshtein distance of a and b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

// Filter returns the averages of the rows that keep accepts. Totals stay those of all rows, so that percentages do.
func (a *Averages) Filter(keep func(*Average) bool) *Averages {
	out := *a
	out.Rows = nil
	for i := range a.Rows {
		if keep(&a.Rows[i]) {
			out.Rows = append(out.Rows, a.Rows[i])
		}
	}
	return &out
}

// Total returns the sum of all rows, keyed "Total". Its totals double count what calls each other, as torch's do.
func (a *Averages) Total() Average {
	sum := Average{Key: "Total", Device: "CPU", First: -1, Track: -1}
	for i := range a.Rows {
		r := &a.Rows[i]
		sum.Count += r.Count
		sum.Untimed += r.Untimed
		sum.CPUTotal += r.CPUTotal
		sum.SelfCPU += r.SelfCPU
		sum.DeviceTotal += r.DeviceTotal
		sum.SelfDevice += r.SelfDevice
		sum.CPUMemory += r.CPUMemory
		sum.SelfCPUMemory += r.SelfCPUMemory
		sum.DeviceMemory += r.DeviceMemory
		sum.SelfDeviceMemory += r.SelfDeviceMemory
		sum.FLOPs += r.FLOPs
		sum.About += r.About
		sum.Bytes += r.Bytes
	}
	return sum
}
