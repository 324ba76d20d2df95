package kernel

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// usageMeter remembers the last usage_request: processor use is told for the time since.
type usageMeter struct {
	// mu guards the fields below.
	mu    sync.Mutex
	at    time.Time
	ticks uint64 // of our processes
	total uint64 // of all processors
	idle  uint64
}

// clockTicks is USER_HZ, the unit of times in /proc: 100 on every Linux that Go runs on.
const clockTicks = 100

// usageRequest answers a usage_request as ipykernel does; jupyter-resource-usage shows it. It is not part of the protocol.
// Memory is in bytes, the kernel's use of processors in percent of one, the host's in percent of all. What the system does
// not tell is left out.
func (k *Kernel) usageRequest(context.Context, *request) any {
	hostname, _ := os.Hostname()
	reply := map[string]any{"hostname": hostname, "pid": os.Getpid(), "cpu_count": runtime.NumCPU()}
	var rss, ticks uint64
	known := false
	for _, pid := range processTree(os.Getpid()) {
		if r, t, ok := processUsage(pid); ok {
			rss, ticks, known = rss+r, ticks+t, true
		}
	}
	total, idle, hostKnown := hostTicks()

	u := &k.usage
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	if known {
		reply["kernel_memory"] = rss
		if d := now.Sub(u.at).Seconds(); !u.at.IsZero() && d > 0 && ticks >= u.ticks {
			reply["kernel_cpu"] = float64(ticks-u.ticks) / clockTicks / d * 100
		} else {
			reply["kernel_cpu"] = 0.0
		}
	}
	if hostKnown && total > u.total && u.total > 0 {
		reply["host_cpu_percent"] = 100 * (1 - float64(idle-u.idle)/float64(total-u.total))
	}
	u.at, u.ticks, u.total, u.idle = now, ticks, total, idle
	if m := hostMemory(); m != nil {
		reply["host_virtual_memory"] = m
	}
	return map[string]any(reply)
}

// maxTree bounds the processes that are looked at.
const maxTree = 1000

// processTree returns pid and its descendants, as far as the system tells.
func processTree(pid int) []int {
	tree := []int{pid}
	for i := 0; i < len(tree) && len(tree) < maxTree; i++ {
		tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", tree[i]))
		for _, t := range tasks {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", tree[i], t.Name()))
			if err != nil {
				continue
			}
			for _, f := range strings.Fields(string(b)) {
				if n, err := strconv.Atoi(f); err == nil {
					tree = append(tree, n)
				}
			}
		}
	}
	return tree
}

// processUsage returns the resident bytes and the processor time in ticks of a process (proc(5), stat: fields 14, 15, 24).
func processUsage(pid int) (rss, ticks uint64, ok bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, false
	}
	_, rest, found := strings.Cut(string(b), ") ") // the name before may hold spaces
	if i := strings.LastIndex(string(b), ") "); found && i >= 0 {
		rest = string(b)[i+2:]
	}
	f := strings.Fields(rest)
	if len(f) < 22 {
		return 0, 0, false
	}
	user, err1 := strconv.ParseUint(f[11], 10, 64)
	system, err2 := strconv.ParseUint(f[12], 10, 64)
	pages, err3 := strconv.ParseUint(f[21], 10, 64)
	return pages * uint64(os.Getpagesize()), user + system, err1 == nil && err2 == nil && err3 == nil
}

// hostTicks returns the processor time of the whole machine and how much of it was idle.
func hostTicks() (total, idle uint64, ok bool) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, false
	}
	line, _, _ := strings.Cut(string(b), "\n")
	f := strings.Fields(line)
	if len(f) < 6 || f[0] != "cpu" {
		return 0, 0, false
	}
	for i, s := range f[1:min(len(f), 9)] { // guest time, after the eighth, is part of user time
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return 0, 0, false
		}
		total += n
		if i == 3 || i == 4 {
			idle += n
		}
	}
	return total, idle, true
}

// hostMemory returns the machine's memory in bytes, nil where it is not known.
func hostMemory() map[string]any {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return nil
	}
	defer f.Close()
	kib := map[string]uint64{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var name string
		var n uint64
		if _, err := fmt.Sscanf(sc.Text(), "%s %d", &name, &n); err == nil {
			kib[name] = n
		}
	}
	total, available, free := kib["MemTotal:"]<<10, kib["MemAvailable:"]<<10, kib["MemFree:"]<<10
	if total == 0 {
		return nil
	}
	used := total - min(total, available)
	return map[string]any{
		"total": total, "available": available, "free": free, "used": used,
		"percent": float64(used) / float64(total) * 100,
	}
}
