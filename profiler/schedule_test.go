package profiler

import (
	"fmt"
	"strings"
	"testing"
)

// letters writes the first n actions of s: N(one), W(armup), R(ecord), S(ave).
func letters(s Schedule, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteByte("NWRS"[s.Action(i)])
	}
	return b.String()
}

func TestScheduleTable(t *testing.T) {
	for _, c := range []struct {
		s    Schedule
		want string
	}{
		{Schedule{}, "RRRRRR"},
		{Schedule{Active: 1}, "SSSSSS"},
		{Schedule{Active: 2}, "RSRSRS"},
		{Schedule{Active: 3, Repeat: 1}, "RRSNNN"},
		{Schedule{Warmup: 1, Active: 1}, "WSWSWS"},
		{Schedule{Warmup: 2, Active: 1, Repeat: 1}, "WWSNNN"},
		{Schedule{Wait: 1, Active: 1}, "NSNSNS"},
		{Schedule{Wait: 2, Active: 1, Repeat: 2}, "NNSNNSNNN"},
		{Schedule{Wait: 1, Warmup: 1, Active: 2}, "NWRSNWRSNWRS"},
		{Schedule{Wait: 1, Warmup: 1, Active: 2, Repeat: 1}, "NWRSNNNN"},
		{Schedule{Wait: 1, Warmup: 1, Active: 2, Repeat: 2}, "NWRSNWRSNNNN"},
		{Schedule{Wait: 1, Warmup: 1, Active: 3, Repeat: 2, SkipFirst: 3}, "NNNNWRRSNWRRSNN"},
		{Schedule{Wait: 5, Warmup: 1, Active: 1, SkipFirst: 10}, "NNNNNNNNNNNNNNNWSNNNNNWS"},
		// skip_first_wait drops the wait of the first cycle only.
		{Schedule{Wait: 3, Warmup: 1, Active: 1, SkipFirstWait: 1}, "WSNNNWSNNNWS"},
		{Schedule{Wait: 3, Warmup: 1, Active: 1, SkipFirst: 2, SkipFirstWait: 1}, "NNWSNNNWSNNNWS"},
		{Schedule{Wait: 3, Warmup: 1, Active: 1, SkipFirst: 2, SkipFirstWait: 7, Repeat: 1}, "NNWSNNNNNNNN"},
		{Schedule{Wait: 0, Warmup: 1, Active: 1, SkipFirstWait: 1}, "WSWSWS"},
		// Not valid: nothing is ever recorded.
		{Schedule{Wait: 1}, "NNNN"},
		{Schedule{Active: 1, Warmup: -1}, "NNNN"},
	} {
		if got := letters(c.s, len(c.want)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.s, got, c.want)
		}
	}
}

// TestScheduleCountsSteps derives the same table by walking through the cycles instead of computing positions.
func TestScheduleCountsSteps(t *testing.T) {
	for n := range 3 * 3 * 3 * 3 * 3 * 2 {
		d := func(base int) int { k := n % base; n /= base; return k }
		s := Schedule{Wait: d(3), Warmup: d(3), Active: 1 + d(3), Repeat: d(3), SkipFirst: d(3), SkipFirstWait: d(2)}
		var want strings.Builder
		want.WriteString(strings.Repeat("N", s.SkipFirst))
		for cycle := 0; cycle < 9; cycle++ {
			if s.Repeat > 0 && cycle >= s.Repeat {
				want.WriteString(strings.Repeat("N", 20))
				break
			}
			if cycle > 0 || s.SkipFirstWait == 0 {
				want.WriteString(strings.Repeat("N", s.Wait))
			}
			want.WriteString(strings.Repeat("W", s.Warmup) + strings.Repeat("R", s.Active-1) + "S")
		}
		if got := letters(s, 9); got != want.String()[:9] {
			t.Fatalf("%+v: %s, want %s", s, got, want.String()[:9])
		}
	}
}

func TestScheduleRefusals(t *testing.T) {
	for _, s := range []Schedule{{Wait: 1}, {Active: -1}, {Active: 1, Wait: -1}, {Active: 1, Warmup: -1}, {Active: 1, Repeat: -1}, {Active: 1, SkipFirst: -1}, {Active: 1, SkipFirstWait: -1}} {
		if p, err := Start(Options{Schedule: s}); err == nil {
			p.Stop()
			t.Errorf("%+v was accepted", s)
		} else if !strings.Contains(err.Error(), "checking schedule") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// TestTransitions checks every edge between the actions of two steps, and to the end of the profile, by what the source
// and the handler hear: prepare (the source starts), open (its window opens), stop, ready.
func TestTransitions(t *testing.T) {
	const exit = Action(99)
	for _, c := range []struct {
		from, to Action
		want     string // after what led to from
		warning  string
	}{
		{ActionNone, ActionNone, "", ""},
		{ActionNone, ActionWarmup, "prepare", ""},
		{ActionNone, ActionRecord, "prepare open", ""},
		{ActionNone, ActionRecordAndSave, "prepare open", ""},
		{ActionWarmup, ActionNone, "stop", "WARMUP followed by NONE"},
		{ActionWarmup, ActionWarmup, "", ""},
		{ActionWarmup, ActionRecord, "open", ""},
		{ActionWarmup, ActionRecordAndSave, "open", ""},
		{ActionRecord, ActionNone, "stop", "RECORD followed by NONE"},
		{ActionRecord, ActionWarmup, "stop prepare", "RECORD followed by WARMUP"},
		{ActionRecord, ActionRecord, "", ""},
		{ActionRecord, ActionRecordAndSave, "", ""},
		{ActionRecordAndSave, ActionNone, "stop ready", ""},
		{ActionRecordAndSave, ActionWarmup, "stop ready prepare", ""},
		{ActionRecordAndSave, ActionRecord, "stop ready prepare open", ""},
		{ActionRecordAndSave, ActionRecordAndSave, "stop ready prepare open", ""},
		{ActionNone, exit, "", ""},
		{ActionWarmup, exit, "stop", ""},
		{ActionRecord, exit, "stop ready", ""},
		{ActionRecordAndSave, exit, "stop ready", ""},
	} {
		name := fmt.Sprintf("%v to exit", c.from)
		if c.to != exit {
			name = fmt.Sprintf("%v to %v", c.from, c.to)
		}
		t.Run(name, func(t *testing.T) {
			probe := newProbe(t)
			p, err := Start(Options{
				Activities:   probeActivity,
				ScheduleFunc: func(step int) Action { return []Action{c.from, c.to}[step] },
				OnTraceReady: func(*Profile) { probe.note("ready") },
			})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Stop()
			probe.take()
			if c.to == exit {
				p.Stop()
			} else {
				p.Step()
			}
			if got := probe.take(); got != c.want {
				t.Errorf("heard %q, want %q", got, c.want)
			}
			found := ""
			for _, w := range p.Warnings() {
				if w.Kind == "schedule" {
					found += w.Text
				}
			}
			if (c.warning == "") != (found == "") || !strings.Contains(found, c.warning) {
				t.Errorf("warned %q, want %q", found, c.warning)
			}
		})
	}
}
