package analyze

import "testing"

func TestFormula(t *testing.T) {
	for _, tt := range []struct {
		name, dims, concrete string
		want                 int64
	}{
		{"aten::mm", "[[32,48],[48,16]]", "", 2 * 32 * 48 * 16},
		{"aten::addmm", "[[16],[32,48],[48,16],[],[]]", "", 2 * 32 * 48 * 16},
		{"aten::bmm", "[[5,7,9],[5,9,11]]", "", 2 * 5 * 7 * 9 * 11},
		{"aten::baddbmm", "[[5,7,11],[5,7,9],[5,9,11]]", "", 2 * 5 * 7 * 9 * 11},
		{"aten::mul", "[[2,3,4],[]]", "", 24},
		{"aten::add", "[[],[],[]]", "", 1},
		{"aten::conv2d", "[[2,4,9,9],[6,2,3,3],[],[],[],[],[]]", `["","","","[2, 1]","[1, 1]","[1, 1]","2"]`, 2 * 2 * 5 * 9 * 3 * 3 * 4 * 6 / 2},
		{"aten::conv2d", "[[2,4,9,9],[6,4,3,3]]", `["","","","[1]","[0]","[2]","1"]`, 2 * 2 * 5 * 5 * 3 * 3 * 4 * 6},
		{"aten::sub", "[[2,3],[2,3]]", "", 0},
		{"aten::mm", "[[32,48],[47,16]]", "", 0},
		{"aten::mm", "[[-1,4],[4,4]]", "", 0},
		{"aten::mm", "[[9223372036854775807,9],[9,9]]", "", 0},
		{"aten::mm", "no shapes", "", 0},
		{"aten::conv2d", "[[2,4,9,9],[6,4,3,3]]", `["","","","[0, 0]","[0, 0]","[1, 1]","1"]`, 0},
		{"aten::conv2d", "[[2,4,9,9],[6,4,3,3]]", `["","","","[1, 1]","same","[1, 1]","1"]`, 0},
		{"aten::conv2d", "[[2,4,1,1],[6,4,3,3]]", `["","","","[1, 1]","[0, 0]","[1, 1]","1"]`, 0},
	} {
		if got := formula(tt.name, tt.dims, tt.concrete); got != tt.want {
			t.Errorf("%s %s %s: %d, want %d", tt.name, tt.dims, tt.concrete, got, tt.want)
		}
	}
}

func FuzzFormula(f *testing.F) {
	f.Add("[[2,4,9,9],[6,2,3,3]]", `["","","","[2, 1]","[1, 1]","[1, 1]","2"]`)
	f.Add("[[[2],[3]],[],[ [1] ]]", `[""]`)
	f.Fuzz(func(t *testing.T, dims, concrete string) {
		for _, name := range []string{"aten::conv2d", "aten::mm", "aten::baddbmm", "aten::mul"} {
			if n := formula(name, dims, concrete); n < 0 {
				t.Errorf("%s %s %s: %d", name, dims, concrete, n)
			}
		}
		if once := withoutLists(dims); withoutLists(once) != once {
			t.Errorf("%s becomes %s, then %s", dims, once, withoutLists(once))
		}
	})
}
