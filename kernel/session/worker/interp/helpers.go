package interp

import (
	"fmt"
	"math"
	"reflect"
)

// helpers are functions that lowered code calls instead of what yaegi gets wrong, or says wrong when it fails.
var helpers = map[string]reflect.Value{
	"IsNil":       reflect.ValueOf(isNil),
	"NoValue":     reflect.ValueOf(func(x any) bool { return x == nil }),
	"Truth":       reflect.ValueOf(func(x bool) bool { return x }),
	"Equal":       reflect.ValueOf(func(x, y any) bool { return x == y }),
	"Index":       reflect.ValueOf(index),
	"BoundsLen":   reflect.ValueOf(func(low, high, n int) int { return bounds(low, high, n, "length") }),
	"BoundsCap":   reflect.ValueOf(func(low, high, n int) int { return bounds(low, high, n, "capacity") }),
	"Upper":       reflect.ValueOf(upper),
	"Count":       reflect.ValueOf(func(n uint64) uint { return uint(min(n, maxCount)) }),
	"SignedCount": reflect.ValueOf(signedCount),
	"Chars":       reflect.ValueOf(chars),
	"Rune":        reflect.ValueOf(char),
	"Clear":       reflect.ValueOf(func(x any) { reflect.ValueOf(x).Clear() }),
}

// isNil compares a value with nil that is no interface.
func isNil(x any) bool {
	v := reflect.ValueOf(x)
	return !v.IsValid() || v.IsNil()
}

// index is i when it is an index of something of length n.
func index(i, n int) int {
	if uint(i) >= uint(n) {
		if i < 0 {
			panic(runtimeError(fmt.Sprintf("index out of range [%d]", i)))
		}
		panic(runtimeError(fmt.Sprintf("index out of range [%d] with length %d", i, n)))
	}
	return i
}

// bounds is low when low and high are bounds of a slice of something that ends at n.
func bounds(low, high, n int, what string) int {
	switch {
	case high < 0:
		panic(runtimeError(fmt.Sprintf("slice bounds out of range [:%d]", high)))
	case high > n:
		panic(runtimeError(fmt.Sprintf("slice bounds out of range [:%d] with %s %d", high, what, n)))
	case low < 0:
		panic(runtimeError(fmt.Sprintf("slice bounds out of range [%d:]", low)))
	case low > high:
		panic(runtimeError(fmt.Sprintf("slice bounds out of range [%d:%d]", low, high)))
	}
	return low
}

// upper is an upper bound that is not the one for none, -1.
func upper(n int) int {
	if n < 0 {
		panic(runtimeError(fmt.Sprintf("slice bounds out of range [:%d]", n)))
	}
	return n
}

// maxCount shifts every bit out.
const maxCount = 1 << 10

func signedCount(n int64) uint {
	if n < 0 {
		panic(runtimeError("negative shift amount"))
	}
	return uint(min(n, maxCount))
}

// chars are the characters of a string and where they begin.
func chars(s string) (offsets []int, runes []rune) {
	for i, r := range s {
		offsets, runes = append(offsets, i), append(runes, r)
	}
	return offsets, runes
}

// char is string(n) for an integer n.
func char(n int64) string {
	if n < 0 || n > math.MaxInt32 {
		return "\uFFFD"
	}
	return string(rune(n))
}

// typed makes a function for a type: A asserts, C asserts and says whether it holds, I only says so, S stores,
// Z stores zero, X indexes, Y slices, M and N make (N with a capacity), O is zero, U is an interface's value as an any, J the reverse, B is min or max.
func typed(kind string, t reflect.Type, note string) reflect.Value {
	empty, truth := reflect.TypeFor[any](), reflect.TypeFor[bool]()
	switch kind {
	case "A":
		f := reflect.FuncOf([]reflect.Type{empty}, []reflect.Type{t}, false)
		return reflect.MakeFunc(f, func(in []reflect.Value) []reflect.Value {
			v, ok := asserted(in[0].Elem(), t)
			if !ok {
				panic(assertionError(in[0].Elem(), t, note))
			}
			return []reflect.Value{v}
		})
	case "C":
		f := reflect.FuncOf([]reflect.Type{empty}, []reflect.Type{t, truth}, false)
		return reflect.MakeFunc(f, func(in []reflect.Value) []reflect.Value {
			v, ok := asserted(in[0].Elem(), t)
			return []reflect.Value{v, reflect.ValueOf(ok)}
		})
	case "I":
		return reflect.ValueOf(func(x any) bool {
			_, ok := asserted(reflect.ValueOf(x), t)
			return ok
		})
	case "O":
		f := reflect.FuncOf(nil, []reflect.Type{t}, false)
		return reflect.MakeFunc(f, func([]reflect.Value) []reflect.Value { return []reflect.Value{reflect.Zero(t)} })
	case "U":
		f := reflect.FuncOf([]reflect.Type{t}, []reflect.Type{empty}, false)
		return reflect.MakeFunc(f, func(in []reflect.Value) []reflect.Value { return []reflect.Value{in[0].Convert(empty)} })
	case "J":
		f := reflect.FuncOf([]reflect.Type{empty}, []reflect.Type{t}, false)
		return reflect.MakeFunc(f, func(in []reflect.Value) []reflect.Value {
			v, _ := asserted(in[0].Elem(), t)
			return []reflect.Value{v}
		})
	case "X":
		elem := reflect.TypeFor[uint8]()
		if t.Kind() != reflect.String {
			elem = t.Elem()
		}
		f := reflect.FuncOf([]reflect.Type{t, reflect.TypeFor[int]()}, []reflect.Type{elem}, false)
		return reflect.MakeFunc(f, func(in []reflect.Value) []reflect.Value {
			return []reflect.Value{in[0].Index(index(int(in[1].Int()), in[0].Len()))}
		})
	case "Y":
		n, what := reflect.Value.Cap, "capacity"
		if t.Kind() == reflect.String {
			n, what = reflect.Value.Len, "length"
		}
		number := reflect.TypeFor[int]()
		f := reflect.FuncOf([]reflect.Type{t, number, number}, []reflect.Type{t}, false)
		return reflect.MakeFunc(f, func(in []reflect.Value) []reflect.Value {
			low, high := int(in[1].Int()), int(in[2].Int())
			if high == -1 {
				high = in[0].Len()
			}
			return []reflect.Value{in[0].Slice(bounds(low, high, n(in[0]), what), high)}
		})
	case "M", "N":
		number := reflect.TypeFor[int]()
		f := reflect.FuncOf([]reflect.Type{number, number}, []reflect.Type{t}, false)
		return reflect.MakeFunc(f, func(in []reflect.Value) []reflect.Value {
			size, capacity := int(in[0].Int()), int(in[1].Int())
			if kind == "M" {
				capacity = size
			}
			checkSize(size, capacity, t.Elem().Size())
			return []reflect.Value{reflect.MakeSlice(t, size, capacity)}
		})
	case "S":
		f := reflect.FuncOf([]reflect.Type{reflect.PointerTo(t), t}, nil, false)
		return reflect.MakeFunc(f, func(in []reflect.Value) []reflect.Value {
			in[0].Elem().Set(in[1])
			return nil
		})
	case "Z":
		f := reflect.FuncOf([]reflect.Type{reflect.PointerTo(t)}, nil, false)
		return reflect.MakeFunc(f, func(in []reflect.Value) []reflect.Value {
			in[0].Elem().SetZero()
			return nil
		})
	case "B":
		f := reflect.FuncOf([]reflect.Type{reflect.SliceOf(t)}, []reflect.Type{t}, true)
		return reflect.MakeFunc(f, func(in []reflect.Value) []reflect.Value {
			r := in[0].Index(0)
			for i := 1; i < in[0].Len(); i++ {
				r = extreme(r, in[0].Index(i), note == "max")
			}
			return []reflect.Value{r}
		})
	}
	return reflect.Value{}
}

// checkSize fails as make does for a slice that is too large, of elements of size bytes.
func checkSize(n, capacity int, size uintptr) {
	fits := func(n int) bool { return n >= 0 && (size == 0 || uintptr(n) <= maxAlloc/size) }
	switch {
	case fits(capacity) && n >= 0 && n <= capacity:
	case !fits(n):
		panic(runtimeError("makeslice: len out of range"))
	default:
		panic(runtimeError("makeslice: cap out of range"))
	}
}

// maxAlloc is what the runtime can allocate at once.
const maxAlloc = 1 << 48

// asserted is the dynamic value v as a t; v is the zero Value for nil.
func asserted(v reflect.Value, t reflect.Type) (r reflect.Value, ok bool) {
	r = reflect.New(t).Elem()
	switch {
	case !v.IsValid():
		return r, false
	case t.Kind() == reflect.Interface:
		ok = v.Type().Implements(t)
	default:
		ok = v.Type() == t
	}
	if ok {
		r.Set(v)
	}
	return r, ok
}

// assertionError says what Go says of an assertion of a value of the interface type static that fails.
func assertionError(v reflect.Value, t reflect.Type, static string) runtimePanic {
	switch {
	case !v.IsValid() && t.Kind() == reflect.Interface:
		return runtimePanic("interface conversion: interface is nil, not " + t.String())
	case !v.IsValid():
		return runtimePanic("interface conversion: " + static + " is nil, not " + t.String())
	case t.Kind() == reflect.Interface:
		for i := range t.NumMethod() {
			if _, ok := v.Type().MethodByName(t.Method(i).Name); !ok {
				return runtimePanic("interface conversion: " + v.Type().String() + " is not " + t.String() + ": missing method " + t.Method(i).Name)
			}
		}
	}
	return runtimePanic("interface conversion: " + static + " is " + v.Type().String() + ", not " + t.String())
}

// runtimePanic is a runtime.Error whose text does not begin with "runtime error".
type runtimePanic string

func (e runtimePanic) Error() string { return string(e) }

// RuntimeError makes it a runtime.Error.
func (runtimePanic) RuntimeError() {}

// extreme is the greater or the smaller of two basic values of one type, with what Go says of NaN and negative zero.
func extreme(x, y reflect.Value, greater bool) reflect.Value {
	var less bool
	switch {
	case x.CanInt():
		less = x.Int() < y.Int()
	case x.CanUint():
		less = x.Uint() < y.Uint()
	case x.CanFloat():
		a, b := x.Float(), y.Float()
		switch {
		case math.IsNaN(a):
			return x
		case math.IsNaN(b):
			return y
		case a == b:
			less = math.Signbit(a) && !math.Signbit(b)
		default:
			less = a < b
		}
	default:
		less = x.String() < y.String()
	}
	if less == greater {
		return y
	}
	return x
}
