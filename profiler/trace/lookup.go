package trace

import "strconv"

// Name returns the name of slice s.
func (t *Trace) Name(s *Slice) string { return t.Strings.Get(s.Name) }

// Class returns the part that slice s plays.
func (t *Trace) Class(s *Slice) Class { return t.Categories[s.Cat].Class }

// Category returns the id of the category called name, adding it with class when it is new.
func (t *Trace) Category(name string, class Class) CategoryID {
	if len(t.Categories) == 0 {
		t.Categories = append(t.Categories, Category{})
	}
	for i := range t.Categories {
		if t.Categories[i].Name == name && t.Categories[i].Class == class {
			return CategoryID(i)
		}
	}
	t.Categories = append(t.Categories, Category{name, class})
	return CategoryID(len(t.Categories) - 1)
}

// Problem adds n to the problem of that kind, creating it with text and remedy when it is new.
func (t *Trace) Problem(kind string, n int64, text, remedy string) {
	for i := range t.Problems {
		if t.Problems[i].Kind == kind {
			t.Problems[i].Count += n
			return
		}
	}
	t.Problems = append(t.Problems, Problem{kind, n, text, remedy})
}

// OnDevice reports whether work of class c runs on a device rather than on the host.
func (c Class) OnDevice() bool {
	return c == ClassKernel || c == ClassMemcpy || c == ClassMemset || c == ClassDeviceAnnotation
}

// DeviceWork reports whether class c is work that keeps a device busy: kernels, copies and sets, not annotations.
func (c Class) DeviceWork() bool { return c == ClassKernel || c == ClassMemcpy || c == ClassMemset }

// MonotonicZero is the key in Meta.Values of what the kernel's CLOCK_MONOTONIC read at time zero, in ns: recordings of
// other processes on the same machine are placed by it.
const MonotonicZero = "monotonic_zero_ns"

// MonoZero returns what CLOCK_MONOTONIC read at time zero, 0 when unknown.
func (t *Trace) MonoZero() int64 {
	for _, v := range t.Meta.Values {
		if v.Key == MonotonicZero {
			n, err := strconv.ParseInt(v.Value, 10, 64)
			if err != nil {
				return 0
			}
			return n
		}
	}
	return 0
}
