package render

import (
	"strings"
	"testing"

	"github.com/gander-go/gander/profiler/trace"
)

// TestJob draws two ranks as one output, and one alone as Profile does.
func TestJob(t *testing.T) {
	a, b := sample(t), sample(t)
	a.Meta.Rank, b.Meta.Rank = 0, 1
	x, err := Job([]*trace.Trace{a, b}, Options{ID: "id"})
	must(t, err)
	for _, label := range []string{"<h3>Rank 0</h3>", "<h3>Rank 1</h3>"} {
		if !strings.Contains(x.HTML, label) {
			t.Errorf("no %s", label)
		}
	}
	if x.Text == "" || len(x.HTML) > 2*notebookBudget {
		t.Errorf("text %q, %d bytes of HTML", x.Text, len(x.HTML))
	}
	one, err := Job([]*trace.Trace{a}, Options{ID: "id"})
	must(t, err)
	same, err := Profile(a, Options{ID: "id"})
	must(t, err)
	if one.HTML != same.HTML || one.Text != same.Text {
		t.Error("one rank is drawn otherwise than by Profile")
	}
}
