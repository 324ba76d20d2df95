package kineto

import (
	"cmp"
	"slices"

	"github.com/gander-go/gander/profiler/trace"
)

// counters groups the values of counters into series, one for each process, name and argument.
func (m *merger) counters() {
	values := m.values.take(0)
	type key struct {
		process      trace.TrackID
		name, series trace.StringID
	}
	index := make(map[key]int)
	var count []int
	at := make([]int32, len(values))
	for i := range values {
		k := key{values[i].track, values[i].name, values[i].series}
		n, ok := index[k]
		if !ok {
			n = len(count)
			index[k] = n
			count = append(count, 0)
			c := trace.Counter{Name: m.t.Strings.Get(k.name), Process: trace.ProcessID(k.process), Track: trace.NoTrack, Device: trace.NoDevice}
			if s := m.t.Strings.Get(k.series); units[s] {
				c.Unit = s
			} else if s != "" && s != valueSeries {
				c.Name += " " + s
			}
			c.Device = m.t.Processes[c.Process].Device
			m.t.Counters = append(m.t.Counters, c)
		}
		count[n]++
		at[i] = int32(n)
	}
	for n, k := range count {
		m.t.Counters[n].Times = make([]int64, 0, k)
		m.t.Counters[n].Values = make([]float64, 0, k)
	}
	order := make([]int32, len(values))
	for i := range order {
		order[i] = int32(i)
	}
	byTime := func(a, b int32) int { return cmp.Compare(values[a].time, values[b].time) }
	if !slices.IsSortedFunc(order, byTime) {
		slices.SortStableFunc(order, byTime)
	}
	for _, i := range order {
		c := &m.t.Counters[at[i]]
		c.Times = append(c.Times, values[i].time)
		c.Values = append(c.Values, values[i].value)
	}
}

// units are the series that say what a counter counts rather than which of several it is.
var units = map[string]bool{"bytes": true, "count": true, "percent": true, "watts": true, "ns": true, "celsius": true, "MHz": true, "W": true, "%": true}

// valueSeries is the series of counters that have only one.
const valueSeries = "value"
