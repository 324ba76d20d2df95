// Package probe is what compiled cells would have declared in the sessions of the interpreter's tests: its declarations
// are checked as the text of a cell, and registered (register.go) as a compiled cell does.
package probe

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

type Point struct{ X, Y int }

func (p Point) String() string      { return fmt.Sprintf("(%d,%d)", p.X, p.Y) }
func (p Point) Add(q Point) Point   { return Point{p.X + q.X, p.Y + q.Y} }
func (p *Point) Move(dx, dy int)    { p.X += dx; p.Y += dy }
func (p *Point) Scale(n int) *Point { p.X *= n; p.Y *= n; return p }
func (p Point) Get() (int, int)     { return p.X, p.Y }

type Plain struct {
	A int
	B string
	C []int
	D map[string]int
	E *Point
	F Point
	G any
	H [3]int
	I float64
	J error
}

func (p Plain) Sum() int { return p.A + len(p.B) + len(p.C) }

type Base struct {
	ID   int
	Name string
}

func (b Base) Hello() string    { return "hello " + b.Name }
func (b *Base) Rename(s string) { b.Name = s }
func (b *Base) Inc() int        { b.ID++; return b.ID }

type Outer struct {
	Base
	*Point
	Tag string
}

type Shape interface {
	Area() float64
	Name() string
}

type Square struct{ Side float64 }

func (s Square) Area() float64 { return s.Side * s.Side }
func (s Square) Name() string  { return "square" }

type Circle struct{ R float64 }

func (c *Circle) Area() float64 { return 3 * c.R * c.R }
func (c *Circle) Name() string  { return "circle" }

type Celsius float64

func (c Celsius) String() string { return fmt.Sprintf("%.1f C", float64(c)) }

type Weekday int

func (d Weekday) String() string {
	return [...]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}[d%7]
}

type Small int8
type Octet uint8
type Names []string

func (n Names) Join() string  { return strings.Join(n, "+") }
func (n *Names) Add(s string) { *n = append(*n, s) }

type Counts map[string]int

func (c Counts) Inc(k string) int { c[k]++; return c[k] }

type Text string

func (t Text) Len() int { return len(t) }

type MyErr struct{ Code int }

func (e *MyErr) Error() string { return fmt.Sprintf("code %d", e.Code) }

var ErrPlain = errors.New("plain")

func Fail(n int) error {
	switch {
	case n == 0:
		return nil
	case n < 0:
		return ErrPlain
	}
	return &MyErr{n}
}

func Divmod(a, b int) (int, int) { return a / b, a % b }
func Try(n int) (int, error)     { return n * 2, Fail(n) }
func Sum(xs ...int) (t int) {
	for _, x := range xs {
		t += x
	}
	return t
}
func Describe(prefix string, xs ...any) string { return prefix + fmt.Sprint(xs...) }
func Total(shapes ...Shape) (t float64) {
	for _, s := range shapes {
		t += s.Area()
	}
	return t
}
func Trace(s string, n int) int    { fmt.Print(s, ";"); return n }
func TraceB(s string, b bool) bool { fmt.Print(s, ";"); return b }
func Bump(p *int) int              { *p += 10; return *p }
func Boom(n int) int               { panic(fmt.Sprintf("boom %d", n)) }
func Fresh() *Point                { return &Point{3, 4} }
func NilPoint() *Point             { return nil }
func NewSquare(f float64) Shape    { return Square{f} }
func NoShape() Shape               { return nil }
func Ints(n int) []int {
	r := make([]int, n)
	for i := range r {
		r[i] = i * i
	}
	return r
}
func Adder(n int) func(int) int { return func(x int) int { return x + n } }
func Keys(m Counts) []string    { return slices.SortedFunc(maps.Keys(m), cmp.Compare[string]) }
func Wrap(e error) error        { return fmt.Errorf("wrapped: %w", e) }
