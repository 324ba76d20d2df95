package rt

import "testing"

// TestRevert takes back what a failed run has made of names.
func TestRevert(t *testing.T) {
	defer Prepare(nil, nil, nil)
	defer Forget("r1")
	defer Forget("r2")
	*Define[int]("r1") = 5
	DeclareFunc("r2", func() int { return 3 })
	Prepare(nil, nil, nil)
	Define[string]("r1")
	Define[float64]("r1")
	Define[int]("r2")
	Define[int]("r3")
	settle()
	Prepare([]string{"r1", "r2", "r3", "r4"}, nil, nil)
	if v := Lookup("r1"); v == nil || v.Value().Interface() != 5 {
		t.Errorf("r1 is %v, want the int of before", v)
	}
	if Lookup("r2") != nil || !Func("r2").IsValid() {
		t.Error("r2 is not the function of before")
	}
	if Lookup("r3") != nil {
		t.Error("r3 is defined")
	}
	Define[string]("r1")
	Keep()
	Prepare([]string{"r1"}, nil, nil)
	if v := Lookup("r1"); v.Type.Name() != "string" {
		t.Errorf("r1 is a %v after a run that is kept", v.Type)
	}
}

// TestOldByNumber tells former variables of one type apart.
func TestOldByNumber(t *testing.T) {
	defer Prepare(nil, nil, nil)
	defer Forget("o")
	var is []*int
	for id := range int64(3) {
		Prepare(nil, map[string]int64{"o": 10 + id}, nil)
		p := Define[int]("o")
		*p = int(id)
		is = append(is, p)
		Prepare(nil, map[string]int64{"o": 20 + id}, nil)
		Define[string]("o")
	}
	Prepare(nil, nil, map[string][]int64{"o": {10, 12, 99}})
	for slot, want := range []int{0, 2, 2, 2} {
		if p := Old[int]("o", slot); *p != want {
			t.Errorf("slot %d holds %d, want %d", slot, *p, want)
		}
	}
	_ = is
}
