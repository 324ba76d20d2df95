package nn

// SGD is stochastic gradient descent with momentum and weight decay, in the order of torch.optim.SGD:
// g += decay*p; v = momentum*v + g; p -= rate*v.
type SGD struct {
	Rate, Momentum, Decay float64
	params                []*Param
	velocity              []*Tensor
}

// NewSGD makes an optimizer of the parameters of m.
func NewSGD(m Module, rate, momentum, decay float64) *SGD {
	return &SGD{Rate: rate, Momentum: momentum, Decay: decay, params: m.Params()}
}

// ZeroGrad clears the gradients.
func (s *SGD) ZeroGrad() {
	defer begin("nn.SGD.ZeroGrad").End()
	for _, p := range s.params {
		clear(p.Grad.Data)
	}
}

// Step moves every parameter once.
func (s *SGD) Step() {
	defer begin("nn.SGD.Step").End()
	first := s.velocity == nil
	for i, p := range s.params {
		if first {
			s.velocity = append(s.velocity, Like(p.Value))
		}
		v, rate, momentum, decay := s.velocity[i].Data, float32(s.Rate), float32(s.Momentum), float32(s.Decay)
		for j, g := range p.Grad.Data {
			g += decay * p.Value.Data[j]
			v[j] = momentum*v[j] + g
			p.Value.Data[j] -= rate * v[j]
		}
	}
}
