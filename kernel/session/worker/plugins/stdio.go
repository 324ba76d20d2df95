package plugins

/*
#include <stdio.h>

static void line_buffer(void) { setvbuf(stdout, NULL, _IOLBF, 0); }
static void flush(void) { fflush(stdout); }
*/
import "C"

import "github.com/gander-go/gander/kernel/session/worker"

// What C code prints is buffered by lines, as on a terminal: the C library would otherwise keep it until the process ends,
// because file 1 is a socket. A run ends with a flush.
func init() {
	C.line_buffer()
	worker.RegisterFlush(func() { C.flush() })
}
