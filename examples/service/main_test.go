package main

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestProfileOfTheRunningService(t *testing.T) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				request([]byte("x"))
			}
		}
	}()
	defer func() { close(stop); <-done }()
	s := httptest.NewServer(mux())
	defer s.Close()
	r, err := s.Client().Get(s.URL + "/debug/gander?seconds=0.1")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"request", "hash", "answer"} {
		if !strings.Contains(string(b), name) {
			t.Errorf("%q is not in the table:\n%s", name, b)
		}
	}
}
