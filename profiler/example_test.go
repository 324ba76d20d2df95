package profiler_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/gander-go/gander/profiler"
)

func work() { time.Sleep(100 * time.Microsecond) }

func Example() {
	p, err := profiler.Start(profiler.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		span := profiler.Begin("load batch")
		work()
		span.End()
		profiler.Record("forward", work)
	}
	p.Stop()
	for _, row := range p.KeyAverages().Rows {
		fmt.Println(row.Key, row.Count)
	}
	// Output:
	// load batch 3
	// forward 3
}

func ExampleStart_schedule() {
	p, err := profiler.Start(profiler.Options{
		Schedule: profiler.Schedule{Wait: 1, Warmup: 1, Active: 2, Repeat: 2},
		OnTraceReady: func(p *profiler.Profile) {
			fmt.Printf("cycle %d is ready before step %d\n", p.Cycles(), p.StepNum())
			for _, row := range p.KeyAverages().Rows {
				fmt.Println("  ", row.Key, row.Count)
			}
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for range 10 {
		profiler.Record("train", work)
		p.Step()
	}
	p.Stop()
	// Output:
	// cycle 1 is ready before step 4
	//    ProfilerStep* 2
	//    train 2
	// cycle 2 is ready before step 8
	//    ProfilerStep* 2
	//    train 2
}

func ExampleSchedule_Action() {
	s := profiler.Schedule{SkipFirst: 1, Wait: 1, Warmup: 1, Active: 2, Repeat: 1}
	for step := range 7 {
		fmt.Println(step, s.Action(step))
	}
	// Output:
	// 0 NONE
	// 1 NONE
	// 2 WARMUP
	// 3 RECORD
	// 4 RECORD_AND_SAVE
	// 5 NONE
	// 6 NONE
}

func ExampleBeginOp() {
	p, err := profiler.Start(profiler.Options{RecordShapes: true, WithFLOPs: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range []int{64, 64, 128} {
		span := profiler.BeginOp("matmul", &profiler.Op{
			Shapes: [][]int{{n, n}, {n, n}}, FLOPs: int64(2 * n * n * n), Bytes: int64(3 * 8 * n * n),
		})
		work()
		span.End()
	}
	p.Stop()
	for _, row := range p.KeyAverages(profiler.GroupByShape()).Rows {
		fmt.Println(row.Key, row.Shapes, row.Count, row.FLOPs)
	}
	// Output:
	// matmul [[64, 64], [64, 64]] 2 1048576
	// matmul [[128, 128], [128, 128]] 1 4194304
}

func ExampleAllocSlice() {
	p, err := profiler.Start(profiler.Options{ProfileMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	buffer := profiler.AllocSlice("buffer", make([]float64, 1000))
	profiler.FreeSlice(buffer)
	p.Stop()
	for _, e := range p.Trace().Memory {
		fmt.Println(e.Bytes)
	}
	// Output:
	// 8000
	// -8000
}

func ExampleProfile_ExportChromeTrace() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	p, err := profiler.Start(profiler.Options{})
	if err != nil {
		log.Fatal(err)
	}
	profiler.Record("work", work)
	p.Stop()
	for _, name := range []string{"trace.json", "trace.json.gz"} {
		fmt.Println(name, p.ExportChromeTrace(filepath.Join(dir, name)))
	}
	// Output:
	// trace.json <nil>
	// trace.json.gz <nil>
}
