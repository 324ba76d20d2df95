package bug

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// caught returns what f panics with.
func caught(f func()) (p any) {
	defer func() { p = recover() }()
	f()
	return nil
}

func TestTestsPanic(t *testing.T) {
	if p := caught(func() { Reportf("number %d", 7) }); p == nil || !strings.Contains(p.(error).Error(), "number 7") {
		t.Errorf("Reportf: got %v", p)
	}
	p := caught(func() {
		defer Recover("working", nil)
		panic("broken")
	})
	if p != "broken" {
		t.Errorf("Recover: got %v", p)
	}
}

func TestProgramsGoOn(t *testing.T) {
	t.Setenv("GANDER_BUGS", "report")
	before := Count()
	if err := Reportf("reading: %w", io.EOF); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	var told error
	func() {
		defer Recover("working", func(err error) { told = err })
		panic("broken")
	}()
	if told == nil || !strings.Contains(told.Error(), "working") || !strings.Contains(told.Error(), "broken") {
		t.Errorf("told %v", told)
	}
	func() {
		defer Recover("working", nil)
	}()
	if n := Count() - before; n != 2 {
		t.Errorf("counted %d", n)
	}
}
