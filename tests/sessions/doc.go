// Package sessions plays random sessions of cells through the whole stack (checker, both engines, one session process) and
// holds what every cell prints against a model that computes it without any of that: a small interpreter of the cells' syntax
// trees, in which a session is what the package comment of kernel/eval/check says that it is. It holds only tests.
package sessions
