package history

import (
	"errors"
	"fmt"
	"os"
)

// entries returns every execution, in the order they were recorded.
func (s *Store) entries() ([]Entry, error) {
	s.begin()
	type key struct{ session, line int }
	var all []Entry
	at := make(map[key]int)
	add := func(r record) {
		k := key{r.Session, r.Line}
		switch {
		case r.Input != nil:
			at[k] = len(all)
			all = append(all, Entry{Session: r.Session, Line: r.Line, Input: *r.Input})
		case r.Output != nil:
			if i, ok := at[k]; ok {
				all[i].Output = *r.Output
			}
		}
	}
	if s.path != "" {
		f, err := os.Open(s.path)
		if err == nil {
			defer f.Close()
			err = scan(f, add)
		} else if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading history: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.memory {
		add(r)
	}
	return all, nil
}

// last returns the last n entries of all, all of them for a negative n.
func last(all []Entry, n int) []Entry {
	if n < 0 || n >= len(all) {
		return all
	}
	return all[len(all)-n:]
}

// Tail returns the last n executions of all sessions, oldest first.
func (s *Store) Tail(n int) ([]Entry, error) {
	all, err := s.entries()
	return last(all, n), err
}

// Range returns the lines start <= line < stop of a session, without an upper bound for a negative stop. Session 0 is this
// kernel's, -1 the one before it, and so on.
func (s *Store) Range(session, start, stop int) ([]Entry, error) {
	all, err := s.entries()
	if err != nil {
		return nil, err
	}
	if session <= 0 {
		session += s.Session()
	}
	var out []Entry
	for _, e := range all {
		if e.Session == session && e.Line >= start && (stop < 0 || e.Line < stop) {
			out = append(out, e)
		}
	}
	return out, nil
}

// Search returns the last n executions whose whole input matches the glob pattern, where * is any text and ? any
// character. With unique, of equal inputs only the newest counts.
func (s *Store) Search(pattern string, n int, unique bool) ([]Entry, error) {
	all, err := s.entries()
	if err != nil {
		return nil, err
	}
	newest := make(map[string]int)
	for i, e := range all {
		newest[e.Input] = i
	}
	p := []rune(pattern)
	var out []Entry
	for i, e := range all {
		if (!unique || newest[e.Input] == i) && match(p, []rune(e.Input)) {
			out = append(out, e)
		}
	}
	return last(out, n), nil
}

// match reports whether text as a whole matches the pattern. It goes back to the latest * only, which suffices, so its
// time is bounded by the product of the lengths.
func match(pattern, text []rune) bool {
	p, t := 0, 0
	star, mark := -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
