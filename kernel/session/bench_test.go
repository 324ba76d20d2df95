package session

import (
	"context"
	"testing"

	"github.com/gander-go/gander/kernel/cell"
)

type nothing struct{}

func (nothing) Stream(cell.StreamName, string) {}
func (nothing) Display(cell.Bundle)            {}
func (nothing) Update(cell.Bundle)             {}
func (nothing) Clear(bool)                     {}

func bench(b *testing.B, entry string) {
	c, err := built()
	if err != nil {
		b.Fatal(err)
	}
	s, err := Start(context.Background(), Config{Workspace: c.w})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	r := unit(entry)
	for b.Loop() {
		if d, err := s.Run(context.Background(), r, nothing{}, nil); err != nil || d.Err != nil {
			b.Fatal(err, d)
		}
	}
}

// BenchmarkUnit is a unit that does nothing, from Run to its Done.
func BenchmarkUnit(b *testing.B) { bench(b, "Nothing") }

// BenchmarkLines is 100,000 calls of fmt.Println as cells print, BenchmarkLinesDirect as libraries do.
func BenchmarkLines(b *testing.B)       { bench(b, "Lines") }
func BenchmarkLinesDirect(b *testing.B) { bench(b, "LinesDirect") }

// BenchmarkStart is a session process from nothing to its greeting, and its end.
func BenchmarkStart(b *testing.B) {
	c, err := built()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := Start(context.Background(), Config{Workspace: c.w})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
