package magics

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// newFlags makes a flag set for the magic called name. Names with underscores are taken as well as with dashes
// (--row_limit), as torch's options are written.
func newFlags(name string) *pflag.FlagSet {
	fs := pflag.NewFlagSet(name, pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	fs.SortFlags = false
	fs.SetNormalizeFunc(func(_ *pflag.FlagSet, n string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.ReplaceAll(n, "_", "-"))
	})
	return fs
}

// usageError is a mistake in how a magic is written.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// parseFlags parses the text behind a magic's name. What is wrong is named, with the nearest right flag.
func parseFlags(fs *pflag.FlagSet, text string) error {
	words, err := words(text)
	if err != nil {
		return usagef("%%%s: %v", fs.Name(), err)
	}
	return parseWords(fs, words)
}

// helpAsked is the error of a magic that was given -h: what the magic does is shown instead.
type helpAsked struct{ magic string }

func (e *helpAsked) Error() string { return "%" + e.magic + ": help was asked for" }

// parseNone is parseFlags for magics that take flags only.
func parseNone(fs *pflag.FlagSet, text string) error {
	err := parseFlags(fs, text)
	if err == nil && fs.NArg() > 0 {
		err = usagef("%%%s: %q is no flag (flags: %s)", fs.Name(), fs.Arg(0), strings.Join(flagNames(fs), ", "))
	}
	return err
}

var unknownFlag = regexp.MustCompile(`unknown (?:shorthand )?flag: (?:'(.)' in )?(.*)`)

func parseWords(fs *pflag.FlagSet, words []string) error {
	err := fs.Parse(words)
	if errors.Is(err, pflag.ErrHelp) {
		return &helpAsked{fs.Name()}
	}
	if err == nil {
		return nil
	}
	m := unknownFlag.FindStringSubmatch(err.Error())
	if m == nil {
		return usagef("%%%s: %v", fs.Name(), err)
	}
	var known []string
	fs.VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
	given := strings.TrimSpace(m[2])
	if m[1] != "" {
		return usagef("%%%s: there is no flag -%s (flags: %s)", fs.Name(), m[1], strings.Join(known, ", "))
	}
	if near := nearest(given, known); near != "" {
		return usagef("%%%s: there is no flag %s; did you mean %s?", fs.Name(), given, near)
	}
	return usagef("%%%s: there is no flag %s (flags: %s)", fs.Name(), given, strings.Join(known, ", "))
}

// nearest returns the candidate that is most like s, empty when none is much like it.
func nearest(s string, candidates []string) string {
	best, dist := "", max(2, len(s)/3)+1
	for _, c := range candidates {
		if d := distance(s, c); d < dist {
			best, dist = c, d
		}
	}
	return best
}

// distance is the number of letters to insert, delete, replace or swap with their neighbour to turn a into b (Damerau's,
// restricted).
func distance(a, b string) int {
	row := func() []int { return make([]int, len(b)+1) }
	older, prev, cur := row(), row(), row()
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], older[j-2]+1)
			}
		}
		older, prev, cur = prev, cur, older
	}
	return prev[len(b)]
}

// words splits text as a shell does: at blanks, with quotes and backslashes.
func words(text string) ([]string, error) {
	var out []string
	var word strings.Builder
	inWord := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			if inWord {
				out = append(out, word.String())
				word.Reset()
				inWord = false
			}
		case c == '\'':
			end := strings.IndexByte(text[i+1:], '\'')
			if end < 0 {
				return nil, errors.New("a ' is not closed")
			}
			word.WriteString(text[i+1 : i+1+end])
			i += end + 1
			inWord = true
		case c == '"':
			inWord = true
			for i++; ; i++ {
				if i >= len(text) {
					return nil, errors.New(`a " is not closed`)
				}
				if text[i] == '"' {
					break
				}
				if text[i] == '\\' && i+1 < len(text) && slices.Contains([]byte{'"', '\\'}, text[i+1]) {
					i++
				}
				word.WriteByte(text[i])
			}
		case c == '\\' && i+1 < len(text):
			i++
			word.WriteByte(text[i])
			inWord = true
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if inWord {
		out = append(out, word.String())
	}
	return out, nil
}

// flagNames lists the flags of fs as they are written.
func flagNames(fs *pflag.FlagSet) []string {
	var out []string
	fs.VisitAll(func(f *pflag.Flag) { out = append(out, "--"+f.Name) })
	return out
}

// cutFlags splits text at the first word that is neither a flag of fs nor the value of one: what follows is Go, whose
// quotes and blanks must stay as they are. "--" ends the flags.
func cutFlags(fs *pflag.FlagSet, text string) (flags, rest string, err error) {
	at := 0
	for {
		for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
			at++
		}
		word, end := nextWord(text, at)
		if word == "--" {
			return text[:at], strings.TrimLeft(text[end:], " \t"), nil
		}
		if len(word) < 2 || word[0] != '-' || !isLetter(strings.TrimLeft(word, "-")) {
			return text[:at], text[at:], nil
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(word, "-"), "=")
		var f *pflag.Flag
		if strings.HasPrefix(word, "--") {
			f = fs.Lookup(name)
		} else {
			f = fs.ShorthandLookup(name[:1])
			hasValue = hasValue || len(name) > 1
			if f == nil { // -x is Go: the negative of x
				return text[:at], text[at:], nil
			}
		}
		at = end
		if f != nil && !hasValue && f.NoOptDefVal == "" {
			for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
				at++
			}
			_, at = nextWord(text, at)
		}
	}
}

func isLetter(s string) bool {
	return s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z')
}

// nextWord is the word at offset at, with its quotes, and where it ends.
func nextWord(text string, at int) (word string, end int) {
	var quote byte
	for end = at; end < len(text); end++ {
		c := text[end]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ' ' || c == '\t':
			return text[at:end], end
		}
	}
	return text[at:], end
}
