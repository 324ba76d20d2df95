package bind

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// scalars are the types whose size is the same on every platform that CUDA runs Go on.
var scalars = map[string]string{
	"bool": "bool", "char": "int8", "signed char": "int8", "unsigned char": "uint8", "short": "int16", "unsigned short": "uint16",
	"int": "int32", "unsigned int": "uint32", "long": "int64", "unsigned long": "uint64", "long long": "int64", "unsigned long long": "uint64",
	"float": "float32", "double": "float64",
	"int8_t": "int8", "uint8_t": "uint8", "int16_t": "int16", "uint16_t": "uint16", "int32_t": "int32", "uint32_t": "uint32", "int64_t": "int64", "uint64_t": "uint64",
	"size_t": "uint64", "ptrdiff_t": "int64", "ssize_t": "int64", "intptr_t": "int64", "uintptr_t": "uint64", "clock_t": "int64",
	"uchar": "uint8", "ushort": "uint16", "uint": "uint32", "ulong": "uint64",
	"__half": "uint16", "half": "uint16", "__nv_bfloat16": "uint16", "nv_bfloat16": "uint16", "__half2": "[2]uint16", "half2": "[2]uint16",
	"dim3": "[3]uint32", "cuComplex": "complex64", "cuFloatComplex": "complex64", "cuDoubleComplex": "complex128",
}

// vectors matches CUDA's vector types: float4, uchar3, longlong2.
var vectors = regexp.MustCompile(`^(u?char|u?short|u?int|u?long|u?longlong|float|double)([1-4])$`)

// qualifiers say nothing about size.
var qualifiers = map[string]bool{
	"const": true, "volatile": true, "__restrict__": true, "__restrict": true, "restrict": true, "register": true, "struct": true, "enum": true,
	"class": true, "typename": true, "__grid_constant__": true, "__shared__": true, "std": true,
}

// words of integer types, which may come in any order.
var integerWords = map[string]bool{"unsigned": true, "signed": true, "char": true, "short": true, "int": true, "long": true}

// param reads one parameter.
func (p *reader) param(k Kernel, tokens []word) (Param, error) {
	var words []string
	stars, reference := 0, false
	line := k.Line
	if len(tokens) > 0 {
		line = tokens[0].line
	}
	for i := 0; i < len(tokens); i++ {
		switch t := tokens[i].text; {
		case t == "=":
			i = len(tokens) // a default
		case t == "*":
			stars++
		case t == "&":
			reference = true
		case t == "[":
			stars++
			for i < len(tokens) && tokens[i].text != "]" {
				i++
			}
		case t == "::" || qualifiers[t]:
		default:
			words = append(words, t)
		}
	}
	q := Param{}
	if n := len(words); n >= 2 && !integerWords[words[n-1]] { // the last word is the name
		q.Name, words = words[n-1], words[:n-1]
	}
	q.C = strings.Join(words, " ") + strings.Repeat("*", stars)
	what := q.Name
	if what == "" {
		what = "parameter"
	}
	fail := func(why string) (Param, error) {
		return q, &Error{line, fmt.Sprintf("kernel %s: %s has type %q, %s", k.Name, what, strings.TrimSpace(q.C), why)}
	}
	if reference {
		return fail("and kernels take no references")
	}
	goType, known := p.lookup(strings.Join(words, " "), 0)
	pointers := strings.Count(goType, "*")
	goType = strings.TrimLeft(goType, "*")
	stars += pointers
	switch {
	case stars == 1 && known && goType != "void":
		q.Go = "driver.Ref[" + goType + "]"
	case stars == 1:
		q.Go = "driver.Ptr" // of void, or of a type that Go does not know
	case stars > 1:
		q.Go = "driver.Ref[driver.Ptr]"
	case known && goType != "void":
		q.Go = goType
	default:
		return fail("which Go does not know; pass it by pointer, or use a type of a fixed size")
	}
	return q, nil
}

// lookup returns the Go type of a C++ type, with a leading "*" for each pointer that an alias hides.
func (p *reader) lookup(c string, depth int) (goType string, known bool) {
	c = strings.TrimSpace(c)
	if depth > 16 {
		return "", false
	}
	if c == "void" {
		return "void", true
	}
	if g := scalars[canonical(c)]; g != "" {
		return g, true
	}
	if m := vectors.FindStringSubmatch(c); m != nil {
		base := map[string]string{"longlong": "long long", "ulonglong": "unsigned long long"}[m[1]]
		if base == "" {
			base = m[1]
		}
		return "[" + m[2] + "]" + scalars[base], true
	}
	if a, ok := p.aliases[c]; ok && a != c {
		stars := strings.Count(a, "*")
		var words []string
		for _, w := range strings.Fields(strings.ReplaceAll(a, "*", " ")) {
			if !qualifiers[w] {
				words = append(words, w)
			}
		}
		g, known := p.lookup(strings.Join(words, " "), depth+1)
		return strings.Repeat("*", stars) + g, known
	}
	return "", false
}

// canonical puts the words of an integer type in order: "long unsigned int" is "unsigned long".
func canonical(c string) string {
	words := strings.Fields(c)
	if !slices.ContainsFunc(words, func(w string) bool { return integerWords[w] }) {
		return c
	}
	count := map[string]int{}
	for _, w := range words {
		if !integerWords[w] {
			return c
		}
		count[w]++
	}
	base := "int"
	switch {
	case count["char"] > 0:
		base = "char"
		if count["signed"] > 0 {
			return "signed char"
		}
	case count["short"] > 0:
		base = "short"
	case count["long"] > 1:
		base = "long long"
	case count["long"] == 1:
		base = "long"
	}
	if count["unsigned"] > 0 {
		return "unsigned " + base
	}
	return base
}
