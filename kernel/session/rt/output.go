package rt

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

// Stdout is where cells' fmt.Print, fmt.Println and fmt.Printf write, Stderr where println and print do. They are os.Stdout and
// os.Stderr, by a shorter way while the session process has set a writer and the user has not replaced the files.
var (
	Stdout io.Writer = stream{0}
	Stderr io.Writer = stream{1}
)

var (
	files   = [2]*os.File{os.Stdout, os.Stderr}
	writers [2]atomic.Pointer[func(run int64, p []byte)]
)

// SetWriter sets what receives the text of stream fd (1 or 2), in order; nil for the file. write must not keep p.
func SetWriter(fd int, write func(run int64, p []byte)) {
	if write == nil {
		writers[fd-1].Store(nil)
		return
	}
	writers[fd-1].Store(&write)
}

type stream struct{ i int }

func (s stream) Write(p []byte) (int, error) {
	n := len(p)
	p = PlainNames(p)
	f := os.Stdout
	if s.i == 1 {
		f = os.Stderr
	}
	if w := writers[s.i].Load(); w != nil && f == files[s.i] {
		(*w)(Current(), p)
		return n, nil
	}
	if w, err := f.Write(p); err != nil {
		return min(w, n), err
	}
	return n, nil
}

// Print is fmt.Print to Stdout.
func Print(a ...any) (n int, err error) { return fmt.Fprint(Stdout, a...) }

// Println is fmt.Println to Stdout.
func Println(a ...any) (n int, err error) { return fmt.Fprintln(Stdout, a...) }

// Printf is fmt.Printf to Stdout.
func Printf(format string, a ...any) (n int, err error) { return fmt.Fprintf(Stdout, format, a...) }

// Sprint is fmt.Sprint with the names of types as a program has them.
func Sprint(a ...any) string { return PlainText(fmt.Sprint(a...)) }

// Sprintln is fmt.Sprintln likewise.
func Sprintln(a ...any) string { return PlainText(fmt.Sprintln(a...)) }

// Sprintf is fmt.Sprintf likewise.
func Sprintf(format string, a ...any) string { return PlainText(fmt.Sprintf(format, a...)) }

var shown atomic.Pointer[[]any]

// Show records the values of a cell's trailing expression.
func Show(v ...any) {
	if left.n.Load() > 0 && isLeft(Current()) {
		return
	}
	shown.Store(&v)
}

// TakeShown returns what Show recorded since the last call; ok is false when there is nothing.
func TakeShown() (v []any, ok bool) {
	p := shown.Swap(nil)
	if p == nil {
		return nil, false
	}
	return *p, true
}

// Discard drops the values of a trailing expression that is not to be shown.
func Discard(v ...any) {}
