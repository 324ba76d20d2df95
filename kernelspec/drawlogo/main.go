// Command drawlogo writes the kernel's logos into the folder named by its argument: a goose on the water, whose surface is
// a timeline. All forms are drawn from the shapes below, so they are the same picture.
//
//	go run ./kernelspec/drawlogo kernelspec/logos
package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/image/vector"
)

// size is the side of the square that shapes are drawn in.
const size = 64

// shape is a filled outline.
type shape struct {
	fill color.NRGBA
	path []segment
}

// segment goes on from the last point: op 'M' moves, 'L' draws a line, 'C' a cubic Bézier curve; an outline is closed by
// its end.
type segment struct {
	op byte
	p  [6]float32 // the points, the last one first used by M and L
}

func m(x, y float32) segment             { return segment{'M', [6]float32{x, y}} }
func l(x, y float32) segment             { return segment{'L', [6]float32{x, y}} }
func c(a, b, d, e, x, y float32) segment { return segment{'C', [6]float32{a, b, d, e, x, y}} }
func rgb(v uint32) color.NRGBA           { return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255} }

// arc is the handle length of a quarter circle drawn as a Bézier curve, for radius 1.
const arc = 0.5523

// rounded is a rectangle with rounded corners; with a radius of half its sides it is a circle.
func rounded(x, y, w, h, r float32) []segment {
	k := r * (1 - arc)
	return []segment{
		m(x+r, y), l(x+w-r, y), c(x+w-k, y, x+w, y+k, x+w, y+r),
		l(x+w, y+h-r), c(x+w, y+h-k, x+w-k, y+h, x+w-r, y+h),
		l(x+r, y+h), c(x+k, y+h, x, y+h-k, x, y+h-r),
		l(x, y+r), c(x, y+k, x+k, y, x+r, y),
	}
}

var logo = []shape{
	{rgb(0x0e6a86), rounded(0, 0, size, size, 14)}, // sky
	{rgb(0xf8fafc), []segment{ // goose
		m(17, 13), c(17, 7.5, 20.5, 4.5, 24.5, 4.5), c(29.5, 4.5, 32.5, 8, 32, 13), c(31.5, 18, 28, 22, 28, 28.5),
		c(28, 33.5, 33, 35.5, 39, 35.5), c(46, 35.5, 52, 33.5, 58, 28.5), c(58.5, 40.5, 53, 51, 38, 51),
		c(26, 51, 17.5, 46.5, 17.5, 37), c(17.5, 30, 21.5, 26, 21, 19.8), c(18.5, 19, 17, 16.5, 17, 13),
	}},
	{rgb(0xf59e0b), []segment{m(17.4, 9.8), c(14, 11.2, 9.5, 12.8, 6, 15.4), c(8.5, 17.6, 14, 18.3, 18.4, 17.4), c(17, 15.2, 16.8, 12.2, 17.4, 9.8)}}, // beak
	{rgb(0x1e293b), rounded(21.6, 9.6, 4, 4, 2)}, // eye
	{rgb(0xbfd3de), []segment{m(30, 40), c(36, 39.5, 45, 39, 52, 35), c(50, 43, 43.5, 46.8, 37, 46.6), c(32.6, 46.4, 30, 44, 30, 40)}}, // wing
	{rgb(0x5cc8e0), rounded(9, 54, 27, 3, 1.5)}, // water
	{rgb(0xf59e0b), rounded(38, 54, 9, 3, 1.5)},
	{rgb(0x5cc8e0), rounded(49, 54, 6, 3, 1.5)},
}

// raster draws the logo with the given side in pixels.
func raster(side int) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	scale := float32(side) / size
	for _, s := range logo {
		r := vector.NewRasterizer(side, side)
		for _, g := range s.path {
			p := g.p
			for i := range p {
				p[i] *= scale
			}
			switch g.op {
			case 'M':
				r.MoveTo(p[0], p[1])
			case 'L':
				r.LineTo(p[0], p[1])
			case 'C':
				r.CubeTo(p[0], p[1], p[2], p[3], p[4], p[5])
			}
		}
		r.ClosePath()
		r.Draw(img, img.Bounds(), image.NewUniform(s.fill), image.Point{})
	}
	return img
}

func svg() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="Gander">`+"\n", size, size)
	for _, s := range logo {
		fmt.Fprintf(&b, `<path fill="#%02x%02x%02x" d="`, s.fill.R, s.fill.G, s.fill.B)
		for _, g := range s.path {
			n := 2
			if g.op == 'C' {
				n = 6
			}
			b.WriteByte(g.op)
			for i, v := range g.p[:n] {
				if i > 0 {
					b.WriteByte(' ')
				}
				fmt.Fprintf(&b, "%.4g", v)
			}
		}
		b.WriteString("Z\"/>\n")
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

func run(dir string) error {
	files := map[string][]byte{"logo-svg.svg": svg()}
	for _, side := range []int{32, 64} {
		var b bytes.Buffer
		if err := png.Encode(&b, raster(side)); err != nil {
			return err
		}
		files[fmt.Sprintf("logo-%dx%d.png", side, side)] = b.Bytes()
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: drawlogo FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "drawlogo:", err)
		os.Exit(1)
	}
}
