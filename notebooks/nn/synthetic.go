package nn

import (
	"math"
	"math/rand/v2"
	"time"
)

// Blobs is a made-up data set: each class is a bright spot at a place of its own, in noise. A network learns it in a few
// steps, and no download is needed.
type Blobs struct {
	Count, Classes, Size int
	// Delay is slept for each sample, as a slow disk would make it; Work repeats the computation of a sample, as
	// decoding would.
	Delay time.Duration
	Work  int
}

// Len implements Dataset.
func (b Blobs) Len() int { return b.Count }

// Shape implements Dataset.
func (b Blobs) Shape() (channels, height, width int) { return 3, b.Size, b.Size }

// Sample implements Dataset. The same index always gives the same image.
func (b Blobs) Sample(i int, x []float32) int {
	if b.Delay > 0 {
		time.Sleep(b.Delay)
	}
	class := i % b.Classes
	for range max(1, b.Work) {
		r := rand.New(rand.NewPCG(uint64(i), 1))
		angle := 2 * math.Pi * float64(class) / float64(b.Classes)
		cy := float64(b.Size) * (0.5 + 0.3*math.Sin(angle))
		cx := float64(b.Size) * (0.5 + 0.3*math.Cos(angle))
		width := float64(b.Size*b.Size) / 50
		for ch := range 3 {
			for y := range b.Size {
				for xx := range b.Size {
					d := (float64(y)-cy)*(float64(y)-cy) + (float64(xx)-cx)*(float64(xx)-cx)
					x[(ch*b.Size+y)*b.Size+xx] = float32(2*math.Exp(-d/width) + 0.2*r.NormFloat64())
				}
			}
		}
	}
	return class
}
