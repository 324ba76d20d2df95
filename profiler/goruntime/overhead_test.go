package goruntime

import (
	"testing"
)

// source is what the sources of this package have in common.
type source interface {
	Start() error
	Stop() error
}

var kept []byte

// work are the kinds of work that sources slow down most.
var work = []struct {
	name string
	do   func(n int)
}{
	{"compute", func(n int) {
		x := uint64(n)
		for range n {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
		kept = append(kept[:0], byte(x))
	}},
	{"allocate 512 B", func(n int) {
		for range n {
			kept = make([]byte, 512)
		}
	}},
	{"channel", func(n int) {
		there, back := make(chan int), make(chan int)
		go func() {
			for v := range there {
				back <- v
			}
			close(back)
		}()
		for i := range n {
			there <- i
			<-back
		}
		close(there)
		<-back
	}},
}

// BenchmarkOverhead runs each kind of work without and with each source: the differences of the lines are what a source
// costs. They are stated in ARCHITECTURE.md.
func BenchmarkOverhead(b *testing.B) {
	for _, w := range work {
		for _, s := range []struct {
			name string
			make func() source
		}{
			{"nothing", func() source { return nil }},
			{"curves", func() source { return &Metrics{Memory: true, Runtime: true} }},
			{"CPU samples", func() source { return &CPU{Hz: 100} }},
			{"heap by stack", func() source { return new(Heap) }},
			{"execution trace", func() source { return new(ExecTrace) }},
		} {
			b.Run(w.name+"/"+s.name, func(b *testing.B) {
				if x := s.make(); x != nil {
					if err := x.Start(); err != nil {
						b.Fatal(err)
					}
					defer x.Stop()
				}
				before, _ := ReadResources()
				b.ResetTimer()
				w.do(b.N)
				b.StopTimer()
				after, known := ReadResources()
				if used := after.Sub(before); known { // a busy machine changes this the least
					b.ReportMetric(float64(used.UserTime+used.SystemTime)/float64(b.N), "cpu-ns/op")
				}
			})
		}
	}
}

// BenchmarkStartStop is what switching each source on and off takes.
func BenchmarkStartStop(b *testing.B) {
	for _, s := range []struct {
		name string
		x    source
	}{
		{"curves", &Metrics{Memory: true, Runtime: true}}, {"CPU samples", &CPU{Hz: 100}}, {"heap by stack", new(Heap)}, {"execution trace", new(ExecTrace)},
	} {
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				if err := s.x.Start(); err != nil {
					b.Fatal(err)
				}
				if err := s.x.Stop(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
