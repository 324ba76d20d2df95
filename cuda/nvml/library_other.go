//go:build !linux || !cgo || !(amd64 || arm64)

package nvml

// Library is NVML, opened; there is none in this build.
type Library struct{}

// Open fails: opening libraries at run time needs Linux and cgo.
func Open() (*Library, error) {
	return nil, &Missing{Why: "this build of gander cannot open libraries", NoLibrary: true}
}

// System is empty.
func (l *Library) System() System { return System{} }

// Devices is empty.
func (l *Library) Devices() []Device { return nil }

// Read knows nothing.
func (l *Library) Read(int) Reading { return unknownReading() }

// Processes is empty.
func (l *Library) Processes(int) []Process { return nil }
