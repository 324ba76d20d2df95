package analyze

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gander-go/gander/profiler/trace"
)

// streams groups device work by stream, in order of first appearance, each by start.
func (x *index) streams(c Convention) [][]deviceEvent {
	row := map[trace.TrackID]int{}
	var out [][]deviceEvent
	for _, e := range x.deviceEvents(c) {
		if e.sync {
			continue
		}
		tr := x.t.Slices[e.slice].Track
		n, ok := row[tr]
		if !ok {
			n = len(out)
			row[tr] = n
			out = append(out, nil)
		}
		out[n] = append(out[n], e)
	}
	return out
}

// streamID returns the stream and device of a stream's first piece of work.
func (x *index) streamID(first int32) (stream, device int64) {
	stream, device = x.streamArg(first), -1
	tr := x.t.Slices[first].Track
	if tr < 0 || int(tr) >= len(x.t.Tracks) {
		return
	}
	if stream < 0 {
		stream = x.t.Tracks[tr].ID
	}
	if d := x.t.Tracks[tr].Device; d >= 0 && int(d) < len(x.t.Devices) {
		device = x.t.Devices[d].ID
	}
	return
}

// Idle returns the idle time by stream and cause. In HTA's convention a gap counts from the work before it, even when
// that ended later than other work; gaps may be negative. Exact counts the time in which the stream did nothing.
func (a *Analysis) Idle(o IdleOptions) *IdleReport {
	x := a.index()
	gap := int64(orDefault(int(o.KernelGap), DefaultKernelGap))
	keep := orDefault(o.Longest, 10)
	r := &IdleReport{Streams: []StreamIdle{}}
	s := x.t.Slices
	for _, events := range x.streams(o.Convention) {
		track := s[events[0].slice].Track
		st := StreamIdle{Track: track}
		st.Stream, st.Device = x.streamID(events[0].slice)
		last := 0 // the event that the stream was busy with last
		end := events[0].end
		for i := range events {
			e := &events[i]
			if i > 0 && (o.Convention == HTA || e.start > events[last].end) {
				g := Gap{Start: events[last].end, End: e.start, Before: events[last].slice, After: e.slice, Cause: IdleOther}
				switch {
				case e.call >= 0 && callStart(x, e.call, o.Convention) > g.Start:
					g.Cause = IdleHost
				case g.End-g.Start < gap:
					g.Cause = IdleKernel
				}
				st.Time[g.Cause] += g.End - g.Start
				st.Count[g.Cause]++
				st.Seen[g.Cause] = true
				st.Longest = append(st.Longest, g)
			}
			if o.Convention == HTA || e.end >= events[last].end {
				last = i
			}
			end = max(end, e.end)
		}
		st.Span = end - events[0].start
		st.Busy = total(times(events, func(*deviceEvent) bool { return true }))
		slices.SortStableFunc(st.Longest, func(p, q Gap) int { return compareInt(q.End-q.Start, p.End-p.Start) })
		st.Longest = st.Longest[:min(len(st.Longest), keep)]
		r.Streams = append(r.Streams, st)
	}
	return r
}

func callStart(x *index, call int32, c Convention) int64 {
	if c == HTA && x.fractional() {
		return ceilMicro(x.t.Slices[call].Start)
	}
	return x.t.Slices[call].Start
}

// Text returns the streams as a table.
func (r *IdleReport) Text() string {
	t := textTable{header: []string{"Stream", "Busy", "of", "Waiting for the host", "Between kernels", "Other"}}
	for i := range r.Streams {
		s := &r.Streams[i]
		t.add(fmt.Sprintf("device %d stream %d", s.Device, s.Stream), formatTime(float64(s.Busy), ""), formatTime(float64(s.Span), ""),
			formatTime(float64(s.Time[IdleHost]), ""), formatTime(float64(s.Time[IdleKernel]), ""), formatTime(float64(s.Time[IdleOther]), ""))
	}
	return t.String()
}

// Launches returns launch statistics. HTA knows only the calls cudaLaunchKernel, cudaLaunchKernelExC, cudaMemcpyAsync and
// cudaMemsetAsync (and the runtime calls of an MTIA); Exact knows every call that caused device work.
func (a *Analysis) Launches(o LaunchOptions) *LaunchReport {
	x := a.index()
	slowCall, slowDelay := int64(orDefault(int(o.CallOutlier), 50_000)), int64(orDefault(int(o.DelayOutlier), 100_000))
	r := &LaunchReport{Launches: []Launch{}}
	s := x.t.Slices
	fraction := o.Convention == HTA && x.fractional()
	for _, e := range x.deviceEvents(o.Convention) {
		if e.sync {
			continue
		}
		if e.call < 0 {
			r.Unlinked++
			continue
		}
		if o.Convention == HTA && !htaLaunch(x.t.Name(&s[e.call])) {
			continue
		}
		start, end := s[e.call].Start, s[e.call].End()
		if fraction {
			start, end = ceilMicro(start), floorMicro(end)
		}
		l := Launch{Corr: s[e.slice].Corr, Call: e.call, Work: e.slice, CPU: end - start, Device: e.end - e.start, Delay: max(0, e.start-end)}
		r.Launches = append(r.Launches, l)
		r.CPU += l.CPU
		r.Device += l.Device
		r.Delay += l.Delay
		if l.Device < l.CPU && l.CPU <= slowCall {
			r.Short++
		}
		if l.CPU > slowCall {
			r.SlowCalls++
		}
		if l.Delay > slowDelay {
			r.SlowDelays++
		}
	}
	return r
}

func htaLaunch(name string) bool {
	switch name {
	case "cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync",
		"runFunction - job_prep_and_submit_for_execution":
		return true
	}
	return false
}

// Text returns the distribution of the three times.
func (r *LaunchReport) Text() string {
	t := textTable{header: []string{"", "Total", "Mean", "p50", "p90", "p99", "Max"}}
	add := func(name string, sum int64, value func(*Launch) int64) {
		d := make([]int64, len(r.Launches))
		for i := range r.Launches {
			d[i] = value(&r.Launches[i])
		}
		if len(d) == 0 {
			return
		}
		t.add(name, formatTime(float64(sum), ""), formatTime(ratio(sum, int64(len(d))), ""), formatTime(float64(percentile(d, .5)), ""),
			formatTime(float64(percentile(d, .9)), ""), formatTime(float64(percentile(d, .99)), ""), formatTime(float64(percentile(d, 1)), ""))
	}
	add("Call", r.CPU, func(l *Launch) int64 { return l.CPU })
	add("Delay", r.Delay, func(l *Launch) int64 { return l.Delay })
	add("Device work", r.Device, func(l *Launch) int64 { return l.Device })
	out := t.String() + strconv.Itoa(len(r.Launches)) + " launches, " + strconv.Itoa(r.Short) + " with work shorter than the call, " +
		strconv.Itoa(r.SlowCalls) + " slow calls, " + strconv.Itoa(r.SlowDelays) + " long delays\n"
	if r.Unlinked > 0 {
		out += strconv.Itoa(r.Unlinked) + " pieces of device work without a recorded launch\n"
	}
	return out
}

// QueueLength returns the queue of every stream; limit 0 is QueueLimit.
func (a *Analysis) QueueLength(limit int, c Convention) []Queue {
	x := a.index()
	limit = orDefault(limit, QueueLimit)
	fraction := c == HTA && x.fractional()
	var out []Queue
	for _, events := range x.streams(c) {
		q := Queue{Track: x.t.Slices[events[0].slice].Track}
		q.Stream, q.Device = x.streamID(events[0].slice)
		type change struct {
			at    int64
			delta int32
		}
		var changes []change
		for _, e := range events {
			if e.call < 0 || c == HTA && !htaQueued(x.t.Name(&x.t.Slices[e.call])) {
				continue
			}
			at := x.t.Slices[e.call].Start
			if fraction {
				at = ceilMicro(at)
			}
			changes = append(changes, change{at, 1}, change{e.start, -1})
		}
		slices.SortStableFunc(changes, func(p, q change) int {
			if v := compareInt(p.at, q.at); v != 0 {
				return v
			}
			return int(p.delta - q.delta)
		})
		var length int32
		var sum, square float64
		sorted := make([]int64, 0, len(changes))
		for i, ch := range changes {
			length += ch.delta
			q.Times, q.Length = append(q.Times, ch.at), append(q.Length, length)
			q.Max = max(q.Max, length)
			if length >= int32(limit) && i+1 < len(changes) {
				q.Full += changes[i+1].at - ch.at
			}
			sum += float64(length)
			square += float64(length) * float64(length)
			sorted = append(sorted, int64(length))
		}
		if n := float64(len(changes)); n > 0 {
			q.Mean = sum / n
			if n > 1 {
				q.StdDev = math.Sqrt(max(0, (square-sum*sum/n)/(n-1)))
			}
			slices.Sort(sorted)
			q.P25, q.P50, q.P75 = quantile(sorted, .25), quantile(sorted, .5), quantile(sorted, .75)
			out = append(out, q)
		}
	}
	return out
}

// htaQueued reports whether HTA links calls of that name to device work where it looks at queues and idle time.
func htaQueued(name string) bool {
	switch name {
	case "cuLaunchKernel", "cuLaunchKernelEx", "cudaGraphLaunch", "hipLaunchKernel", "hipExtModuleLaunchKernel",
		"hipMemcpyWithStream", "hipMemcpyAsync", "hipMemsetAsync", "hipGraphLaunch":
		return true
	}
	return htaLaunch(name)
}

// quantile interpolates linearly between the elements of sorted.
func quantile(sorted []int64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	lo := int(at)
	if lo+1 >= len(sorted) {
		return float64(sorted[len(sorted)-1])
	}
	return float64(sorted[lo]) + (at-float64(lo))*float64(sorted[lo+1]-sorted[lo])
}
