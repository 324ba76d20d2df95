package bind

import (
	"fmt"
	"go/token"
	"strconv"
	"strings"
)

// Program is what the Go code of a %%cuda cell is made of.
type Program struct {
	Var     string // name of the session variable that holds the *driver.Program
	Image   []byte // PTX or a CUBIN
	Missing string // why there is no image, empty when there is one
	Kernels []Kernel
	Names   map[string]string // of kernels by their names in C++, the names in the image; a kernel's own name counts where there is none
}

const driverPath = "github.com/gander-go/gander/cuda/driver"

// Go writes the Go code. All of it stands on one line, so that the lines of the cell stay what they are.
func (p Program) Go() string {
	var b strings.Builder
	fmt.Fprintf(&b, "import %q; ", driverPath)
	if p.Missing != "" {
		fmt.Fprintf(&b, "var %s = driver.MissingProgram(%q)", p.Var, p.Missing)
	} else {
		fmt.Fprintf(&b, "var %s = driver.NewProgram(%s)", p.Var, strconv.QuoteToASCII(string(p.Image)))
	}
	for _, k := range p.Kernels {
		if k.Template {
			continue
		}
		name := p.Names[k.Name]
		if name == "" {
			name = k.Name
		}
		params, args := k.goParams()
		fmt.Fprintf(&b, "; func %s(launch driver.Launch%s) error { return %s.Launch(%q, launch%s) }", k.GoName(), params, p.Var, name, args)
	}
	return b.String()
}

// GoName is the name of the kernel's Go function: namespaces and the arguments of a template are joined by underscores, so that
// la::scale<float, 4> is la_scale_float_4.
func (k Kernel) GoName() string {
	name, args, _ := strings.Cut(k.Name, "<")
	name = strings.ReplaceAll(name, "::", "_")
	for _, word := range strings.FieldsFunc(strings.NewReplacer("*", " ptr ", "-", " minus ").Replace(args), func(r rune) bool {
		return r >= 0x80 || r != '_' && !isLetter(byte(r)) && !isDigit(byte(r))
	}) {
		name += "_" + word
	}
	return goName(name)
}

// Signature is the Go function as people read it.
func (k Kernel) Signature() string {
	params, _ := k.goParams()
	return fmt.Sprintf("%s(launch driver.Launch%s) error", k.GoName(), params)
}

func (k Kernel) goParams() (params, args string) {
	used := map[string]bool{"launch": true, "driver": true}
	for i, p := range k.Params {
		n := goName(p.Name)
		if p.Name == "" || n == "_" || isDigit(n[0]) {
			n = fmt.Sprintf("p%d", i+1)
		}
		for used[n] {
			n += "_"
		}
		used[n] = true
		params += ", " + n + " " + p.Go
		args += ", " + n
	}
	return params, args
}

// goName makes an identifier of Go of one of C++.
func goName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '_' || r < 0x80 && (isLetter(byte(r)) || isDigit(byte(r))) {
			return r
		}
		return '_'
	}, s)
	if token.IsKeyword(s) || predeclared[s] {
		return s + "_"
	}
	return s
}

// predeclared are the names that the generated code itself needs.
var predeclared = map[string]bool{
	"error": true, "bool": true, "int8": true, "uint8": true, "int16": true, "uint16": true, "int32": true, "uint32": true, "int64": true, "uint64": true,
	"float32": true, "float64": true, "complex64": true, "complex128": true, "init": true, "main": true, "driver": true,
}
