package check_test

import (
	"fmt"
	"sync"
	"testing"
)

// TestQueriesWhileCellsCome asks from several goroutines while cells are checked and committed. It is worth most under the race
// detector.
func TestQueriesWhileCellsCome(t *testing.T) {
	s := newSession(t)
	first := s.Check(1, "type T struct{ A int }\nfunc (t *T) M() int { return t.A }\nt := &T{}\nvar sb strings.Builder")
	if len(first.Errors) > 0 {
		t.Fatal(first.Errors)
	}
	s.Commit(first, -1)
	stop := make(chan bool)
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if i == 0 {
					if c := s.Complete("t.", 2); len(c.Items) == 0 {
						t.Error("no members of t")
						return
					}
				} else if d := s.Inspect("sb.WriteString(x)", 5, false); d == nil {
					t.Error("nothing known of WriteString")
					return
				}
				s.Vars()
			}
		})
	}
	for n := 2; n < 30; n++ {
		c := s.Check(n, fmt.Sprintf("func f%d() int { return t.A + %d }\ntype U%d struct{ T }\nx := []U%d{}\nsb.Len() + len(x)", n%3, n, n%2, n%2))
		if len(c.Errors) > 0 {
			t.Error(c.Errors)
			break
		}
		s.Commit(c, -1)
	}
	close(stop)
	wg.Wait()
}

// TestQueriesLeaveNothing asks very often, also about code that redefines what others use, and checks that the positions which
// the session keeps do not grow with it.
func TestQueriesLeaveNothing(t *testing.T) {
	s := newSession(t)
	c := s.Check(1, "type T struct{ A int }\nfunc f(t T) int { return t.A }")
	s.Commit(c, -1)
	ask := func() {
		s.Complete("type T struct{ A, B int }\nx := T{}\nx.", 37)
		s.Complete("func g() { if f(T{", 18)
		s.Complete("f(((", 4)
		s.Inspect("type T struct{ A, B int }\nf", 27, false)
	}
	ask()
	before := s.Held()
	for range 50 {
		ask()
	}
	if after := s.Held(); after > before {
		t.Errorf("%d files are held after 50 rounds of questions, %d before", after, before)
	}
}
