package profiler

import (
	"fmt"
)

// Schedule divides the steps of a loop into cycles of waiting, warming up and recording. The zero Schedule is none:
// everything from Start to Stop is recorded.
type Schedule struct {
	Wait   int `json:"wait,omitempty"`   // steps of each cycle in which nothing happens
	Warmup int `json:"warmup,omitempty"` // steps in which sources run and their records are thrown away
	Active int `json:"active,omitempty"` // steps that are recorded; at least 1
	Repeat int `json:"repeat,omitempty"` // cycles; 0 goes on until Stop

	SkipFirst     int `json:"skip_first,omitempty"`      // steps before the first cycle
	SkipFirstWait int `json:"skip_first_wait,omitempty"` // not 0: the first cycle does not wait
}

// Action is what a profile does during a step.
type Action uint8

const (
	ActionNone          Action = iota // nothing is recorded
	ActionWarmup                      // sources run, their records are thrown away
	ActionRecord                      // the step is recorded
	ActionRecordAndSave               // the step is recorded and completes the cycle
)

// String names the action as torch.profiler does.
func (a Action) String() string {
	return [...]string{"NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"}[a&3]
}

// none reports whether s is the zero Schedule.
func (s Schedule) none() bool { return s == Schedule{} }

// check reports what is wrong with s.
func (s Schedule) check() error {
	if s.none() {
		return nil
	}
	for _, f := range []struct {
		name string
		n    int
	}{{"wait", s.Wait}, {"warmup", s.Warmup}, {"repeat", s.Repeat}, {"skip_first", s.SkipFirst}, {"skip_first_wait", s.SkipFirstWait}} {
		if f.n < 0 {
			return fmt.Errorf("checking schedule: %s is %d, must not be negative", f.name, f.n)
		}
	}
	if s.Active <= 0 {
		return fmt.Errorf("checking schedule: active is %d, must be at least 1", s.Active)
	}
	return nil
}

// Action returns what happens during step, counted from 0. A Schedule that is not valid never records.
func (s Schedule) Action(step int) Action {
	if s.none() {
		return ActionRecord
	}
	if step < s.SkipFirst || s.check() != nil {
		return ActionNone
	}
	step -= s.SkipFirst
	if s.SkipFirstWait != 0 {
		step += s.Wait
	}
	cycle := s.Wait + s.Warmup + s.Active
	if s.Repeat > 0 && step/cycle >= s.Repeat {
		return ActionNone
	}
	switch at := step % cycle; {
	case at < s.Wait:
		return ActionNone
	case at < s.Wait+s.Warmup:
		return ActionWarmup
	case at == cycle-1:
		return ActionRecordAndSave
	}
	return ActionRecord
}
