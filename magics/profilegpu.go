package magics

import (
	"errors"

	"github.com/gander-go/gander/cuda/nvml"
	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/trace"
)

// gpuSampling is NVML sampled by the front process while a profile records. The zero value samples nothing.
type gpuSampling struct {
	sampler *nvml.Sampler
	problem error // why there is none, on a machine that has the library
}

// sampleGPU starts to sample when the profile is to have CUDA and the machine has NVML. A machine without it costs a look
// for the library.
func sampleGPU(o profileOptions) gpuSampling {
	if a, err := profiler.ParseActivities(o.activities); err != nil || a != 0 && a&profiler.CUDA == 0 {
		return gpuSampling{}
	}
	lib, err := nvml.Open()
	var missing *nvml.Missing
	switch {
	case errors.As(err, &missing) && missing.NoLibrary:
		return gpuSampling{}
	case err != nil:
		return gpuSampling{problem: err}
	}
	return gpuSampling{sampler: lib.Sample(0)}
}

// addTo ends the sampling and adds what was sampled to t.
func (g *gpuSampling) addTo(t *trace.Trace) {
	if g.problem != nil {
		t.Problems = append(t.Problems, trace.Problem{Kind: "nvml", Count: 1, Text: "the GPU's utilisation, memory and power were not sampled: " + g.problem.Error()})
	}
	if s := g.sampler; s != nil {
		g.stop()
		s.AddTo(t)
	}
}

// stop ends the sampling. It is idempotent.
func (g *gpuSampling) stop() {
	if g.sampler != nil {
		g.sampler.Stop()
		g.sampler = nil
	}
}
