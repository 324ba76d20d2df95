package session

import (
	"os"
	"testing"
)

// TestWakeAfterClose wakes a tape that is closed: the number of its file is another file's by then, which must not be written to.
func TestWakeAfterClose(t *testing.T) {
	tp, files, err := newTape()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		defer f.Close()
	}
	self := tp.self
	tp.close()
	var opened []*os.File
	for range 20 { // one of them gets the number
		f, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		opened = append(opened, f)
		if int(f.Fd()) == self {
			break
		}
	}
	tp.wake(wakeHold)
	tp.close() // is idempotent
	for _, f := range opened {
		if st, err := f.Stat(); err != nil || st.Size() != 0 {
			t.Errorf("a file that was opened later holds %d bytes, %v", st.Size(), err)
		}
	}
}
