package analyze

import "github.com/gander-go/gander/profiler/trace"

// Operator is one row of the operator view. Times are ns summed over calls.
type Operator struct {
	Name        string          `json:"name"`
	Shapes      string          `json:"input_shapes,omitempty"`
	Calls       int64           `json:"calls"`
	DeviceSelf  int64           `json:"device_self"`
	DeviceTotal int64           `json:"device_total"`
	HostSelf    int64           `json:"host_self"` // without children and runtime calls
	HostTotal   int64           `json:"host_total"`
	TCEligible  bool            `json:"tc_eligible"`
	TCSelf      float64         `json:"tc_self"`  // share of the self device time in tensor-core kernels
	TCTotal     float64         `json:"tc_total"` // share of the total device time in tensor-core kernels
	Stacks      []OperatorStack `json:"stacks,omitempty"`
}

// OperatorStack is the part of an operator called from one place.
type OperatorStack struct {
	Stack []string `json:"stack"` // outermost first
	Operator
}

// OperatorOptions choose the grouping of the operator view.
type OperatorOptions struct{ ByShape bool }

// OperatorReport is the operator view, ordered by device self time, or host self time where there is no device time.
type OperatorReport struct {
	Rows      []Operator `json:"rows"`
	HasDevice bool       `json:"has_device"`
}

// Operators returns the operator view of t.
func Operators(t *trace.Trace, o OperatorOptions) *OperatorReport { return Of(t).Operators(o) }

// Operators returns the operator view by the plugin's rules.
func (a *Analysis) Operators(o OperatorOptions) *OperatorReport { return &OperatorReport{} }

// Text returns the rows as a table of at most limit rows; 0 or less is all.
func (r *OperatorReport) Text(limit int) string { return "" }
