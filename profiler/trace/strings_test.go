package trace

import (
	"fmt"
	"testing"
)

func TestStringsGiveOneIDAString(t *testing.T) {
	var s Strings
	if s.Len() != 1 || s.Get(0) != "" || s.ID("") != 0 || s.IDBytes(nil) != 0 {
		t.Fatal("the zero table must hold the empty string as id 0")
	}
	const n = 5000
	for round := range 2 {
		for i := range n {
			text := fmt.Sprint("name ", i)
			want := StringID(i + 1)
			if got := s.ID(text); got != want {
				t.Fatalf("round %d: ID(%q) = %d, want %d", round, text, got, want)
			}
			if got := s.IDBytes([]byte(text)); got != want {
				t.Fatalf("round %d: IDBytes(%q) = %d, want %d", round, text, got, want)
			}
			if s.Get(want) != text {
				t.Fatalf("Get(%d) = %q, want %q", want, s.Get(want), text)
			}
		}
		// The second round looks everything up in a table that knows only the list.
		s.SetList(s.List())
	}
	if s.Len() != n+1 || s.Get(n+1) != "" {
		t.Fatalf("Len = %d, want %d; an unknown id must be empty", s.Len(), n+1)
	}
}

func TestIDBytesDoesNotKeepItsArgument(t *testing.T) {
	var s Strings
	b := []byte("aten::add, a name longer than what fits a small buffer on the stack")
	id := s.IDBytes(b)
	b[0] = 'X'
	if s.Get(id)[0] != 'a' {
		t.Fatal("the table shares memory with the caller's bytes")
	}
	b[0] = 'a'
	if n := testing.AllocsPerRun(100, func() { s.IDBytes(b) }); n != 0 {
		t.Fatalf("looking up a known name allocates %v times", n)
	}
}
