package trace

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
)

// Decode reads a trace that Encode wrote. What it returns passes Validate, whatever it was given; memory stays within a
// small multiple of the input's size.
func Decode(r io.Reader) (*Trace, error) {
	d := decoder{in: bufio.NewReaderSize(r, 1<<16), sum: crc32.NewIEEE()}
	t, err := d.trace()
	if err != nil {
		return nil, fmt.Errorf("decoding trace: %w", err)
	}
	if err := t.Validate(); err != nil {
		return nil, fmt.Errorf("decoding trace: %w", err)
	}
	return t, nil
}

type decoder struct {
	in  *bufio.Reader
	sum hash.Hash32 // of what was read, up to the section that is being read
	buf bytes.Buffer
}

var errNotTrace = errors.New("this is no trace of Gander")

func (d *decoder) trace() (*Trace, error) {
	head := make([]byte, len(magic)+1)
	if _, err := io.ReadFull(d.in, head); err != nil || string(head[:len(magic)]) != magic {
		return nil, errNotTrace
	}
	if v := head[len(magic)]; v != version {
		return nil, fmt.Errorf("the file has version %d, this program reads version %d", v, version)
	}
	d.sum.Write(head)
	t := new(Trace)
	for {
		kind, payload, err := d.next()
		if err != nil {
			return nil, err
		}
		switch {
		case kind == kindEnd:
			if len(payload) != 4 || binary.LittleEndian.Uint32(payload) != d.sum.Sum32() {
				return nil, errors.New("the checksum does not match: the file is damaged")
			}
			return t, nil
		case kind >= numKinds:
			t.Problem("unknown-section", 1, "The file has a section that this version does not know.", "Use the version that wrote it.")
		default:
			w := wire{decoding: true, b: payload}
			if t.section(kind, &w, 0, 0); w.err == nil && w.left() > 0 {
				w.err = fmt.Errorf("%d bytes are left over", w.left())
			}
			if w.err != nil {
				return nil, fmt.Errorf("section of kind %d: %w", kind, w.err)
			}
		}
		d.pass(kind, payload)
	}
}

// next reads a section. Its payload is valid until the next call.
func (d *decoder) next() (byte, []byte, error) {
	kind, err := d.in.ReadByte()
	if err != nil {
		return 0, nil, fmt.Errorf("reading a section: %w", noEOF(err))
	}
	n, err := binary.ReadUvarint(d.in)
	if err != nil {
		return 0, nil, fmt.Errorf("reading a section's length: %w", noEOF(err))
	}
	if n > maxSection {
		return 0, nil, fmt.Errorf("a section of %d bytes is over the limit of %d", n, maxSection)
	}
	d.buf.Reset()
	if _, err := io.CopyN(&d.buf, d.in, int64(n)); err != nil {
		return 0, nil, fmt.Errorf("reading a section: %w", noEOF(err))
	}
	return kind, d.buf.Bytes(), nil
}

// pass adds a section to the checksum.
func (d *decoder) pass(kind byte, payload []byte) {
	d.sum.Write(binary.AppendUvarint([]byte{kind}, uint64(len(payload))))
	d.sum.Write(payload)
}

// noEOF makes an end of input in the middle of something an error of its own.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
