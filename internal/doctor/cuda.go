//go:build linux && cgo && (amd64 || arm64)

package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gander-go/gander/cuda/cupti"
	"github.com/gander-go/gander/cuda/driver"
	"github.com/gander-go/gander/cuda/nvml"
	"github.com/gander-go/gander/cuda/nvrtc"
)

// cudaPatience is how long a library may take to answer: one of a driver that hangs does not hang the doctor.
const cudaPatience = 10 * time.Second

// cudaChecks opens NVIDIA's libraries and asks for their versions, all at once. start begins, and the func that it returns
// waits for the outcome.
func cudaChecks(ctx context.Context) (wait func() []Check) {
	ctx, cancel := context.WithTimeout(ctx, cudaPatience)
	list := []struct {
		name string
		ask  func() Check
	}{{"CUDA driver", cudaDriver}, {"CUPTI", cuptiLibrary}, {"NVML", nvmlLibrary}, {"NVRTC", nvrtcLibrary}}
	answers := make([]chan Check, len(list))
	for i, c := range list {
		answers[i] = make(chan Check, 1)
		go func() { answers[i] <- c.ask() }()
	}
	return func() []Check {
		defer cancel()
		var out []Check
		for i, c := range list {
			got := Check{Name: c.name, Status: Wrong, Detail: fmt.Sprintf("it does not answer within %v", cudaPatience), Fix: "restart the machine, or see dmesg for messages of NVRM"}
			select {
			case got = <-answers[i]:
			case <-ctx.Done():
				select { // the other checks may have taken longer than that, and the answer be here
				case got = <-answers[i]:
				default:
				}
			}
			got.Name = c.name
			out = append(out, got)
		}
		return out
	}
}

func cudaDriver() Check {
	err := driver.Available()
	var u *driver.Unavailable
	if errors.As(err, &u) {
		c := Check{Status: Optional, Detail: u.Reason, Fix: u.Fix}
		if c.Fix == "" {
			c.Fix = "restart the machine after an update of the driver, or install the driver anew"
		}
		if driver.Library() != "" && u.Code != driver.NoDevice {
			c.Status = Wrong
		}
		return c
	}
	major, minor := driver.Version()
	devices, err := driver.Devices()
	if err != nil {
		return Check{Status: Wrong, Detail: err.Error(), Fix: "see what nvidia-smi says"}
	}
	detail := fmt.Sprintf("CUDA %d.%d", major, minor)
	for _, d := range devices {
		detail += ", " + d.String()
	}
	return Check{Status: Found, Detail: detail + " (" + driver.Library() + ")"}
}

func cuptiLibrary() Check {
	l, err := cupti.Open()
	if err != nil {
		return Check{Status: Optional, Detail: err.Error(), Fix: "install the CUDA toolkit or 'pip install nvidia-cuda-cupti-cu12': profiles show kernels then"}
	}
	return Check{Status: Found, Detail: fmt.Sprintf("CUDA %s (%s)", cupti.FormatVersion(l.Version), l.File)}
}

func nvmlLibrary() Check {
	l, err := nvml.Open()
	var m *nvml.Missing
	switch {
	case errors.As(err, &m):
		c := Check{Status: Wrong, Detail: m.Why, Fix: m.Fix}
		if m.NoLibrary {
			c.Status = Optional
			c.Fix += ": profiles show utilisation, memory and power then"
		}
		return c
	case err != nil:
		return Check{Status: Wrong, Detail: err.Error()}
	}
	s := l.System()
	return Check{Status: Found, Detail: fmt.Sprintf("%s, driver %s, %d devices (%s)", s.NVML, s.Driver, len(l.Devices()), s.Library)}
}

func nvrtcLibrary() Check {
	major, _ := driver.Version()
	l, err := nvrtc.Open(major)
	if err != nil {
		why := err.Error()
		var m *nvrtc.Missing
		if errors.As(err, &m) {
			why = m.Why
		}
		return Check{Status: Optional, Detail: why, Fix: "install the CUDA toolkit or 'pip install nvidia-cuda-nvrtc-cu12': %%cuda compiles then"}
	}
	c := Check{Status: Found, Detail: fmt.Sprintf("CUDA %d.%d (%s)", l.Major, l.Minor, l.Path)}
	if major > 0 && l.Major > major {
		c.Status, c.Fix = Wrong, fmt.Sprintf("the driver is for CUDA %d: install an NVRTC of CUDA %d, or a newer driver", major, major)
	}
	return c
}
