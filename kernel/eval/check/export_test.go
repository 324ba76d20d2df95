package check

import "go/token"

// Held is the number of files that the session has positions of for queries.
func (s *Session) Held() (n int) {
	s.query.mu.Lock()
	defer s.query.mu.Unlock()
	s.query.fset.Iterate(func(f *token.File) bool {
		if f.Name() == "" {
			n++
		}
		return true
	})
	return n
}
