package kineto

import (
	"math"
	"testing"
)

func TestNanoseconds(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"1", 1000, true}, {"1.5", 1500, true}, {"1.234", 1234, true}, {"1.2345", 1235, true}, {"1.2344", 1234, true},
		{"1712195495406752.797", 1712195495406752797, true}, // what a float64 would round to 1712195495406752768
		{"-3.25", -3250, true}, {"-1.-500", -1500, true}, {"0.-660", -660, true}, {`"12.5"`, 12500, true}, {"+7", 7000, true},
		{"1e3", 1_000_000, true}, {"1.707417525509335e+15", 1707417525509335000, true}, {"5E-3", 5, true}, {"12e-9", 0, true},
		{".5", 500, true}, {"5.", 5000, true}, {"00012", 12000, true},
		{"9223372036854775.807", math.MaxInt64, true}, {"9223372036854775.808", math.MaxInt64, true}, {"-99999999999999999999999999", -math.MaxInt64, true},
		{"1e400", math.MaxInt64, true}, {"0e999", 0, true}, {"1e-400", 0, true}, {"0.00000000000000000000000000001", 0, true},
		{"123456789012345678901234567890e-20", 1234567890123, true},
		{"", 0, false}, {"-", 0, false}, {".", 0, false}, {"NaN", 0, false}, {"Infinity", 0, false}, {"100a", 0, false}, {`"a"`, 0, false},
		{"1e", 0, false}, {"1e99999", 0, false}, {"1 2", 0, false}, {"0x10", 0, false}, {"null", 0, false}, {`""`, 0, false}, {"1.2.3", 0, false},
	} {
		got, ok := nanoseconds([]byte(c.in))
		if got != c.want || ok != c.ok {
			t.Errorf("nanoseconds(%s) = %d, %v, want %d, %v", c.in, got, ok, c.want, c.ok)
		}
	}
}

func TestMicrosecondsAreExact(t *testing.T) {
	for _, ns := range []int64{0, 1, 999, 1000, 1001, -1, -999, -1000, -1500, 1712195495406752797, math.MaxInt64, math.MinInt64 + 1} {
		text := microseconds(nil, ns)
		if got, ok := nanoseconds(text); !ok || got != ns {
			t.Errorf("%d is written as %s and read as %d", ns, text, got)
		}
	}
}

func TestInteger(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"-5", -5, true}, {`"3239786240"`, 3239786240, true}, {"9223372036854775807", math.MaxInt64, true},
		{"10159970886766084423", -8286773186943467193, true}, // wraps, as ids of 64 bits do
		{"-9223372036854775808", math.MinInt64, true}, {"7.0", 7, true}, {"1e3", 1000, true},
		{"18446744073709551616", 0, false}, {"7.5", 0, false}, {"", 0, false}, {"-", 0, false}, {"x", 0, false}, {"NaN", 0, false}, {"1e300", 0, false},
	} {
		if got, ok := integer([]byte(c.in)); got != c.want || ok != c.ok {
			t.Errorf("integer(%s) = %d, %v, want %d, %v", c.in, got, ok, c.want, c.ok)
		}
	}
}

func TestIdentifier(t *testing.T) {
	if a, b := identifier([]byte(`"0x1f"`)), identifier([]byte("31")); a != 31 || b != 31 {
		t.Errorf("hexadecimal %d, decimal %d", a, b)
	}
	if a, b := identifier([]byte(`"flow1"`)), identifier([]byte(`"flow2"`)); a == b || a != identifier([]byte(`"flow1"`)) {
		t.Error("strings must keep their identity")
	}
}

func TestTriple(t *testing.T) {
	if v, ok := triple([]byte("[8944, 1,2]")); !ok || v != [3]int32{8944, 1, 2} {
		t.Errorf("%v, %v", v, ok)
	}
	for _, bad := range []string{"", "[", "[]", "[1,2]", "[1,2,3,4]", "[1,2,x]", "[1,2,99999999999]", "[1 2 3]", `"[1,2,3]"`, "[1,2,3"} {
		if _, ok := triple([]byte(bad)); ok {
			t.Errorf("%s is taken for three numbers", bad)
		}
	}
}
