package analyze

import "github.com/gander-go/gander/profiler/trace"

// Module is one nn.Module of the module view with what it contains. Times are ns summed over its calls.
type Module struct {
	Name       string   `json:"name"`
	ID         int64    `json:"id"`
	Calls      int64    `json:"calls"`
	Operators  int64    `json:"operators"` // called directly by it
	Host       int64    `json:"host"`
	HostSelf   int64    `json:"host_self"`
	Device     int64    `json:"device"`
	DeviceSelf int64    `json:"device_self"`
	Children   []Module `json:"children"`
}

// ModuleReport is the module view, empty when no module was recorded.
type ModuleReport struct {
	Roots []Module `json:"roots"`
}

// Modules returns the module view of t.
func Modules(t *trace.Trace) *ModuleReport { return Of(t).Modules() }

// Modules returns the module view.
func (a *Analysis) Modules() *ModuleReport { return &ModuleReport{} }

// Text returns the modules as an indented table.
func (r *ModuleReport) Text() string { return "" }
