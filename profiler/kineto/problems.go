package kineto

import "github.com/gander-go/gander/profiler/trace"

// problem numbers the kinds of loss and repair that are counted while scanning.
type problem uint8

const (
	lostDamage problem = iota
	lostElement
	lostPhase
	lostTime
	lostOversized
	fixedNoDuration
	fixedNegative
	fixedText
	fixedEscapes
	fixedValues
	fixedNesting
	lostEnd
	fixedBegin
	lostCounter
	lostCategory
	numProblems
)

// told says what each kind is called and what to tell people.
var told = [numProblems]struct{ kind, text, remedy string }{
	lostDamage:      {"damaged-events", "Events could not be read because the JSON around them is broken, and were left out.", "Newer versions of PyTorch escape names correctly; otherwise repair the file."},
	lostElement:     {"skipped-elements", "Elements of traceEvents that are no events (null, numbers, empty objects) were skipped.", ""},
	lostPhase:       {"unknown-phase", "Events of a kind that this reader does not know were left out.", ""},
	lostTime:        {"bad-time", "Events whose time or duration is no number were left out.", ""},
	lostOversized:   {"oversized-events", "Events or metadata longer than the limit were left out.", "Raise the limit on the size of one event."},
	fixedNoDuration: {"missing-duration", "Events without duration are shown with duration zero.", ""},
	fixedNegative:   {"negative-duration", "Events with a negative duration, which mark unfinished work, are shown with duration zero.", "End the recording after the work has finished."},
	fixedText:       {"invalid-utf8", "Names held bytes that are no UTF-8; these show as \ufffd.", ""},
	fixedEscapes:    {"invalid-escapes", "Strings held escapes that JSON does not know; their backslashes were kept.", ""},
	fixedValues:     {"invalid-values", "Arguments held values that JSON does not know (NaN, N/A); they were kept as text.", ""},
	fixedNesting:    {"deep-nesting", "Arguments nested too deep were cut.", ""},
	lostEnd:         {"unmatched-end", "End events without a begin were left out.", ""},
	fixedBegin:      {"unmatched-begin", "Begin events without an end are shown as lasting to the end of the recording.", ""},
	lostCounter:     {"bad-counter-values", "Counter values that are no numbers were left out.", ""},
	lostCategory:    {"too-many-categories", "Events of categories beyond the first 30000 are shown without category.", ""},
}

// report adds what was counted to the problems of t.
func report(t *trace.Trace, lost *[numProblems]int64) {
	for k, n := range lost {
		if n > 0 {
			t.Problem(told[k].kind, n, told[k].text, told[k].remedy)
		}
	}
}
