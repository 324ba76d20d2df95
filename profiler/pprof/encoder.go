package pprof

import "encoding/binary"

// message is an encoded protocol buffer that grows; its methods append a field and return it.
type message []byte

func (m message) varint(v uint64) message { return binary.AppendUvarint(m, v) }

// uint appends field n with a number; zero is the default and not written.
func (m message) uint(n int, v uint64) message {
	if v == 0 {
		return m
	}
	return m.varint(uint64(n) << 3).varint(v)
}

// bytes appends field n with a length: a string, a message, or packed numbers.
func (m message) bytes(n int, b []byte) message {
	return append(m.varint(uint64(n)<<3|2).varint(uint64(len(b))), b...)
}

// encoder is a Profile message in the making with its string table.
type encoder struct {
	out     message
	strings map[string]uint64
	list    []string
}

func (e *encoder) message(n int, m message) { e.out = e.out.bytes(n, m) }

func (e *encoder) string(s string) uint64 {
	id, ok := e.strings[s]
	if !ok {
		id = uint64(len(e.list))
		e.strings[s] = id
		e.list = append(e.list, s)
	}
	return id
}

func (e *encoder) valueType(c column) message {
	return message(nil).uint(1, e.string(c.name)).uint(2, e.string(c.unit))
}
