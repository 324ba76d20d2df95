package nn

// Module is a layer or a network of layers.
type Module interface {
	// Forward computes the output and keeps what Backward needs.
	Forward(x *Tensor) *Tensor
	// Backward takes the gradient of the output, adds to the gradients of the parameters and returns the gradient of
	// the input. Activations that only it needed are released: the output must not be used after it.
	Backward(dy *Tensor) *Tensor
	// Params lists the parameters, in a fixed order.
	Params() []*Param
}

// Param is a trained tensor and its gradient.
type Param struct {
	Name  string
	Value *Tensor
	Grad  *Tensor
}

func newParam(name string, shape ...int) *Param {
	return &Param{Name: name, Value: New(shape...), Grad: New(shape...)}
}

// ZeroGrad clears the gradients of m.
func ZeroGrad(m Module) {
	for _, p := range m.Params() {
		clear(p.Grad.Data)
	}
}

// NumParams counts the numbers that m trains.
func NumParams(m Module) int {
	n := 0
	for _, p := range m.Params() {
		n += len(p.Value.Data)
	}
	return n
}

// Sequential runs modules one after the other.
type Sequential []Module

// Forward implements Module.
func (s Sequential) Forward(x *Tensor) *Tensor {
	for i, m := range s {
		y := m.Forward(x)
		y.passed = i < len(s)-1 && !keepsOutput(m)
		if i > 0 && !keepsInput(m) && !keepsOutput(s[i-1]) {
			x.Release()
		}
		x = y
	}
	return x
}

// keepsInput reports whether m may need its input again in its backward pass.
func keepsInput(m Module) bool {
	switch m.(type) {
	case *ReLU, *BatchNorm2d, *MaxPool2d, *GlobalAvgPool2d:
		return false
	}
	return true
}

// keepsOutput reports whether m may need its output again in its backward pass.
func keepsOutput(m Module) bool {
	switch m.(type) {
	case *Conv2d, *Linear, *BatchNorm2d, *MaxPool2d, *GlobalAvgPool2d:
		return false
	}
	return true
}

// Backward implements Module.
func (s Sequential) Backward(dy *Tensor) *Tensor {
	for i := len(s) - 1; i >= 0; i-- {
		dx := s[i].Backward(dy)
		if i < len(s)-1 {
			dy.Release()
		}
		dy = dx
	}
	return dy
}

// Params implements Module.
func (s Sequential) Params() []*Param {
	var ps []*Param
	for _, m := range s {
		ps = append(ps, m.Params()...)
	}
	return ps
}
