package goruntime

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
)

// rateComplaint is what the runtime prints to file descriptor 2 when a profile starts after the rate was set, as
// SetCPUProfileRate's documentation recommends for other rates than 100.
const rateComplaint = "runtime: cannot set cpu profile rate until previous profile has finished.\n"

// withRate calls start with the sampling rate set to hz and swallows the runtime's complaint about it.
//
// For the duration of the call file descriptor 2 is a pipe; what anything else wrote there is passed on, in order and
// after it.
func withRate(hz int, start func() error) error {
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("setting the sampling rate: %w", err)
	}
	defer r.Close()
	saved, err := syscall.Dup(2)
	if err != nil {
		w.Close()
		return fmt.Errorf("setting the sampling rate: %w", err)
	}
	defer syscall.Close(saved)
	syscall.CloseOnExec(saved)
	if err := syscall.Dup3(int(w.Fd()), 2, 0); err != nil {
		w.Close()
		return fmt.Errorf("setting the sampling rate: %w", err)
	}
	runtime.SetCPUProfileRate(hz)
	err = start()
	if err != nil {
		runtime.SetCPUProfileRate(0)
	}
	restored := syscall.Dup3(saved, 2, 0)
	w.Close()
	if restored != nil {
		return fmt.Errorf("restoring standard error: %w", restored)
	}
	said, _ := io.ReadAll(r)
	if rest := bytes.Replace(said, []byte(rateComplaint), nil, 1); len(rest) > 0 {
		syscall.Write(2, rest)
	}
	return err
}
