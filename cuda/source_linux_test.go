//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gander-go/gander/cuda/driver"
	"github.com/gander-go/gander/cuda/standin"
	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/kineto"
	"github.com/gander-go/gander/profiler/trace"
)

// TestMain runs the tests against the stand-in driver and profiling library. A child process with GANDER_CUDA_CHILD profiles
// one span and prints the problems.
func TestMain(m *testing.M) {
	if os.Getenv("GANDER_CUDA_CHILD") != "" {
		child()
		return
	}
	dir, err := os.MkdirTemp("", "standin-")
	if err == nil {
		err = standins(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func standins(dir string) error {
	for env, l := range map[string]standin.Library{"GANDER_LIBCUDA": standin.Driver, "GANDER_LIBCUPTI": standin.CUPTI} {
		file, err := standin.Build(dir, l)
		if err != nil {
			return err
		}
		os.Setenv(env, file)
	}
	return nil
}

func child() {
	p, err := profiler.Start(profiler.Options{Activities: profiler.CPU | profiler.CUDA})
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	span := profiler.Begin("work")
	span.End()
	p.Stop()
	t := p.Trace()
	if err := t.Validate(); err != nil {
		fmt.Println("invalid:", err)
	}
	fmt.Println("slices:", len(t.Slices))
	for _, q := range t.Problems {
		fmt.Printf("%s: %s [%s]\n", q.Kind, q.Text, q.Remedy)
	}
}

// done is a line of the stand-in's log: what really happened.
type done struct {
	what, name     string
	start, end     int64
	stream, corr   uint32
	span           uint64
	bytes, address uint64
}

func readLog(t *testing.T, file string) []done {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []done
	for s := bufio.NewScanner(f); s.Scan(); {
		var d done
		if _, err := fmt.Sscanf(s.Text(), "%s %s %d %d %d %d %d %d %x", &d.what, &d.name, &d.start, &d.end, &d.stream, &d.corr, &d.span, &d.bytes, &d.address); err != nil {
			t.Fatalf("%q: %v", s.Text(), err)
		}
		list = append(list, d)
	}
	return list
}

const image = ".version 8.0\n.entry saxpy(\n.entry _Z5scaleIfEvPT_iS0_(\n.entry spin(\n"

// train is a program with spans: in each step two goroutines upload, compute on streams of their own, and download.
func train(t *testing.T, c *driver.Context, steps int, step func()) {
	t.Helper()
	fail := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	m, err := c.Load([]byte(image))
	if err != nil {
		t.Fatal(err)
	}
	saxpy, err := m.Function("saxpy")
	fail(err)
	scale, err := m.Function("_Z5scaleIfEvPT_iS0_")
	fail(err)
	const n = 4096
	for range steps {
		var all sync.WaitGroup
		for g := range 2 {
			all.Go(func() {
				outer := profiler.Begin(fmt.Sprintf("worker %d", g))
				defer outer.End()
				s, err := c.NewStream()
				fail(err)
				span := profiler.Begin("upload")
				x, err := driver.Upload(c, make([]float32, n))
				fail(err)
				y, err := driver.Upload(c, make([]float32, n))
				fail(err)
				span.End()
				span = profiler.Begin("compute")
				for range 3 {
					fail(saxpy.Launch(driver.Over(n, 256).On(s), int32(n), float32(2), x, y))
				}
				inner := profiler.Begin("scale")
				fail(scale.Launch(driver.Over(n, 128).On(s).WithShared(512), y, int32(n), float32(3)))
				inner.End()
				fail(y.Fill(0, s))
				fail(c.Synchronize())
				span.End()
				span = profiler.Begin("download")
				fail(y.CopyTo(make([]float32, n)))
				fail(x.Free())
				fail(y.Free())
				span.End()
			})
		}
		all.Wait()
		step()
	}
}

func open(t *testing.T) *driver.Context {
	t.Helper()
	c, err := driver.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestProfile compares a profile with what the stand-in did: names, counts, durations, bytes and spans must be exactly that.
func TestProfile(t *testing.T) {
	c := open(t)
	file := filepath.Join(t.TempDir(), "log")
	t.Setenv("STANDIN_CUPTI_LOG", file)
	t.Setenv("STANDIN_CUPTI_NOISE", "7")
	p, err := profiler.Start(profiler.Options{Activities: profiler.CPU | profiler.CUDA})
	if err != nil {
		t.Fatal(err)
	}
	train(t, c, 20, func() {})
	p.Stop()
	tr := p.Trace()
	if err := tr.Validate(); err != nil {
		t.Fatal(err)
	}
	truth := readLog(t, file)
	check(t, tr, truth)
	if last := truth[len(truth)-1]; last.what != "sync" || last.span != 0 {
		t.Errorf("the last thing that was done is %+v: stopping did not wait for the device", last)
	}
	for _, forms := range []struct {
		name string
		copy func() (*trace.Trace, error)
	}{
		{"Chrome trace", func() (*trace.Trace, error) {
			var b bytes.Buffer
			if err := kineto.Write(&b, tr, kineto.WriteOptions{}); err != nil {
				return nil, err
			}
			return kineto.Read(&b, kineto.ReadOptions{})
		}},
		{"file form", func() (*trace.Trace, error) {
			var b bytes.Buffer
			if err := trace.Encode(&b, tr); err != nil {
				return nil, err
			}
			return trace.Decode(&b)
		}},
	} {
		back, err := forms.copy()
		if err != nil {
			t.Fatalf("%s: %v", forms.name, err)
		}
		if got, want := work(back), work(tr); !slices.Equal(got, want) {
			t.Errorf("%s: of %d pieces of work %d come back; the first are\n%v\nand were\n%v", forms.name, len(want), len(got), got[:min(3, len(got))], want[:3])
		}
	}
	var unknown int64
	for _, q := range tr.Problems {
		if q.Kind == "cuda-unknown" {
			unknown = q.Count
		} else {
			t.Errorf("problem %s: %s", q.Kind, q.Text)
		}
	}
	if unknown == 0 {
		t.Error("records that nobody asked for are not reported")
	}
}

// work lists device work with everything that is known of it, in an order that does not depend on tracks.
func work(tr *trace.Trace) (list []string) {
	for i := range tr.Slices {
		s := &tr.Slices[i]
		text := fmt.Sprint(tr.Name(s), s.Start, s.Dur, s.Corr, s.Ext)
		switch tr.Class(s) {
		case trace.ClassKernel:
			a := tr.Kernels[s.Args]
			a.Extra = 0
			list = append(list, fmt.Sprint(text, a))
		case trace.ClassMemcpy, trace.ClassMemset:
			a := tr.Copies[s.Args]
			a.Extra = 0
			list = append(list, fmt.Sprint(text, a))
		}
	}
	slices.Sort(list)
	return list
}

// check compares all device work and calls of a trace with the truth, by correlation id.
func check(t *testing.T, tr *trace.Trace, truth []done) {
	t.Helper()
	spans := map[int64]*trace.Slice{}
	byCorr := map[int64][]*trace.Slice{}
	for i := range tr.Slices {
		s := &tr.Slices[i]
		switch tr.Class(s) {
		case trace.ClassAnnotation:
			spans[s.Ext] = s
		case trace.ClassKernel, trace.ClassMemcpy, trace.ClassMemset, trace.ClassDriver, trace.ClassSync:
			byCorr[s.Corr] = append(byCorr[s.Corr], s)
		}
	}
	names := map[string]string{"saxpy": "saxpy", "_Z5scaleIfEvPT_iS0_": "void scale<float>(float*, int, float)"}
	classes := map[string]trace.Class{"call": trace.ClassDriver, "kernel": trace.ClassKernel, "copy": trace.ClassMemcpy, "set": trace.ClassMemset, "sync": trace.ClassSync}
	seen, tied, count := 0, 0, map[string]int{}
	for _, d := range truth {
		class, ok := classes[d.what]
		if !ok || d.span == 0 {
			continue // memory has its own test; the capture itself synchronises, outside of all spans
		}
		count[d.what]++
		var s *trace.Slice
		for _, k := range byCorr[int64(d.corr)] {
			if tr.Class(k) == class {
				s = k
			}
		}
		if s == nil {
			t.Errorf("%+v is not in the trace", d)
			continue
		}
		seen++
		if class != trace.ClassDriver && s.Dur != d.end-d.start {
			t.Errorf("%+v takes %d ns in the trace", d, s.Dur)
		}
		if class == trace.ClassKernel && tr.Name(s) != names[d.name] {
			t.Errorf("kernel %q is called %q", d.name, tr.Name(s))
		}
		if class == trace.ClassMemcpy || class == trace.ClassMemset {
			if a := tr.Copies[s.Args]; a.Bytes != int64(d.bytes) || a.Stream != int64(d.stream) {
				t.Errorf("%+v has %d bytes on stream %d in the trace", d, a.Bytes, a.Stream)
			}
		}
		span := spans[s.Ext]
		if span == nil || uint64(s.Ext) != d.span&(1<<44-1) {
			t.Errorf("%+v belongs to span %d in the trace", d, s.Ext)
			continue
		}
		tied++
		if class == trace.ClassDriver && (s.Track != span.Track || s.Start < span.Start || s.End() > span.End()) {
			t.Errorf("call %s [%d, %d] on track %d is not within its span %s [%d, %d] on track %d", tr.Name(s), s.Start, s.End(), s.Track, tr.Name(span), span.Start, span.End(), span.Track)
		}
	}
	flows := 0
	for _, f := range tr.Flows {
		if f.Kind == trace.FlowLaunch && f.From != trace.NoSlice && f.To != trace.NoSlice {
			flows++
		}
	}
	checkRanges(t, tr)
	work := count["kernel"] + count["copy"] + count["set"]
	t.Logf("%v: %d of them in the trace, %d tied to their span; %d arrows", count, seen, tied, flows)
	if flows != work {
		t.Errorf("%d arrows for %d pieces of work", flows, work)
	}
	if work == 0 {
		t.Error("the stand-in did nothing")
	}
	extra := 0
	for i := range tr.Slices {
		if tr.Class(&tr.Slices[i]).DeviceWork() {
			extra++
		}
	}
	if extra != work {
		t.Errorf("%d pieces of device work in the trace, and %d were done", extra, work)
	}
}

// checkRanges has every piece of work lie in a range of the span that launched it, on its own stream.
func checkRanges(t *testing.T, tr *trace.Trace) {
	t.Helper()
	type key struct {
		ext   int64
		track trace.TrackID
	}
	ranges := map[key]*trace.Slice{}
	for i := range tr.Slices {
		if s := &tr.Slices[i]; tr.Class(s) == trace.ClassDeviceAnnotation {
			ranges[key{s.Ext, s.Track}] = s
		}
	}
	for i := range tr.Slices {
		s := &tr.Slices[i]
		if !tr.Class(s).DeviceWork() {
			continue
		}
		if r := ranges[key{s.Ext, s.Track}]; r == nil || r.Start >= s.Start || r.End() <= s.End() {
			t.Errorf("%s at %d lies in no range of its span: %+v", tr.Name(s), s.Start, r)
		}
	}
}

func runChild(t *testing.T, env ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "GANDER_CUDA_CHILD=1"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the process ended: %v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestMissing profiles where something is missing: everything else is recorded, and one problem says why.
func TestMissing(t *testing.T) {
	for _, c := range []struct {
		name string
		env  []string
		want string
	}{
		{"no driver", []string{"GANDER_LIBCUDA=/nowhere/libcuda.so.1"}, "there is no CUDA driver: opening library: /nowhere/libcuda.so.1"},
		{"no device", []string{"STANDIN_DEVICES=0"}, "there is no CUDA device"},
		{"no library", []string{"GANDER_LIBCUPTI=/nowhere/libcupti.so.12"}, "no CUPTI library was found: opening library: /nowhere/libcupti.so.12"},
		{"other profiler", []string{"STANDIN_CUPTI_SUBSCRIBE=39"}, "another profiler is attached to this process (CUPTI error 39): End the other one: Nsight"},
		{"too new", []string{"STANDIN_CUPTI_SUBSCRIBE=15"}, "it finds no usable driver or GPU (CUPTI error 15): Check nvidia-smi"},
		{"no privileges", []string{"STANDIN_CUPTI_SUBSCRIBE=35"}, "the user may not profile (CUPTI error 35): Load the driver with"},
		{"too old", []string{"STANDIN_CUPTI_SIZES=10:160"}, "install a CUPTI of CUDA 11.8 or later"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := runChild(t, c.env...)
			if !strings.Contains(out, "slices: 1\n") || strings.Count(out, "source-CUDA") != 1 || !strings.Contains(out, c.want) {
				t.Errorf("got\n%s\nwithout %q", out, c.want)
			}
		})
	}
	for _, c := range []struct{ name, env, want string }{
		{"refused", "STANDIN_CUPTI_REFUSE=50:14,17:27", "cuda-refused: CUDA does not record everything here: memory pools (it does not go together with what is enabled already), overhead (the device does not support it)."},
		{"dropped", "STANDIN_CUPTI_DROPPED=12", "cuda-dropped: CUDA dropped 12 records"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out := runChild(t, c.env); !strings.Contains(out, c.want) || !strings.Contains(out, "slices: 1\n") {
				t.Errorf("got\n%s\nwithout %q", out, c.want)
			}
		})
	}
	if out := runChild(t); out != "slices: 1" {
		t.Errorf("with everything in place: %s", out)
	}
}

// TestAbsentByDefault has a profile that asks for nothing leave CUDA alone where there is none.
func TestAbsentByDefault(t *testing.T) {
	for _, d := range []string{"/dev/nvidiactl", "/dev/dxg"} {
		if _, err := os.Stat(d); err == nil {
			t.Skip("this machine has a GPU")
		}
	}
	t.Setenv("GANDER_LIBCUDA", "")
	p, err := profiler.Start(profiler.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.Stop()
	if p.Options().Activities&profiler.CUDA != 0 {
		t.Error("CUDA is profiled where there is none")
	}
	for _, q := range p.Trace().Problems {
		t.Errorf("problem %s: %s", q.Kind, q.Text)
	}
}
