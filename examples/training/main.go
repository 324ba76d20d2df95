// Command training profiles a loop of steps as torch.profiler's guide does: a schedule that waits, warms up and records,
// a handler that prints a table and writes a trace, operators with shapes and FLOPs, and memory.
//
//	go run ./examples/training
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/gander-go/gander/profiler"
	_ "github.com/gander-go/gander/profiler/hooks/gonum" // records BLAS calls as operators
)

func main() {
	log.SetFlags(0)
	out := flag.String("trace", "trace.json.gz", "where to write the trace")
	flag.Parse()
	if err := run(*out); err != nil {
		log.Fatal(err)
	}
}

// run trains for ten steps, of which the schedule records two, and then two more.
func run(out string) error {
	var failed error
	p, err := profiler.Start(profiler.Options{
		RecordShapes: true, ProfileMemory: true, WithFLOPs: true,
		Schedule: profiler.Schedule{Wait: 1, Warmup: 1, Active: 2, Repeat: 2},
		OnTraceReady: func(p *profiler.Profile) {
			fmt.Printf("cycle %d, before step %d\n", p.Cycles(), p.StepNum())
			fmt.Print(p.KeyAverages().Table(profiler.SortBy("self_cpu_time_total"), profiler.RowLimit(8)))
			failed = p.ExportChromeTrace(out)
		},
	})
	if err != nil {
		return err
	}
	defer p.Stop()
	const features, classes, batch = 64, 10, 32
	weights := random(features, classes)
	for range 10 {
		x := load(batch, features)
		var y, gradient mat.Dense
		profiler.Record("forward", func() { y.Mul(x, weights) })
		profiler.Record("backward", func() { gradient.Mul(x.T(), &y) })
		profiler.Record("update", func() {
			gradient.Scale(-0.01/batch, &gradient)
			weights.Add(weights, &gradient)
		})
		profiler.FreeSlice(x.RawMatrix().Data)
		profiler.Step()
	}
	p.Stop()
	if failed != nil {
		return failed
	}
	fmt.Printf("open %s in https://ui.perfetto.dev or with gander report\n", out)
	return nil
}

// load stands for reading a batch.
func load(rows, cols int) *mat.Dense {
	defer profiler.Begin("load batch").End()
	m := random(rows, cols)
	profiler.AllocSlice("batch", m.RawMatrix().Data)
	return m
}

func random(rows, cols int) *mat.Dense {
	data := make([]float64, rows*cols)
	for i := range data {
		data[i] = rand.NormFloat64()
	}
	return mat.NewDense(rows, cols, data)
}
