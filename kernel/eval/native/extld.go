package native

import (
	"os"
	"regexp"
)

var plainWords = regexp.MustCompile(`^[\w./+-]+( [\w./+-]+)*$`)

// unasked is the -extld of a C compiler behind a shell. Go's linker asks the first word of -extld by small programs, which it compiles and
// links, whether it knows flags that plugins do well without: --build-id and -Qunused-arguments. The shell does not know them, and says so
// at once; asking the compiler takes a third of the time of a link.
func unasked(cc string) string {
	if _, err := os.Stat("/bin/sh"); err != nil || !plainWords.MatchString(cc) {
		return cc
	}
	return `/bin/sh -c 'exec ` + cc + ` "$@"' cc`
}
