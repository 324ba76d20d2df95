//go:build !linux || !cgo || !(amd64 || arm64)

package nvrtc

// Library is an NVRTC that was opened; there is none in this build.
type Library struct {
	Path         string
	Major, Minor int
}

// Open fails: opening libraries at run time needs Linux and cgo.
func Open(int) (*Library, error) { return nil, &Missing{"this build of gander cannot open libraries"} }

// Architectures is empty.
func (l *Library) Architectures() []int { return nil }

// Compile fails.
func (l *Library) Compile(Request) (*Result, error) {
	return nil, &Missing{"this build of gander cannot open libraries"}
}
