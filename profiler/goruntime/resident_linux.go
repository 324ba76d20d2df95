package goruntime

import (
	"fmt"
	"os"
)

// residentSize reads the resident set size of the process.
type residentSize struct {
	file *os.File
	page float64
	buf  [128]byte
}

func openResidentSize() (*residentSize, error) {
	f, err := os.Open("/proc/self/statm")
	if err != nil {
		return nil, fmt.Errorf("opening statm: %w", err)
	}
	return &residentSize{file: f, page: float64(os.Getpagesize())}, nil
}

// read returns bytes, 0 when the kernel does not say. The file's second number is the resident size in pages.
func (r *residentSize) read() float64 {
	n, err := r.file.ReadAt(r.buf[:], 0)
	if n == 0 && err != nil {
		return 0
	}
	field, pages := 0, 0.0
	for _, c := range r.buf[:n] {
		switch {
		case c == ' ':
			if field++; field == 2 {
				return pages * r.page
			}
		case field == 1 && c >= '0' && c <= '9':
			pages = pages*10 + float64(c-'0')
		}
	}
	return 0
}

func (r *residentSize) close() { r.file.Close() }
