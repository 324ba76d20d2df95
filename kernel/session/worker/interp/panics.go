package interp

import (
	"reflect"
	"strings"
)

// runtimeError is what Go's own run-time errors look like: yaegi raises reflect's instead.
type runtimeError string

func (e runtimeError) Error() string { return "runtime error: " + string(e) }

// RuntimeError makes it a runtime.Error.
func (runtimeError) RuntimeError() {}

// goValue is the value that compiled code would have panicked with.
func goValue(p any) any {
	var text string
	switch v := p.(type) {
	case *reflect.ValueError:
		text = v.Error()
	case string:
		text = v
	default:
		return p
	}
	switch {
	case text == "reflect: slice index out of range", text == "reflect: array index out of range", text == "reflect: string index out of range":
		return runtimeError("index out of range")
	case strings.HasPrefix(text, "reflect.Value.Slice"), strings.HasPrefix(text, "reflect.Value.Slice3"):
		return runtimeError("slice bounds out of range")
	case strings.HasPrefix(text, "reflect: call of reflect.Value.") && strings.HasSuffix(text, " on zero Value"),
		text == "reflect: Method on nil interface value", text == "reflect: Call using zero Value argument",
		text == "reflect.Value.Call: call of nil function", text == "reflect: call of nil function", strings.Contains(text, "nil pointer"):
		return runtimeError("invalid memory address or nil pointer dereference")
	}
	return p
}
