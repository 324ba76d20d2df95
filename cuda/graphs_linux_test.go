//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gander-go/gander/cuda/driver"
	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/trace"
)

// profiled runs f under the profiler.
func profiled(t *testing.T, f func() error) *trace.Trace {
	t.Helper()
	p, err := profiler.Start(profiler.Options{Activities: profiler.CPU | profiler.CUDA})
	if err != nil {
		t.Fatal(err)
	}
	err = f()
	p.Stop()
	tr := p.Trace()
	if err := errors.Join(err, tr.Validate()); err != nil {
		t.Fatal(err)
	}
	for _, q := range tr.Problems {
		t.Errorf("problem %s: %s", q.Kind, q.Text)
	}
	return tr
}

// TestGraphs launches a captured graph in two spans: capturing is no device work, and each launch's work belongs to its
// span, with an arrow from the launching call and a range around it.
func TestGraphs(t *testing.T) {
	c := open(t)
	m, err := c.Load([]byte(image))
	if err != nil {
		t.Fatal(err)
	}
	saxpy, err := m.Function("saxpy")
	if err != nil {
		t.Fatal(err)
	}
	x, err := driver.Upload(c, make([]float32, 64))
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	tr := profiled(t, func() error {
		capture := profiler.Begin("capture")
		g, err := s.Capture(func() error {
			return errors.Join(saxpy.Launch(driver.Over(64, 64).On(s), int32(64), float32(1), x, x), saxpy.Launch(driver.Over(64, 64).On(s), int32(64), float32(1), x, x),
				x.Part(0, 1).Fill(0, s))
		})
		capture.End()
		if err != nil {
			return err
		}
		for n := range 2 {
			span := profiler.Begin(fmt.Sprint("launch ", n))
			err = errors.Join(err, g.Launch(s))
			span.End()
		}
		return errors.Join(err, g.Close())
	})
	spans := map[int64]string{}
	for i := range tr.Slices {
		if v := &tr.Slices[i]; tr.Class(v) == trace.ClassAnnotation {
			spans[v.Ext] = tr.Name(v)
		}
	}
	work, ranges := map[string]int{}, map[string]int{}
	for i := range tr.Slices {
		switch v := &tr.Slices[i]; tr.Class(v) {
		case trace.ClassKernel, trace.ClassMemset:
			work[spans[v.Ext]]++
			if v.Kind == trace.ArgKernel && (tr.Kernels[v.Args].GraphID < 1 || tr.Kernels[v.Args].GraphNode < 1) {
				t.Errorf("%s is of graph %+v", tr.Name(v), tr.Kernels[v.Args])
			}
		case trace.ClassDeviceAnnotation:
			ranges[tr.Name(v)+" in "+spans[v.Ext]]++
		}
	}
	if len(work) != 2 || work["launch 0"] != 3 || work["launch 1"] != 3 {
		t.Errorf("work by span: %v", work)
	}
	arrows := 0
	for _, f := range tr.Flows {
		if f.From >= 0 && tr.Name(&tr.Slices[f.From]) == "cuGraphLaunch" {
			arrows++
		}
	}
	if arrows != 6 {
		t.Errorf("%d arrows from launches of the graph, want 6", arrows)
	}
	var got []string
	for name, n := range ranges {
		got = append(got, fmt.Sprint(name, " ", n))
	}
	slices.Sort(got)
	if len(got) != 4 || got[2] != "launch 0 in launch 0 1" || got[3] != "launch 1 in launch 1 1" || got[0][:10] != "CUDA graph" {
		t.Errorf("ranges %q", got)
	}
}

// TestWholeGraphs has CUPTI tell of launches of graphs instead of what runs in them.
func TestWholeGraphs(t *testing.T) {
	t.Setenv("GANDER_CUDA_GRAPHS", "whole")
	c := open(t)
	s, err := c.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	x, err := driver.Upload(c, make([]float32, 64))
	if err != nil {
		t.Fatal(err)
	}
	g, err := s.Capture(func() error { return errors.Join(x.Fill(0, s), x.Fill(1, s)) })
	if err != nil {
		t.Fatal(err)
	}
	tr := profiled(t, func() error {
		span := profiler.Begin("launch")
		defer span.End()
		return errors.Join(g.Launch(s), g.Launch(s))
	})
	var got []string
	for i := range tr.Slices {
		if v := &tr.Slices[i]; tr.Class(v).OnDevice() {
			got = append(got, tr.Categories[v.Cat].Name+" "+strings.TrimRight(tr.Name(v), " 0123456789"))
		}
	}
	slices.Sort(got)
	if want := []string{"gpu_user_annotation launch", "kernel CUDA graph", "kernel CUDA graph"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(tr.Flows) != 2 {
		t.Errorf("%d arrows for two launches", len(tr.Flows))
	}
}

// TestPoolCurve follows memory of a pool: what is allocated is what was asked for, and what is reserved is what the pool holds,
// until the host waits and the pool gives it back.
func TestPoolCurve(t *testing.T) {
	c := open(t)
	s, err := c.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	const mb = 1 << 20
	tr := profiled(t, func() error {
		span := profiler.Begin("pool")
		defer span.End()
		a, err := driver.AllocOn[byte](s, mb)
		if err != nil {
			return err
		}
		b, err := driver.AllocOn[byte](s, 3*mb)
		if err != nil {
			return err
		}
		direct, err := driver.Alloc[byte](c, 5*mb)
		if err != nil {
			return err
		}
		err = errors.Join(b.FreeOn(s), s.Synchronize(), a.FreeOn(s))
		return errors.Join(err, direct.Free())
	})
	var got []string
	for _, m := range tr.Memory {
		got = append(got, fmt.Sprintf("%+d = %d/%d", m.Bytes/mb, m.Allocated/mb, m.Reserved/mb))
	}
	// The pool grows in steps of 2 MiB; waiting trims it to what is used, 2 MiB.
	want := []string{"+1 = 1/2", "+3 = 4/4", "+5 = 9/9", "-3 = 6/9", "-1 = 5/7", "-5 = 0/2"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
