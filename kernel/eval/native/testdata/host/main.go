// Host is the least session process that can run compiled cells: it reads one JSON request a line from standard input and
// answers on file 3. What cells print goes to its standard output.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"plugin"
	"time"

	"github.com/gander-go/gander/kernel/session/rt"
)

type request struct {
	Plugin, Entry string
	Interrupt     time.Duration // after which the run is interrupted; 0: never
	Spans         bool
}

type reply struct {
	Load, Err, Stack string
	Interrupted      bool
	Shown            []string
	Spans            []string
	Vars             []string
	Open, Run        time.Duration
}

type recorder struct{ list []string }

func (r *recorder) Args() bool { return true }
func (r *recorder) Begin(name string, args []any) uint64 {
	r.list = append(r.list, fmt.Sprint(name, args))
	return uint64(len(r.list))
}
func (r *recorder) End(name string, token uint64) { r.list = append(r.list, "end "+name) }

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.NewFile(3, "replies"))
	panics := make(chan *rt.Failure, 100)
	rt.OnGoroutinePanic(func(run int64, f *rt.Failure) {
		panics <- f
		rt.Interrupt(run)
	})
	for n := int64(1); in.Scan(); n++ {
		var q request
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			panic(err)
		}
		out.Encode(run(n, q, panics))
	}
}

func run(n int64, q request, panics chan *rt.Failure) (r reply) {
	t := time.Now()
	if q.Interrupt > 0 {
		defer time.AfterFunc(q.Interrupt, func() { rt.Interrupt(n) }).Stop()
	}
	rec := &recorder{}
	if q.Spans {
		rt.SetSpans(rec)
		defer rt.SetSpans(nil)
	}
	f := rt.Do(n, func() {
		p, err := plugin.Open(q.Plugin)
		if err != nil {
			r.Load = err.Error()
			return
		}
		s, err := p.Lookup(q.Entry)
		if err != nil {
			r.Load = err.Error()
			return
		}
		r.Open = time.Since(t)
		t = time.Now()
		s.(func())()
	})
	r.Run = time.Since(t)
	rt.Resume()
	select {
	case f = <-panics:
	default:
	}
	if f != nil {
		r.Err, r.Stack, r.Interrupted = f.Message(), f.Stack, f.Interrupted()
		if f.Exited {
			r.Err = "exited"
		}
	}
	if v, ok := rt.TakeShown(); ok {
		for _, x := range v {
			r.Shown = append(r.Shown, fmt.Sprintf("%v", x))
		}
	}
	r.Spans = rec.list
	for _, v := range rt.Variables() {
		r.Vars = append(r.Vars, v.Name+" "+v.Type.String())
	}
	return r
}
