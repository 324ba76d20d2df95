package profiler

// builtin are the sources that every process has.
var builtin = []Kind{}
