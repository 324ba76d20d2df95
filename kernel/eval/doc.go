// Package eval turns cells into something to run and runs it: it checks a cell (package check), picks an engine for it,
// has it built, hands the unit to the session process and shapes what comes back. It also answers completion, hover
// and is_complete.
//
// It never runs user code itself and knows neither sockets nor magics. The kernel and `gander run` call it. Its one
// invariant: a cell that fails to check or to build leaves the session exactly as it was.
//
// What is defined after a cell failed while it ran: all its types, functions, methods and constants; of its variables
// those that were assigned before the failure, and those that one of its declarations uses (with their zero value, when
// they were not reached). Other names keep the meaning they had before the cell.
package eval
