package kineto

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
)

// input reads the text, decompressed, up to its limit.
type input struct {
	r        io.Reader
	left     int64
	seen     int64
	progress func(int64)
	err      error // other than io.EOF
	limited  bool
}

// newInput recognises gzip by its magic number and passes over a byte order mark.
func newInput(r io.Reader, opt *ReadOptions) (*input, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	head, _ := b.Peek(2)
	in := &input{r: b, left: opt.MaxInputBytes, progress: opt.Progress}
	if len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, err
		}
		b = bufio.NewReaderSize(z, 64<<10)
		in.r = b
	}
	if head, _ := b.Peek(3); bytes.Equal(head, []byte("\xef\xbb\xbf")) {
		_, _ = b.Discard(3)
	}
	return in, nil
}

// more appends up to n bytes to b; false when there are none.
func (in *input) more(b []byte, n int) ([]byte, bool) {
	if in.err != nil || in.limited {
		return b, false
	}
	from := len(b)
	if cap(b)-from < n {
		b = append(make([]byte, 0, max(2*cap(b), from+n)), b...)
	}
	for len(b) < from+n {
		k, err := in.r.Read(b[len(b) : from+n])
		b = b[:len(b)+k]
		if err != nil {
			if err != io.EOF {
				in.err = err
			}
			in.r = eof{}
			break
		}
	}
	got := int64(len(b) - from)
	if got > in.left {
		b = b[:from+int(in.left)]
		got, in.limited = in.left, true
	}
	in.left -= got
	in.seen += got
	if in.progress != nil {
		in.progress(in.seen)
	}
	return b, got > 0
}

// eof is an input that has ended.
type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }
