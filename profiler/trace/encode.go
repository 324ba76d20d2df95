package trace

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// Encode writes t in its file form; Decode reads it. It holds one block of rows at a time.
func Encode(w io.Writer, t *Trace) error {
	sum := crc32.NewIEEE()
	out := io.MultiWriter(w, sum)
	if _, err := out.Write(append([]byte(magic), version)); err != nil {
		return fmt.Errorf("encoding trace: %w", err)
	}
	var buf []byte
	for kind := byte(kindMeta); kind < numKinds; kind++ {
		for from, n := 0, t.rowsOf(kind); from < n; from += blockOf(kind) {
			c := wire{b: buf[:0]}
			t.section(kind, &c, from, min(n, from+blockOf(kind)))
			buf = c.b
			if len(buf) > maxSection {
				return fmt.Errorf("encoding trace: a section of kind %d has %d bytes, over the limit of %d", kind, len(buf), maxSection)
			}
			if err := writeSection(out, kind, buf); err != nil {
				return fmt.Errorf("encoding trace: %w", err)
			}
		}
	}
	if err := writeSection(w, kindEnd, binary.LittleEndian.AppendUint32(nil, sum.Sum32())); err != nil {
		return fmt.Errorf("encoding trace: %w", err)
	}
	return nil
}

// blockOf is the number of rows of one section: one where rows can be large.
func blockOf(kind byte) int {
	if kind == kindCounters || kind == kindAttachments {
		return 1
	}
	return blockRows
}

func writeSection(w io.Writer, kind byte, payload []byte) error {
	if _, err := w.Write(binary.AppendUvarint([]byte{kind}, uint64(len(payload)))); err != nil {
		return err
	}
	_, err := w.Write(payload)
	return err
}
