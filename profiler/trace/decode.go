package trace

import (
	"errors"
	"io"
)

// Decode reads a trace that Encode wrote. The trace passes Validate.
func Decode(r io.Reader) (*Trace, error) { return nil, errors.New("decoding trace: not there yet") }
