package goruntime

import (
	"encoding/binary"
	"errors"
)

// profile is what is needed of a profile.proto message written by this process's runtime; package profiler/pprof reads
// those of strangers.
type profile struct {
	samples   []protoSample
	locations map[uint64][]protoLine // innermost first
	functions map[uint64]protoFunction
	strings   []string
}

type protoSample struct {
	locations []uint64 // innermost first
	values    []int64
	labels    []protoLabel
}

type (
	protoLabel    struct{ key, value uint64 }
	protoLine     struct{ function, line uint64 }
	protoFunction struct{ name, file uint64 }
)

func (p *profile) text(i uint64) string {
	if i >= uint64(len(p.strings)) {
		return ""
	}
	return p.strings[i]
}

var errProfile = errors.New("the profile is damaged")

// Field numbers of profile.proto.
const (
	profileSample, profileLocation, profileFunction, profileString = 2, 4, 5, 6

	sampleLocation, sampleValue, sampleLabel = 1, 2, 3
	labelKey, labelText                      = 1, 2
	locationID, locationLine                 = 1, 4
	lineFunction, lineNumber                 = 1, 2
	functionID, functionName, functionFile   = 1, 2, 4
)

// parseProfile decodes a message that is not compressed.
func parseProfile(data []byte) (*profile, error) {
	p := &profile{locations: make(map[uint64][]protoLine), functions: make(map[uint64]protoFunction)}
	err := fields(data, func(field int, _ uint64, b []byte) error {
		switch field {
		case profileSample:
			return p.sample(b)
		case profileLocation:
			return p.location(b)
		case profileFunction:
			var id uint64
			var f protoFunction
			err := fields(b, func(field int, v uint64, _ []byte) error {
				switch field {
				case functionID:
					id = v
				case functionName:
					f.name = v
				case functionFile:
					f.file = v
				}
				return nil
			})
			p.functions[id] = f
			return err
		case profileString:
			p.strings = append(p.strings, string(b))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (p *profile) sample(b []byte) error {
	var s protoSample
	err := fields(b, func(field int, v uint64, b []byte) error {
		switch field {
		case sampleLocation:
			return numbers(v, b, func(v uint64) { s.locations = append(s.locations, v) })
		case sampleValue:
			return numbers(v, b, func(v uint64) { s.values = append(s.values, int64(v)) })
		case sampleLabel:
			var l protoLabel
			err := fields(b, func(field int, v uint64, _ []byte) error {
				switch field {
				case labelKey:
					l.key = v
				case labelText:
					l.value = v
				}
				return nil
			})
			s.labels = append(s.labels, l)
			return err
		}
		return nil
	})
	p.samples = append(p.samples, s)
	return err
}

func (p *profile) location(b []byte) error {
	var id uint64
	var lines []protoLine
	err := fields(b, func(field int, v uint64, b []byte) error {
		switch field {
		case locationID:
			id = v
		case locationLine:
			var l protoLine
			err := fields(b, func(field int, v uint64, _ []byte) error {
				switch field {
				case lineFunction:
					l.function = v
				case lineNumber:
					l.line = v
				}
				return nil
			})
			lines = append(lines, l)
			return err
		}
		return nil
	})
	p.locations[id] = lines
	return err
}

// fields calls f for each field of a message: with its value when it is a varint, with its bytes when it has a length.
func fields(b []byte, f func(field int, v uint64, b []byte) error) error {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 || key>>3 > 1<<29 {
			return errProfile
		}
		b = b[n:]
		var v uint64
		var body []byte
		switch key & 7 {
		case 0:
			if v, n = binary.Uvarint(b); n <= 0 {
				return errProfile
			}
			b = b[n:]
		case 1, 5:
			size := 8
			if key&7 == 5 {
				size = 4
			}
			if len(b) < size {
				return errProfile
			}
			b = b[size:]
		case 2:
			size, n := binary.Uvarint(b)
			if n <= 0 || size > uint64(len(b)-n) {
				return errProfile
			}
			body, b = b[n:n+int(size)], b[n+int(size):]
		default:
			return errProfile
		}
		if err := f(int(key>>3), v, body); err != nil {
			return err
		}
	}
	return nil
}

// numbers calls f for each number of a repeated field, which is packed when it has bytes.
func numbers(v uint64, b []byte, f func(uint64)) error {
	if b == nil {
		f(v)
		return nil
	}
	for len(b) > 0 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return errProfile
		}
		f(v)
		b = b[n:]
	}
	return nil
}
