// Package profiler profiles Go programs the way torch.profiler profiles PyTorch ones: named spans, a schedule of steps,
// key averages, memory, CPU samples and, where a CUDA source is linked, device work, all on one clock.
//
//	p, err := profiler.Start(profiler.Options{RecordShapes: true})
//	…
//	span := profiler.Begin("load batch")
//	…
//	span.End()
//	…
//	p.Stop()
//	fmt.Println(p.KeyAverages().Table(profiler.SortBy("self_cpu_time_total"), profiler.RowLimit(10)))
//	err = p.ExportChromeTrace("trace.json.gz")
//
// Begin and End cost a few tens of nanoseconds together while a profile records and about two when none does, and never
// allocate, so that spans may stay in the code. At most one profile is under way in a process.
//
// The package links only the standard library and a function that reads the goroutine id. Recording is profiler/record's,
// the Go runtime's part profiler/goruntime's, figures are profiler/analyze's; this package ties them together and keeps
// the schedule. Web pages and images are made by profiler/report.
//
// Its one invariant: whatever the profiled program does, and whichever source fails, Stop leaves a trace that passes
// Validate and says what it lacks.
package profiler
