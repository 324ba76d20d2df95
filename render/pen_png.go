package render

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// pngScale is the number of pixels of one drawing unit: sharp on dense screens and in print.
const pngScale = 2

// pngPen draws on an image with the Go font; always on white, because PNG is for paper and previews.
type pngPen struct {
	img  *image.RGBA
	face font.Face
}

var pngInks = map[ink]color.RGBA{
	inkText: parseHex("#1f2328"), inkDim: parseHex("#59636e"), inkLine: parseHex("#d8dee4"), inkBand: parseHex("#f3f5f7"), inkAccent: parseHex("#0969da"),
}

// png returns the chart as a PNG image.
func (c *chart) png() ([]byte, error) {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, fmt.Errorf("drawing %q as png: %w", c.title, err)
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: 11 * pngScale, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		return nil, fmt.Errorf("drawing %q as png: %w", c.title, err)
	}
	defer face.Close()
	p := &pngPen{image.NewRGBA(image.Rect(0, 0, c.w*pngScale, c.h*pngScale)), face}
	draw.Draw(p.img, p.img.Bounds(), image.White, image.Point{}, draw.Src)
	c.draw(p)
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.DefaultCompression}
	if err := enc.Encode(&b, paletted(p.img)); err != nil {
		return nil, fmt.Errorf("drawing %q as png: %w", c.title, err)
	}
	return b.Bytes(), nil
}

// coarse keeps five bits of a channel: the eye misses nothing in charts, and the edges of letters stay below 256 colours.
func coarse(v uint8) uint8 { return v&0xf8 | v>>5 }

// paletted returns img with a palette when it has at most 256 colours, which makes the file half as large and twice as
// fast to write, and img itself otherwise.
func paletted(img *image.RGBA) image.Image {
	index := map[color.RGBA]uint8{}
	var pal color.Palette
	b := img.Bounds()
	var last color.RGBA
	var lastIndex uint8
	out := image.NewPaletted(b, nil)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			pix := img.Pix[img.PixOffset(x, y):]
			c := color.RGBA{coarse(pix[0]), coarse(pix[1]), coarse(pix[2]), 255}
			if c == last {
				out.Pix[out.PixOffset(x, y)] = lastIndex
				continue
			}
			i, ok := index[c]
			if !ok {
				if len(pal) == 256 {
					return img
				}
				i = uint8(len(pal))
				index[c] = i
				pal = append(pal, c)
			}
			out.Pix[out.PixOffset(x, y)] = i
			last, lastIndex = c, i
		}
	}
	out.Palette = pal
	return out
}

func (p *pngPen) color(c ink) color.RGBA {
	if v, ok := pngInks[c]; ok {
		return v
	}
	return parseHex(hexOf(c))
}

// fill paints a rectangle given in drawing units, at least one pixel wide and high, mixed with what is below by alpha.
func (p *pngPen) fill(x, y, w, h float64, c color.RGBA, alpha float64) {
	x0, y0 := int(math.Round(x*pngScale)), int(math.Round(y*pngScale))
	x1, y1 := max(x0+1, int(math.Round((x+w)*pngScale))), max(y0+1, int(math.Round((y+h)*pngScale)))
	r := image.Rect(x0, y0, x1, y1).Intersect(p.img.Bounds())
	// Sixteen levels keep the number of colours small enough for a palette.
	a := uint32(math.Round(min(1, max(0, alpha))*15)) * 17
	mix := func(d, s uint8) uint8 { return uint8((uint32(d)*(255-a) + uint32(s)*a + 127) / 255) }
	for py := r.Min.Y; py < r.Max.Y; py++ {
		for px := r.Min.X; px < r.Max.X; px++ {
			i := p.img.PixOffset(px, py)
			pix := p.img.Pix[i : i+4 : i+4]
			pix[0], pix[1], pix[2] = mix(pix[0], c.R), mix(pix[1], c.G), mix(pix[2], c.B)
		}
	}
}

func (p *pngPen) rect(x, y, w, h float64, c ink, alpha float64) {
	p.fill(x, y, w, h, p.color(c), alpha)
}

func (p *pngPen) spans(y, h float64, list []run, c ink, alpha float64) {
	for _, s := range list {
		p.fill(s.x, y, s.w, h, p.color(c), alpha)
	}
}

func (p *pngPen) line(x0, y0, x1, y1 float64, c ink, dashed bool) {
	k := p.color(c)
	n := int(max(math.Abs(x1-x0), math.Abs(y1-y0))*pngScale) + 1
	if !dashed && (x0 == x1 || y0 == y1) {
		p.fill(min(x0, x1), min(y0, y1), math.Abs(x1-x0), math.Abs(y1-y0), k, 1)
		return
	}
	for i := 0; i <= n; i++ {
		if dashed && i/(5*pngScale)%2 == 1 {
			continue
		}
		t := float64(i) / float64(n)
		p.fill(x0+(x1-x0)*t, y0+(y1-y0)*t, 1/float64(pngScale), 1/float64(pngScale), k, 1)
	}
}

func (p *pngPen) steps(pts []point, base float64, c ink, area bool) {
	k := p.color(c)
	if area {
		// Column by column, because areas that overlap by a part of a pixel would show as stripes.
		const dx = 1.0 / pngScale
		i := 0
		for x := pts[0].x; x < pts[len(pts)-1].x; x += dx {
			for i+1 < len(pts) && pts[i+1].x <= x {
				i++
			}
			p.fill(x, pts[i].y, dx, base-pts[i].y, k, 0.2)
		}
	}
	const w = 1.5
	for i := 1; i < len(pts); i++ {
		a, b := pts[i-1], pts[i]
		p.fill(a.x-w/2, a.y-w/2, b.x-a.x+w, w, k, 1)
		p.fill(b.x-w/2, min(a.y, b.y)-w/2, w, math.Abs(b.y-a.y)+w, k, 1)
	}
}

func (p *pngPen) text(x, y float64, s string, a anchor, c ink) {
	d := font.Drawer{Dst: p.img, Src: image.NewUniform(p.color(c)), Face: p.face}
	w := d.MeasureString(s)
	at := fixed.Int26_6(x * pngScale * 64)
	switch a {
	case anchorMiddle:
		at -= w / 2
	case anchorEnd:
		at -= w
	}
	d.Dot = fixed.Point26_6{X: at, Y: fixed.Int26_6((y + 4) * pngScale * 64)}
	d.DrawString(s)
}
