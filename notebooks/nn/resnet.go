package nn

import (
	"fmt"
	"math/rand/v2"
)

// BasicBlock is the residual block of ResNet-18: two 3x3 convolutions and a shortcut, projected where the shape changes.
type BasicBlock struct {
	Conv1, Conv2 *Conv2d
	Norm1, Norm2 *BatchNorm2d
	Down         Sequential // nil: the shortcut is the identity

	relu1, relu2 ReLU
	x            *Tensor // the input, when the block is to release it
}

// NewBasicBlock makes a block that changes channels from in to out and size by stride.
func NewBasicBlock(r *rand.Rand, in, out, stride int) *BasicBlock {
	b := &BasicBlock{
		Conv1: NewConv2d(r, in, out, 3, stride, 1, false), Norm1: NewBatchNorm2d(out),
		Conv2: NewConv2d(r, out, out, 3, 1, 1, false), Norm2: NewBatchNorm2d(out),
	}
	if stride != 1 || in != out {
		b.Down = Sequential{NewConv2d(r, in, out, 1, stride, 0, false), NewBatchNorm2d(out)}
	}
	return b
}

// Forward implements Module.
func (b *BasicBlock) Forward(x *Tensor) *Tensor {
	defer begin("nn.BasicBlock", x).End()
	if x.passed { // both branches need it
		x.passed, b.x = false, x
	}
	y := Sequential{b.Conv1, b.Norm1, &b.relu1, b.Conv2, b.Norm2}.Forward(x)
	short := x
	if b.Down != nil {
		short = b.Down.Forward(x)
		defer short.Release()
	}
	add(y, short)
	defer y.Release()
	return b.relu2.Forward(y)
}

// Backward implements Module.
func (b *BasicBlock) Backward(dy *Tensor) *Tensor {
	defer begin("nn.BasicBlock.backward", dy).End()
	d := b.relu2.Backward(dy)
	defer d.Release()
	dx := Sequential{b.Conv1, b.Norm1, &b.relu1, b.Conv2, b.Norm2}.Backward(d)
	short := d
	if b.Down != nil {
		short = b.Down.Backward(d)
		defer short.Release()
	}
	add(dx, short)
	b.x.Release()
	b.x = nil
	return dx
}

// Params implements Module.
func (b *BasicBlock) Params() []*Param {
	ps := Sequential{b.Conv1, b.Norm1, b.Conv2, b.Norm2}.Params()
	return append(ps, b.Down.Params()...)
}

func add(into, t *Tensor) {
	defer begin("nn.Add", into, t).End()
	for i, v := range t.Data {
		into.Data[i] += v
	}
}

// ResNet is ResNet-18 (He et al., arXiv:1512.03385).
type ResNet struct {
	Conv1  *Conv2d
	Norm1  *BatchNorm2d
	Layers [4]Sequential
	FC     *Linear

	relu ReLU
	pool MaxPool2d
	avg  GlobalAvgPool2d
}

// NewResNet18 makes the network for images [N, 3, H, W].
func NewResNet18(r *rand.Rand, classes int) *ResNet {
	m := &ResNet{Conv1: NewConv2d(r, 3, 64, 7, 2, 3, false), Norm1: NewBatchNorm2d(64), pool: MaxPool2d{Kernel: 3, Stride: 2, Pad: 1}, FC: NewLinear(r, 512, classes)}
	in := 64
	for i, out := range []int{64, 128, 256, 512} {
		stride := 2
		if i == 0 {
			stride = 1
		}
		m.Layers[i] = Sequential{NewBasicBlock(r, in, out, stride), NewBasicBlock(r, out, out, 1)}
		in = out
	}
	i := 0
	for _, p := range m.Params() { // names by place, so that gradients can be told apart
		p.Name = fmt.Sprintf("%d.%s", i, p.Name)
		i++
	}
	return m
}

// Forward implements Module: logits [N, classes].
func (m *ResNet) Forward(x *Tensor) *Tensor {
	defer begin("nn.ResNet", x).End()
	return m.layers().Forward(x)
}

// Backward implements Module.
func (m *ResNet) Backward(dy *Tensor) *Tensor {
	defer begin("nn.ResNet.backward", dy).End()
	return m.layers().Backward(dy)
}

func (m *ResNet) layers() Sequential {
	s := Sequential{m.Conv1, m.Norm1, &m.relu, &m.pool}
	for _, l := range m.Layers {
		s = append(s, l...)
	}
	return append(s, &m.avg, m.FC)
}

// FLOPs counts the floating point operations of convolutions and the last layer in a forward pass of n images of h by w.
func (m *ResNet) FLOPs(n, h, w int) int64 {
	conv := func(c *Conv2d, h, w int) (int64, int, int) {
		oh, ow := c.OutSize(h), c.OutSize(w)
		return 2 * int64(n) * int64(oh*ow) * int64(c.Kernel*c.Kernel*c.In) * int64(c.Out), oh, ow
	}
	total, h, w := conv(m.Conv1, h, w)
	h, w = (h+2*m.pool.Pad-m.pool.Kernel)/m.pool.Stride+1, (w+2*m.pool.Pad-m.pool.Kernel)/m.pool.Stride+1
	for _, l := range m.Layers {
		for _, block := range l {
			b := block.(*BasicBlock)
			if b.Down != nil {
				f, _, _ := conv(b.Down[0].(*Conv2d), h, w)
				total += f
			}
			var f int64
			f, h, w = conv(b.Conv1, h, w)
			total += f
			f, h, w = conv(b.Conv2, h, w)
			total += f
		}
	}
	return total + 2*int64(n)*int64(len(m.FC.Weight.Value.Data))
}

// Params implements Module, in the order of torchvision's resnet18.
func (m *ResNet) Params() []*Param {
	ps := Sequential{m.Conv1, m.Norm1}.Params()
	for _, l := range m.Layers {
		ps = append(ps, l.Params()...)
	}
	return append(ps, m.FC.Params()...)
}
