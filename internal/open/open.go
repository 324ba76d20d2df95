// Package open turns any file that Gander can show into a trace.Trace, choosing the reader by content, never by name.
//
// Only the front process links it: it brings the faster decompressors and the reference parsers of profiles and execution
// traces. Its invariant is that a file it refuses is named for what it is, with what to do instead.
package open

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/gander-go/gander/profiler/gotrace"
	"github.com/gander-go/gander/profiler/kineto"
	"github.com/gander-go/gander/profiler/trace"
)

// Options steer File and Reader.
type Options struct {
	Kineto kineto.ReadOptions
	GoExec gotrace.Options
	// Progress, when set, is called with the number of bytes read from the file and its size (0 when unknown), from
	// another goroutine than the caller's.
	Progress func(read, size int64)
}

// File reads the trace or profile at path.
func File(path string, opt Options) (*trace.Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening trace: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("opening trace: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("opening trace: %q is a folder; name a file, or look at the folder with gander serve", path)
	}
	var r io.Reader = f
	if opt.Progress != nil {
		r = &counted{r: f, size: info.Size(), tell: opt.Progress}
	}
	return Reader(r, path, opt)
}

// Reader reads a trace or profile from r; name is used in messages only.
func Reader(r io.Reader, name string, opt Options) (*trace.Trace, error) {
	t, err := read(r, opt, 0)
	if err != nil {
		return nil, fmt.Errorf("opening trace %q: %w", name, err)
	}
	return t, nil
}

// counted tells how much has been read.
type counted struct {
	r          io.Reader
	read, size int64
	tell       func(read, size int64)
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.read += int64(n)
	c.tell(c.read, c.size)
	return n, err
}

// maxLayers bounds compression inside compression, of which one layer is usual and two are seen.
const maxLayers = 3

func read(r io.Reader, opt Options, layer int) (*trace.Trace, error) {
	b := bufio.NewReaderSize(r, 128<<10)
	head, err := b.Peek(headBytes)
	if err != nil && err != io.EOF && len(head) == 0 {
		return nil, err
	}
	switch kind := sniff(head); kind {
	case kindGzip, kindZstd:
		if layer == maxLayers {
			return nil, errors.New("it is compressed more often than anybody means to")
		}
		if kind == kindZstd {
			z, err := zstd.NewReader(b, zstd.WithDecoderMaxMemory(256<<20))
			if err != nil {
				return nil, err
			}
			defer z.Close()
			return read(z, opt, layer+1)
		}
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("the gzip header is damaged: %w", err)
		}
		return read(z, opt, layer+1)
	case kindJSON:
		return kineto.Read(b, opt.Kineto)
	case kindGander:
		t, err := trace.Decode(b)
		if err != nil {
			return nil, err
		}
		gotrace.MergeAttachments(t, opt.GoExec)
		return t, nil
	case kindGoTrace:
		return gotrace.Read(b, opt.GoExec)
	case kindProfile:
		t, err := readProfile(b)
		if err != nil && !isNamedProfile(head) { // fields that fit by chance
			return nil, fmt.Errorf("unknown format or a damaged profile (%w); Gander reads %s", err, supported)
		}
		return t, err
	case kindUnknown:
		return nil, fmt.Errorf("unknown format, it begins with %q; Gander reads %s", head[:min(len(head), 24)], supported)
	default:
		return nil, errors.New(refusals[kind])
	}
}

const supported = "PyTorch and Chrome traces (.json, .json.gz), profiles of go tool pprof, Go execution traces and its own traces"
