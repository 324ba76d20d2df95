// Command service is a server that can be profiled while it runs.
//
//	go run ./examples/service &
//	curl 'http://127.0.0.1:6060/debug/gander?seconds=2'
//	open 'http://127.0.0.1:6060/debug/gander?seconds=2&format=html&sample=100'
//	curl 'http://127.0.0.1:6060/debug/gander?seconds=2&format=chrome' > trace.json.gz
//	go tool pprof 'http://127.0.0.1:6060/debug/gander?seconds=2&format=pprof'
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/httpprof"
	_ "github.com/gander-go/gander/profiler/report" // for format=html
)

func main() {
	log.SetFlags(0)
	addr := flag.String("addr", "127.0.0.1:6060", "where to listen; a profile is nobody else's business, so keep it on loopback")
	flag.Parse()
	go func() { // the service's work
		for {
			request([]byte(time.Now().String()))
		}
	}()
	server := http.Server{Addr: *addr, Handler: mux(), ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}

func mux() http.Handler {
	m := http.NewServeMux()
	m.Handle("/debug/gander", httpprof.Handler(httpprof.Options{}))
	return m
}

// request stands for what a service does: its spans cost two nanoseconds each while nobody profiles.
func request(body []byte) {
	defer profiler.Begin("request").End()
	sum := profiler.Value("hash", func() [32]byte {
		s := sha256.Sum256(body)
		for range 1000 {
			s = sha256.Sum256(s[:])
		}
		return s
	})
	profiler.Record("answer", func() {
		_ = fmt.Sprintf("%x", sum)
		time.Sleep(time.Millisecond)
	})
}
