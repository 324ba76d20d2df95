// Package rt is the runtime that compiled cells, interpreted cells and the session process share: it holds the session's
// variables, functions and types by name, stops code that is interrupted, contains panics, and hands shown values, printed
// text and recorded calls to the process that runs the cells.
//
// Its state is package-level because a process has one session, and because compiled cells can reach nothing else.
//
// It knows nothing of sockets, plugins or interpreters and has no policy: the session process (kernel/session/worker) sets the
// hooks once, cells call the rest. It imports the standard library and goid only, because everything that it links can
// never be updated by a user's module.
//
// Its one invariant: a variable's storage never moves. A name may get new storage (when it is defined again with another
// type), but code that holds the old pointer keeps a valid variable.
//
// Names that compiled cells use are part of the cache key of built cells (see Version).
package rt

// Version changes whenever what emitted code expects of this package changes; it is part of the key of cached cells.
const Version = "2"
