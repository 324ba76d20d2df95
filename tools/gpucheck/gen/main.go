// Command gen makes kernels.ptx of kernels.cu with the NVRTC that GANDER_LIBNVRTC names; see tools/nvrtc.sh.
package main

import (
	"fmt"
	"os"

	"github.com/gander-go/gander/cuda/nvrtc"
)

func main() {
	if err := generate("kernels.cu", "kernels.ptx"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func generate(from, to string) error {
	src, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	l, err := nvrtc.Open(0)
	if err != nil {
		return err
	}
	r, err := l.Compile(nvrtc.Request{Name: from, Source: string(src), Arch: "compute_75"})
	if err != nil {
		return err
	}
	return os.WriteFile(to, r.Image, 0o644)
}
