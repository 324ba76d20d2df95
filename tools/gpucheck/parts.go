//go:build linux && cgo && (amd64 || arm64)

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// part is a part of the checks, which runs in a process of its own. The error says why the rest of its checks could not be made.
type part struct {
	name  string
	limit time.Duration
	run   func(r *Report, o options) error
}

const machinePart, workloadPart = "machine", "workload"

func parts() []part {
	return []part{
		{machinePart, 40 * time.Second, machine},
		{workloadPart, 60 * time.Second, workload},
		{"schedule", 30 * time.Second, schedule},
		{"graphs", 30 * time.Second, graphs},
		{"memory", 30 * time.Second, memoryKinds},
		{"compiler", 40 * time.Second, compiler},
		{"overhead", 60 * time.Second, measureOverhead},
		{"torch", 150 * time.Second, compareTorch},
	}
}

func partNames() (list []string) {
	for _, p := range parts()[1:] { // the machine is always looked at
		list = append(list, p.name)
	}
	return list
}

// message is a line that a part prints.
type message struct {
	Check   *Check         `json:"check,omitempty"`
	Machine map[string]any `json:"machine,omitempty"`
}

// noGPU is the exit code of a machine on which nothing can be checked.
const noGPU = 2

// runPart runs one part in this process.
func runPart(name string, o options) int {
	out := json.NewEncoder(os.Stdout)
	r := &Report{told: func(c Check) { out.Encode(message{Check: &c}) }} //nolint:errcheck // nobody listens any more
	i := slices.IndexFunc(parts(), func(p part) bool { return p.name == name })
	if i < 0 {
		fmt.Fprintf(os.Stderr, "gpucheck: there is no part %q\n", name)
		return noGPU
	}
	err := parts()[i].run(r, o)
	if r.Machine != nil {
		out.Encode(message{Machine: r.Machine}) //nolint:errcheck // as above
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gpucheck:", err)
		return noGPU
	}
	return 0
}

// runAll runs every part and prints each check as it comes. The report is on disk after each part.
func runAll(o options) int {
	r := &Report{Time: time.Now().UTC().Format(time.RFC3339), told: func(c Check) { fmt.Printf("%-8s %-28s %s\n", c.Status, c.Name, c.Detail) }}
	end := time.Now().Add(o.limit)
	if o.trace == "" { // torch's part compares with it
		dir, err := os.MkdirTemp("", "gpucheck-")
		if err == nil {
			defer os.RemoveAll(dir)
			o.trace = filepath.Join(dir, "trace.json")
		}
	}
	save := func() {
		if o.json == "" {
			return
		}
		if err := os.WriteFile(o.json, append(encode(r), '\n'), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "gpucheck:", err)
		}
	}
	var env []string
	for _, p := range parts() {
		if o.parts != "" && p.name != machinePart && !slices.Contains(strings.Split(o.parts, ","), p.name) {
			continue
		}
		limit := min(p.limit, time.Until(end))
		if limit < time.Second {
			r.skip(p.name, "no time is left of %v", o.limit)
			continue
		}
		said, err := r.child(p.name, o, env, limit)
		if p.name == machinePart {
			if r.Machine == nil && err != nil {
				fmt.Fprintln(os.Stderr, said)
				return noGPU
			}
			env = o.choose(r.Machine)
		}
		if err != nil {
			r.add(p.name, fmt.Errorf("%w: %s", err, said), "")
		}
		save()
		if p.name == workloadPart {
			r.libraries(o, end)
			save()
		}
	}
	bad := 0
	for _, c := range r.Checks {
		if c.Status == failed {
			bad++
		}
	}
	if bad > 0 {
		fmt.Printf("%d of %d checks failed\n", bad, len(r.Checks))
		return 1
	}
	return 0
}

// child runs a part in a process and adds its checks. The error is of a process that did not end by itself, or not well; said
// is the last line that it printed besides checks.
func (r *Report) child(name string, o options, env []string, limit time.Duration) (said string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(self, "-part", name, "-expected", o.expected, "-trace", o.trace, "-tolerance", fmt.Sprint(o.tolerance), "-overhead", fmt.Sprint(o.overhead), "-python", o.python)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what the part starts ends with it
	pipe, write, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer pipe.Close()
	errs, err := os.CreateTemp("", "gpucheck-")
	if err != nil {
		write.Close()
		return "", err
	}
	defer os.Remove(errs.Name())
	defer errs.Close()
	cmd.Stdout, cmd.Stderr = write, errs
	err = cmd.Start()
	write.Close()
	if err != nil {
		return "", err
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for s := bufio.NewScanner(pipe); s.Scan(); {
			var m message
			if json.Unmarshal(s.Bytes(), &m) != nil {
				continue
			}
			if m.Check != nil {
				r.put(*m.Check)
			}
			if m.Machine != nil {
				r.Machine = m.Machine
			}
		}
	}()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-time.After(limit):
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may have ended just now
		err = fmt.Errorf("it was ended after %v", limit.Round(time.Second))
		select { // a process that hangs in the driver cannot be ended; it is left behind
		case <-ended:
		case <-time.After(3 * time.Second):
		}
	}
	pipe.SetReadDeadline(time.Now().Add(2 * time.Second)) //nolint:errcheck // pipes have deadlines
	<-read
	text, _ := os.ReadFile(errs.Name())
	if _, seekErr := errs.Seek(0, io.SeekStart); seekErr == nil && err != nil && o.json != "" {
		os.WriteFile(filepath.Join(filepath.Dir(o.json), "part-"+name+".txt"), text, 0o644) //nolint:errcheck // its last line is in the report
	}
	return words(text), err
}

// words is the line of a process's last words that says most: of a Go program that panicked or crashed the first, of others the last.
func words(text []byte) string {
	for line := range bytes.Lines(text) {
		if s := strings.TrimSpace(string(line)); strings.HasPrefix(s, "panic:") || strings.HasPrefix(s, "fatal error:") || strings.HasPrefix(s, "SIG") {
			return s
		}
	}
	return lastLine(string(text))
}

// choose names a library of -libraries for each that the machine does not have, and writes them to the file of -env.
func (o options) choose(machine map[string]any) (env []string) {
	if machine["cupti_version"] == nil {
		if list := o.cuptis(machine); len(list) > 0 {
			env = append(env, "GANDER_LIBCUPTI="+list[len(list)-1].file)
		}
	}
	if machine["nvrtc_version"] == nil && o.libraries != "" {
		if list, _ := filepath.Glob(filepath.Join(o.libraries, "nvrtc", "libnvrtc.so.*")); len(list) > 0 {
			env = append(env, "GANDER_LIBNVRTC="+list[0])
		}
	}
	if o.env != "" {
		text := ""
		for _, e := range env {
			name, value, _ := strings.Cut(e, "=")
			text += fmt.Sprintf("export %s='%s'\n", name, value)
		}
		os.WriteFile(o.env, []byte(text), 0o644) //nolint:errcheck // the notebook says what is missing then
	}
	return env
}

// cuptiFile is a CUPTI of -libraries.
type cuptiFile struct {
	version int // 1209 is 12.9
	file    string
}

// cuptis are the libraries that are no newer than the driver, in order of their versions.
func (o options) cuptis(machine map[string]any) (list []cuptiFile) {
	major, _ := machine["cuda_major"].(float64)
	if o.libraries == "" {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(o.libraries, "cupti-*", "libcupti.so.*"))
	for _, f := range files {
		var a, b int
		if _, err := fmt.Sscanf(filepath.Base(filepath.Dir(f)), "cupti-%d.%d", &a, &b); err == nil && a <= int(major) {
			list = append(list, cuptiFile{a*100 + b, f})
		}
	}
	slices.SortFunc(list, func(a, b cuptiFile) int { return a.version - b.version })
	return list
}

// libraries runs the workload with each further CUPTI: one check each.
func (r *Report) libraries(o options, end time.Time) {
	o.trace, o.json = "", ""
	for _, l := range o.cuptis(r.Machine) {
		name := fmt.Sprintf("CUPTI %d.%d", l.version/100, l.version%100)
		limit := min(30*time.Second, time.Until(end))
		if limit < time.Second {
			r.skip(name, "no time is left")
			continue
		}
		other := &Report{}
		said, err := other.child(workloadPart, o, []string{"GANDER_LIBCUPTI=" + l.file}, limit)
		if err != nil {
			err = fmt.Errorf("%w: %s", err, said)
		}
		n := 0
		for _, c := range other.Checks {
			switch c.Status {
			case failed:
				err = errors.Join(err, fmt.Errorf("%s: %s", c.Name, c.Detail))
			case passed:
				n++
			}
		}
		if err != nil {
			err = errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
		}
		r.add(name, err, "%d checks of the workload", n)
	}
}
