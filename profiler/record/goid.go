package record

import (
	"bytes"
	"runtime"
	"strconv"

	"github.com/petermattis/goid"
)

// fastID says whether goid.Get, which reads a field of the runtime's g by its offset, agrees with what the runtime
// prints. It is checked once on two goroutines, so that a Go version with another layout is slow and not wrong.
var fastID = checkID()

func checkID() bool {
	if goid.Get() != slowID() {
		return false
	}
	other := make(chan bool)
	go func() { other <- goid.Get() == slowID() }()
	return <-other
}

// goroutine returns the id of the calling goroutine.
func goroutine() int64 {
	if fastID {
		return goid.Get()
	}
	return slowID()
}

// slowID parses the first line of the goroutine's own stack trace, "goroutine 18 [running]:".
func slowID() int64 {
	var buf [40]byte
	b := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	if i := bytes.IndexByte(b, ' '); i >= 0 {
		b = b[:i]
	}
	id, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return 0
	}
	return id
}
