package profiler

import (
	"fmt"
	"io"

	"github.com/gander-go/gander/profiler/analyze"
)

// Averages are key averages: one row per key, with totals over all events of the key. Rows, Sort, Filter, WriteCSV and
// WriteJSON are those of analyze.Averages.
type Averages struct {
	*analyze.Averages
}

// GroupOption chooses what KeyAverages groups by, beside the name.
type GroupOption func(*analyze.KeyOptions)

// GroupByShape makes a row for each combination of input shapes; it needs RecordShapes.
func GroupByShape() GroupOption { return func(o *analyze.KeyOptions) { o.ByShape = true } }

// GroupByStack makes a row for each combination of the n innermost stack frames; it needs WithStack.
func GroupByStack(n int) GroupOption { return func(o *analyze.KeyOptions) { o.ByStack = n } }

// GroupByGoroutine makes a row for each goroutine, thread and stream.
func GroupByGoroutine() GroupOption { return func(o *analyze.KeyOptions) { o.ByTrack = true } }

// GroupByStep makes a row for each step of the schedule.
func GroupByStep() GroupOption { return func(o *analyze.KeyOptions) { o.ByStep = true } }

// TorchConvention counts and attributes exactly as torch.profiler's key_averages() does, also where that misleads.
func TorchConvention() GroupOption {
	return func(o *analyze.KeyOptions) { o.Convention = analyze.Torch }
}

// Analysis answers what else there is to know of the profile: steps, memory, idle time, an overview, advice.
func (p *Profile) Analysis() *analyze.Analysis { return analyze.Of(p.Trace()) }

// KeyAverages groups the events of the last complete cycle.
func (p *Profile) KeyAverages(options ...GroupOption) Averages {
	var o analyze.KeyOptions
	for _, set := range options {
		set(&o)
	}
	return Averages{analyze.KeyAverages(p.Trace(), o)}
}

// TableOption changes how Table prints.
type TableOption func(*analyze.TableOptions)

// SortBy orders rows by a column, the largest first: one of analyze.SortKeys or torch's spellings ("cuda_time_total").
func SortBy(key string) TableOption { return func(o *analyze.TableOptions) { o.Sort = key } }

// RowLimit prints at most n rows; a negative n prints all. Without it there are at most 100.
func RowLimit(n int) TableOption { return func(o *analyze.TableOptions) { o.RowLimit = n } }

// TopLevel prints only rows whose events have no caller.
func TopLevel() TableOption { return func(o *analyze.TableOptions) { o.TopLevelOnly = true } }

// TimeUnit prints all times in "us", "ms" or "s" instead of what suits each.
func TimeUnit(unit string) TableOption { return func(o *analyze.TableOptions) { o.TimeUnit = unit } }

// Header prints a line above the table.
func Header(text string) TableOption { return func(o *analyze.TableOptions) { o.Header = text } }

// TorchColumns prints torch.profiler's columns and no others.
func TorchColumns() TableOption { return func(o *analyze.TableOptions) { o.Columns = analyze.Torch } }

// Table returns the rows as aligned text. A wrong option gives its error's text instead, so that printing shows it;
// WriteTable returns it.
func (a Averages) Table(options ...TableOption) string {
	s, err := a.table(options)
	if err != nil {
		return "profiler: " + err.Error() + "\n"
	}
	return s
}

// WriteTable writes what Table returns.
func (a Averages) WriteTable(w io.Writer, options ...TableOption) error {
	s, err := a.table(options)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, s)
	return err
}

func (a Averages) table(options []TableOption) (string, error) {
	var o analyze.TableOptions
	for _, set := range options {
		set(&o)
	}
	s, err := a.Averages.Table(o)
	if err != nil {
		return "", fmt.Errorf("printing key averages: %w", err)
	}
	return s, nil
}

// String is Table without options.
func (a Averages) String() string { return a.Table() }
