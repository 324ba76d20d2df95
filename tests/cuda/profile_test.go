package cuda

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The cells of TestProfileCell: three rounds of an upload with a computation in it, whose every kernel, copy and byte is known.
// The program is PTX only by name, which is what the stand-in wants.
const profileSetup = `import "github.com/gander-go/gander/cuda/driver"
gpu, err := driver.Open(0)
prog := driver.NewProgram(".version 8.0\n.entry saxpy(\n.entry _Z5scalePfif(\n.entry spin(\n")
func launch(name string, l driver.Launch, args ...any) {
	if err := prog.Launch(name, l, args...); err != nil { panic(err) }
}
func must[T any](v T, err error) T { if err != nil { panic(err) }; return v }
const n = 1 << 18`

const profileWork = `
s := must(gpu.NewStream())
defer s.Close()
for range 3 {
	profiler.Record("upload", func() {
		x := must(driver.Upload(gpu, make([]float32, n)))
		defer x.Free()
		pin := must(driver.AllocPinned[float32](gpu, n))
		defer pin.Free()
		y := must(driver.AllocOn[float32](s, n))
		if err := y.CopyFromPinned(pin, s); err != nil { panic(err) }
		profiler.Record("compute", func() {
			for range 4 { launch("saxpy", driver.Over(n, 256).On(s), int32(n), float32(2), x, y) }
			launch("_Z5scalePfif", driver.Over(n, 128).On(s).WithShared(512), y, int32(n), float32(3))
		})
		launch("spin", driver.Launch{Stream: s}, int64(1_000_000))
		if err := y.CopyToPinned(pin, s); err != nil { panic(err) }
		s.Synchronize()
		y.FreeOn(s)
	})
}`

// The cell that looks at the profile from inside: each piece of work has an arrow from the call that launched it, and is tied
// to the innermost span or call that was open.
const profileLook = `t := prof.Trace()
fmt.Println("valid:", t.Validate())
spans := map[int64]string{}
for i := range t.Slices {
	if v := &t.Slices[i]; v.Ext != 0 && v.Corr == 0 && !t.Class(v).OnDevice() { spans[v.Ext] = t.Name(v) }
}
work, tied := 0, map[string]int{}
for i := range t.Slices {
	if v := &t.Slices[i]; t.Class(v).DeviceWork() { work++; tied[spans[v.Ext]]++ }
}
arrows := 0
for _, f := range t.Flows {
	if f.From >= 0 && f.To >= 0 && t.Class(&t.Slices[f.To]).DeviceWork() && t.Slices[f.From].Corr == t.Slices[f.To].Corr { arrows++ }
}
fmt.Println("work:", work, "arrows:", arrows, "without a span:", tied[""])
fmt.Println("calls:", tied["launch"]+tied["driver.(*Program).Launch"], tied["driver.Upload"], tied["driver.(*Buffer).CopyFromPinned"], tied["driver.(*Buffer).CopyToPinned"])`

// reported is what gander report --json says of the parts that the test looks at.
type reported struct {
	Trace struct {
		Events map[string]int
	}
	Averages []struct {
		Key, Device string
		Count       int64
		Total       int64 `json:"device_time_total"`
		Memory      int64 `json:"device_memory_usage"`
	} `json:"key_averages"`
	Kernels struct {
		ByName []struct {
			Name      string
			Calls     int64
			Total     int64
			Blocks    float64 `json:"blocks_per_sm"`
			Occupancy float64
		} `json:"by_name"`
	}
	Memory struct {
		Spaces []struct {
			Name      string
			Peak      int64
			Reserved  int64   `json:"peak_reserved"`
			Allocated []int64 `json:"allocated"`
		}
	}
}

// TestProfileCell profiles a cell against the stand-ins and compares what the table, the page, the trace and the report on the trace say
// with what the stand-in for CUPTI logged.
func TestProfileCell(t *testing.T) {
	dir := t.TempDir()
	log, chrome, page := filepath.Join(dir, "log"), filepath.Join(dir, "trace.json"), filepath.Join(dir, "page.html")
	file := write(t, profileSetup,
		"%%profile --activities cpu,cuda --sort cuda_time_total --views table,kernels,timeline,memory -o prof --limit -1 --trace "+chrome+" --report "+page+profileWork, profileLook)
	cells, err := run(t, file, append(standIns(t), "STANDIN_CUPTI_LOG="+log, "STANDIN_CUPTI_DROPPED=3"))
	if err != nil {
		t.Fatal(err)
	}
	has(t, cells, "", "CUDA dropped 3 records", "valid: <nil>\nwork: 27 arrows: 27 without a span: 0\ncalls: 18 3 3 3\n")

	truth := map[string]int64{} // ns by kernel, as the log has it
	f, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var what, name string
		var start, end int64
		if _, err := fmt.Sscan(s.Text(), &what, &name, &start, &end); err == nil && what == "kernel" {
			truth[strings.Replace(name, "_Z5scalePfif", "scale(float*, int, float)", 1)] += end - start
		}
	}
	r := report(t, chrome)
	want := map[string]int64{"saxpy": 12, "scale(float*, int, float)": 3, "spin": 3}
	for _, k := range r.Kernels.ByName {
		if k.Calls != want[k.Name] || k.Total != truth[k.Name] || k.Total == 0 {
			t.Errorf("kernel %q ran %d times in %d ns; %d times in %d are right", k.Name, k.Calls, k.Total, want[k.Name], truth[k.Name])
		}
		// 2¹⁸ threads in blocks of 256 on 4 multiprocessors, of which 6 blocks fit at once: 1536 of 2048 threads.
		if k.Name == "saxpy" && (k.Blocks != 256 || k.Occupancy != 75) {
			t.Errorf("saxpy has %v blocks per SM and occupancy %v", k.Blocks, k.Occupancy)
		}
		delete(want, k.Name)
	}
	if len(want) != 0 {
		t.Errorf("kernels %v are missing", want)
	}
	var all, sum int64
	for name := range truth {
		all += truth[name]
	}
	for _, a := range r.Averages {
		switch {
		case a.Device == "CPU" && a.Key == "launch":
			if a.Total != all || a.Count != 18 {
				t.Errorf("calls of launch have %d ns of CUDA in %d calls; the kernels took %d", a.Total, a.Count, all)
			}
		case a.Device == "CPU" && a.Key == "driver.Upload":
			if a.Memory != 3<<20 {
				t.Errorf("driver.Upload has %d bytes", a.Memory)
			}
		case a.Device == "CPU" && a.Key == "upload":
			sum = a.Total
		}
	}
	if sum <= all {
		t.Errorf("the outer span has %d ns of CUDA, and its kernels alone took %d", sum, all)
	}
	if n := r.Trace.Events; n["kernel"] != 18 || n["gpu_memcpy"] != 9 || n["gpu_user_annotation"] != 9 { // three on the default stream, six on the other
		t.Errorf("events %v", n)
	}
	if m := r.Memory.Spaces; len(m) == 0 || m[0].Name != "GPU0" || m[0].Peak != 2<<20 || m[0].Reserved != 3<<20 || m[0].Allocated[len(m[0].Allocated)-1] != 0 {
		t.Errorf("memory %+v", m)
	}
	checkText(t, cells[1], all)
	checkPage(t, page)
}

func report(t *testing.T, file string) (r reported) {
	t.Helper()
	out, err := exec.Command(gander, "report", file, "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// checkText looks for the device's columns and rows, in the order that was asked for.
func checkText(t *testing.T, text string, kernels int64) {
	t.Helper()
	for _, w := range []string{
		`(?m)^Name .*CUDA total +Self CUDA +.*CUDA mem +Self CUDA mem +Calls$`, `(?ms)^upload .*^launch .*^driver\.\(\*Context\)\.NewStream`,
		`(?m)^saxpy .* 12$`, `(?m)^scale\(float\*, int, float\) .* 3$`, `(?m)^Memcpy HtoD \(Pageable -> Device\) .* 3$`, `(?m)^Memcpy HtoD \(Pinned -> Device\) .* 3$`,
		`(?m)^Memcpy DtoH \(Device -> Pinned\) .* 3$`, `(?m)^Self CUDA time total: `, `(?m)^GPU0 reserved .*peak 3\.00 MiB`, `(?m)^pinned host allocated .*peak 1\.00 MiB`,
	} {
		if !regexp.MustCompile(w).MatchString(text) {
			t.Errorf("the profile has nothing like %s:\n%s", w, text)
		}
	}
}

// checkPage looks at the part of the page that is there without script.
func checkPage(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, w := range []string{
		"CUDA dropped 3 records", "Profile fewer steps at once", // in words, with what to do
		"Memcpy HtoD (Pinned -&gt; Device)", "GB/s", "scale(float*, int, float)", "GPU0",
	} {
		if !strings.Contains(page, w) {
			t.Errorf("the page has no %q", w)
		}
	}
}

// TestProfileIsRefused has a profile say in words why it has no device work, beside everything else.
func TestProfileIsRefused(t *testing.T) {
	file := write(t, "%%profile --activities cpu,cuda\nprofiler.Record(\"work\", func() { fmt.Println(\"done\") })")
	for _, c := range []struct{ name, env, want string }{
		{"another profiler", "STANDIN_CUPTI_SUBSCRIBE=39", "another profiler is attached to this process"},
		{"not allowed", "STANDIN_CUPTI_SUBSCRIBE=35", "NVreg_RestrictProfilingToAdminUsers"},
		{"kinds", "STANDIN_CUPTI_REFUSE=50:14,17:27", "CUDA does not record everything here: memory pools"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cells, err := run(t, file, append(standIns(t), c.env))
			if err != nil {
				t.Fatal(err)
			}
			has(t, cells, c.want)
			if !strings.Contains(cells[0], "work") {
				t.Errorf("the rest of the profile is missing:\n%s", cells[0])
			}
		})
	}
}
