package magics

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/analyze"
	"github.com/gander-go/gander/render"
)

// profileOptions are the flags of %%profile.
type profileOptions struct {
	activities  string
	sort        string
	limit       int
	groupBy     string
	shapes      bool
	memory      bool
	stack       bool
	flops       bool
	sample      int
	sched       bool
	osCounts    bool
	schedule    string
	views       string
	text        bool
	topLevel    bool
	timeUnit    string
	columns     string
	trace       string
	report      string
	stacks      string
	pprof       string
	tensorboard string
	compare     string
	output      string
	quiet       bool
	showLast    bool

	parsedSchedule profiler.Schedule
	parsedViews    []render.View
	keys           analyze.KeyOptions
}

func (o *profileOptions) flags(name string) *pflag.FlagSet {
	fs := newFlags(name)
	fs.StringVar(&o.activities, "activities", "", "what to record: cpu, cuda, mem, go; everything the machine has by default")
	fs.StringVarP(&o.sort, "sort", "s", "", "column to sort the table by, such as self_cpu_time_total or cuda_time_total")
	fs.IntVarP(&o.limit, "limit", "l", 20, "rows of the table, -1 for all")
	fs.IntVar(&o.limit, "row-limit", 20, "the same, as torch calls it")
	fs.StringVar(&o.groupBy, "group-by", "", "shape, stack=N, goroutine or step: a row for each")
	fs.BoolVar(&o.shapes, "record-shapes", false, "record the shapes of operators' arguments")
	fs.BoolVar(&o.memory, "profile-memory", false, "record each allocation that the program reports")
	fs.BoolVar(&o.stack, "with-stack", false, "record the call stack of every span")
	fs.BoolVar(&o.flops, "with-flops", false, "count floating point operations of operators")
	fs.IntVar(&o.sample, "sample", 0, "stacks sampled per second of CPU time")
	fs.BoolVar(&o.sched, "sched", false, "record what every goroutine waits for (slows allocation and channels down)")
	fs.BoolVar(&o.osCounts, "os-counts", false, "CPU time, page faults, storage and context switches of every span of 20us and more")
	fs.StringVar(&o.schedule, "schedule", "", "wait=1,warmup=1,active=2,repeat=1,skip_first=0,skip_first_wait=0; the cell calls profiler.Step()")
	fs.StringVar(&o.views, "views", "", "tabs to show: "+join(render.Views()))
	fs.BoolVar(&o.text, "text", false, "text only, no charts")
	fs.BoolVar(&o.topLevel, "top-level", false, "record only what the cell itself calls, not what functions of cells call in turn")
	fs.StringVar(&o.timeUnit, "time-unit", "", "us, ms or s for all times")
	fs.StringVar(&o.columns, "columns", "", "torch for torch.profiler's own table")
	fs.StringVar(&o.trace, "trace", "", "write a Chrome trace to FILE.json or FILE.json.gz")
	fs.StringVar(&o.report, "report", "", "write a self-contained page to FILE.html")
	fs.StringVar(&o.stacks, "stacks", "", "write stacks to FILE, for flame graph tools")
	fs.StringVar(&o.pprof, "pprof", "", "write the samples to FILE, for go tool pprof")
	fs.StringVar(&o.tensorboard, "tensorboard", "", "write the trace into DIR under the name TensorBoard looks for")
	fs.StringVar(&o.compare, "compare", "", "compare with an earlier profile: a NAME given with -o, or a trace FILE")
	fs.StringVarP(&o.output, "output", "o", "", "keep the profile under NAME and bind its key averages to that variable")
	fs.BoolVarP(&o.quiet, "quiet", "q", false, "show nothing; with --trace, --report or -o")
	fs.BoolVar(&o.showLast, "last", false, "show the last profile again, with other flags")
	return fs
}

func join[T ~string](list []T) string {
	s := make([]string, len(list))
	for i, v := range list {
		s[i] = string(v)
	}
	return strings.Join(s, ",")
}

// parse reads flags and checks their values. It returns the words that are no flags.
func (o *profileOptions) parse(name, args string) (rest []string, err error) {
	fs := o.flags(name)
	if err := parseFlags(fs, args); err != nil {
		return nil, err
	}
	wrap := func(flag string, err error) error {
		text := err.Error()
		for _, doing := range []string{"parsing activities: ", "choosing views: ", "sorting key averages: "} {
			text = strings.TrimPrefix(text, doing)
		}
		return usagef("%%%s --%s: %s", name, flag, text)
	}
	for word := range strings.SplitSeq(o.activities, ",") {
		if _, err := profiler.ParseActivities(word); err != nil {
			return nil, wrap("activities", oneOf(word, []string{"cpu", "cuda", "mem", "go"}))
		}
	}
	if o.parsedSchedule, err = parseSchedule(o.schedule); err != nil {
		return nil, wrap("schedule", err)
	}
	if o.views != "" {
		if o.parsedViews, err = render.ParseViews(strings.Split(o.views, ",")); err != nil {
			for v := range strings.SplitSeq(o.views, ",") {
				if e := oneOf(v, strings.Split(join(render.Views()), ",")); e != nil {
					err = e
				}
			}
			return nil, wrap("views", err)
		}
	}
	if o.keys, err = parseGroupBy(o.groupBy); err != nil {
		return nil, wrap("group-by", err)
	}
	if o.sort != "" {
		if err := (&analyze.Averages{}).Sort(o.sort); err != nil {
			return nil, wrap("sort", err)
		}
	}
	for _, f := range []struct {
		name, value string
		known       []string
	}{{"time-unit", o.timeUnit, []string{"us", "ms", "s"}}, {"columns", o.columns, []string{"torch", "default"}}} {
		if err := oneOf(f.value, f.known); err != nil {
			return nil, wrap(f.name, err)
		}
	}
	if o.sample < 0 {
		return nil, wrap("sample", fmt.Errorf("%d is negative", o.sample))
	}
	if o.output != "" && !isName(o.output) {
		return nil, wrap("output", fmt.Errorf("%q is no Go variable name", o.output))
	}
	if o.keys.ByShape {
		o.shapes = true
	}
	if o.keys.ByStack > 0 || o.stacks != "" {
		o.stack = true
	}
	if o.flops {
		o.shapes = true
	}
	if o.pprof != "" && o.sample == 0 {
		o.sample = 100
	}
	return fs.Args(), nil
}

// oneOf is the error for a value that is none of known, and nil for one that is and for the empty one.
func oneOf(value string, known []string) error {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	all := strings.Join(known[:len(known)-1], ", ") + " or " + known[len(known)-1]
	if near := nearest(value, known); near != "" {
		return fmt.Errorf("%q is not %s; did you mean %s?", value, all, near)
	}
	return fmt.Errorf("%q is not %s", value, all)
}

// parseSchedule reads "wait=1,warmup=1,…" with torch's names.
func parseSchedule(text string) (s profiler.Schedule, err error) {
	if text == "" {
		return s, nil
	}
	fields := map[string]*int{"wait": &s.Wait, "warmup": &s.Warmup, "active": &s.Active, "repeat": &s.Repeat, "skip_first": &s.SkipFirst, "skip_first_wait": &s.SkipFirstWait}
	for _, part := range strings.Split(text, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		key = strings.ReplaceAll(key, "-", "_")
		field := fields[key]
		if !ok || field == nil {
			known := make([]string, 0, len(fields))
			for k := range fields {
				known = append(known, k)
			}
			if near := nearest(key, known); near != "" && field == nil {
				return s, fmt.Errorf("there is no %q; did you mean %s=N?", key, near)
			}
			return s, fmt.Errorf("%q is not like wait=1,warmup=1,active=2,repeat=1", part)
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return s, fmt.Errorf("%s=%s is no number of steps", key, value)
		}
		*field = n
	}
	if s.Active < 1 {
		return s, fmt.Errorf("active must be at least 1")
	}
	return s, nil
}

// parseGroupBy reads a comma-separated list of shape, stack=N, goroutine and step.
func parseGroupBy(text string) (k analyze.KeyOptions, err error) {
	if text == "" {
		return k, nil
	}
	for _, part := range strings.Split(text, ",") {
		name, value, hasValue := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "shape", "shapes", "input_shape":
			k.ByShape = true
		case "stack", "stack_n":
			k.ByStack = 5
			if hasValue {
				if k.ByStack, err = strconv.Atoi(value); err != nil || k.ByStack < 1 {
					return k, fmt.Errorf("stack=%s is no number of frames", value)
				}
			}
		case "goroutine", "thread", "track":
			k.ByTrack = true
		case "step":
			k.ByStep = true
		default:
			if near := nearest(name, []string{"shape", "stack", "goroutine", "step"}); near != "" {
				return k, fmt.Errorf("there is no %q; did you mean %s?", name, near)
			}
			return k, fmt.Errorf("there is no %q; there are shape, stack=N, goroutine and step", name)
		}
	}
	return k, nil
}

// recording is what the session process is told.
func (o *profileOptions) recording() json.RawMessage {
	act, _ := profiler.ParseActivities(o.activities)
	b, err := json.Marshal(profiler.Options{
		Activities: act, RecordShapes: o.shapes, ProfileMemory: o.memory, WithStack: o.stack, WithFLOPs: o.flops,
		SampleHz: o.sample, Sched: o.sched, OSCounts: o.osCounts, Schedule: o.parsedSchedule, WholeCycles: true,
		Metadata: map[string]string{"gander_flags": strconv.Quote(o.summary()), "gomaxprocs": strconv.Itoa(runtime.GOMAXPROCS(0))},
	})
	if err != nil {
		panic(err) // plain data always marshals
	}
	return b
}

// summary is the flags that differ from what they are without being given.
func (o *profileOptions) summary() string {
	var parts []string
	add := func(flag string, on bool, value string) {
		if on {
			parts = append(parts, strings.TrimSpace("--"+flag+" "+value))
		}
	}
	add("activities", o.activities != "", o.activities)
	add("schedule", o.schedule != "", o.schedule)
	add("sample", o.sample > 0, strconv.Itoa(o.sample))
	add("record-shapes", o.shapes, "")
	add("profile-memory", o.memory, "")
	add("with-stack", o.stack, "")
	add("with-flops", o.flops, "")
	add("sched", o.sched, "")
	add("os-counts", o.osCounts, "")
	return strings.Join(parts, " ")
}

// notebookViews are the tabs below a cell: what was asked for first. Those without data are left out by the renderer.
var notebookViews = []render.View{
	render.ViewTable, render.ViewTimeline, render.ViewFlame, render.ViewMemory, render.ViewOverview, render.ViewKernels,
	render.ViewSteps, render.ViewModules, render.ViewProblems,
}

// rendering is what the renderer is told.
func (o *profileOptions) rendering(library *render.Library, note string) render.Options {
	views := o.parsedViews
	if views == nil {
		views = notebookViews
	}
	columns := analyze.Exact
	if o.columns == "torch" {
		columns = analyze.Torch
	}
	return render.Options{
		Columns: columns, Note: note, Views: views, Sort: o.sort, Limit: o.limit, GroupByShape: o.keys.ByShape, GroupByStack: o.keys.ByStack,
		GroupByTrack: o.keys.ByTrack, GroupByStep: o.keys.ByStep,
		TopLevel: o.topLevel, TimeUnit: o.timeUnit, Library: library,
	}
}

func isName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) || i == 0 && s[i] >= '0' && s[i] <= '9' {
			return false
		}
	}
	return s != ""
}
