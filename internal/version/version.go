// Package version tells which build of Gander this is.
package version

import (
	"runtime"
	"runtime/debug"
)

// Number is the version of the sources.
const Number = "0.1.0"

// Info describes a build.
type Info struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the version control system
	Modified bool   `json:"modified,omitempty"` // built from changed sources
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Read returns what the binary knows about itself.
func Read() Info {
	info := Info{Version: Number, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			info.Revision = s.Value
		case "vcs.modified":
			info.Modified = s.Value == "true"
		}
	}
	return info
}

// String is one line.
func (i Info) String() string {
	s := "gander " + i.Version
	if len(i.Revision) >= 12 {
		s += " (" + i.Revision[:12]
		if i.Modified {
			s += ", modified"
		}
		s += ")"
	}
	return s + " " + i.Go + " " + i.Platform
}
