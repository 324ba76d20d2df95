package nvrtc

import (
	"os"
	"path/filepath"

	"github.com/gander-go/gander/cuda/internal/dl"
)

// search is where NVRTC may be, for a driver of CUDA's major version fits (0: any): the driver may refuse code of a newer compiler.
func search(fits int) dl.Search {
	return dl.Search{
		Env: "GANDER_LIBNVRTC", Names: []string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"},
		Wheel: []string{"cu13/lib", "cuda_nvrtc/lib"}, Major: fits,
	}
}

// includes are the folders of CUDA's headers that belong to a library, for sources that include cuda_fp16.h and the like.
func includes(file string) []string {
	var dirs []string
	lib := filepath.Dir(file)
	for _, d := range []string{
		filepath.Join(lib, "..", "include"),                       // a toolkit, cu13 wheels
		filepath.Join(lib, "..", "..", "cuda_runtime", "include"), // cu11 and cu12 wheels
		filepath.Join(lib, "..", "..", "..", "include"),           // targets/x86_64-linux/lib
		"/usr/local/cuda/include",
	} {
		if _, err := os.Stat(filepath.Join(d, "cuda_fp16.h")); err == nil {
			dirs = append(dirs, filepath.Clean(d))
		}
	}
	return dirs
}
