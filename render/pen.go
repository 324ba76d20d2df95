package render

import "image/color"

// ink names a colour by its role, so that one drawing serves light and dark, SVG and PNG.
type ink int

const (
	inkText ink = iota
	inkDim
	inkLine
	inkBand
	inkAccent
	inkSeries // inkSeries+i is the i-th colour of charts
	inkClass  = inkSeries + 16
)

// seriesColors are the colours of charts, distinct on light and dark grounds. assets/js/util.js has the same list.
var seriesColors = [...]string{"#3b82c4", "#e8833a", "#4aa564", "#c8534f", "#8a6fc1", "#9a7355", "#d17fb4", "#7f8a94", "#b5a642", "#3fa7a0"}

func seriesInk(i int) ink { return inkSeries + ink(i%len(seriesColors)) }

func classInk(c int) ink { return inkClass + ink(c) }

// run is a horizontal piece of one row, in drawing units.
type run struct{ x, w float64 }

// pen is what charts are drawn with. Coordinates are in drawing units, y down; text sits on its vertical middle.
type pen interface {
	rect(x, y, w, h float64, c ink, alpha float64)
	spans(y, h float64, list []run, c ink, alpha float64) // many runs of one row
	line(x0, y0, x1, y1 float64, c ink, dashed bool)
	steps(points []point, base float64, c ink, area bool) // a step curve, already in drawing units
	text(x, y float64, s string, a anchor, c ink)
}

type point struct{ x, y float64 }

type anchor int

const (
	anchorStart anchor = iota
	anchorMiddle
	anchorEnd
)

// chart is a drawing of a known size with the sentence that says what it shows.
type chart struct {
	w, h  int
	title string
	alt   string // what a reader who cannot see it should know
	draw  func(p pen)
}

func parseHex(s string) color.RGBA {
	var v [3]uint8
	for i := range v {
		v[i] = hexDigit(s[1+2*i])<<4 | hexDigit(s[2+2*i])
	}
	return color.RGBA{v[0], v[1], v[2], 255}
}

func hexDigit(c byte) uint8 {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}
