package bind

import (
	"fmt"
	"slices"
	"strings"
)

// Parse finds the kernels that source defines. The error is an *Error: a kernel whose parameters have no equal in Go.
//
//  1. Tokens are walked once. A stack of scopes tells which namespaces are open; everything else in braces is skipped over as
//     a scope without a name.
//  2. At __global__ the declaration is read up to its parameters: the last word before the parenthesis that is no attribute is
//     the name. A declaration without a body only announces a kernel, unless it is an explicit instantiation of a template:
//     that is a kernel, whose parameters have the types that stand there.
//  3. Parameters are split at their commas, and their types looked up, through typedefs, using and macros.
func Parse(source string) ([]Kernel, error) {
	tokens, macros := tokenize(source)
	p := &reader{tokens: tokens, aliases: macros}
	for p.at < len(p.tokens) {
		if err := p.step(); err != nil {
			return nil, err
		}
	}
	named := map[string]string{}
	for _, k := range p.kernels {
		if k.Template {
			continue
		}
		if other, ok := named[k.GoName()]; ok {
			return nil, &Error{k.Line, fmt.Sprintf("kernels %s and %s would both be %s in Go", other, k.Name, k.GoName())}
		}
		named[k.GoName()] = k.Name
	}
	return p.kernels, nil
}

type reader struct {
	tokens   []word
	at       int
	scopes   []string // names of open braces; "" for those that are no namespace
	template bool     // of the declaration that is being read
	instance bool     // it is an explicit instantiation or specialisation of one
	aliases  map[string]string
	kernels  []Kernel
}

func (p *reader) peek(n int) string {
	if i := p.at + n; i >= 0 && i < len(p.tokens) {
		return p.tokens[i].text
	}
	return ""
}

func (p *reader) step() error {
	switch p.peek(0) {
	case "namespace":
		p.namespace()
	case "{":
		p.scopes = append(p.scopes, "")
		p.template = false
		p.at++
	case "}":
		if len(p.scopes) > 0 {
			p.scopes = p.scopes[:len(p.scopes)-1]
		}
		p.template, p.instance = false, false
		p.at++
	case ";":
		p.template, p.instance = false, false
		p.at++
	case "template":
		p.at++
		switch {
		case p.peek(0) != "<": // an explicit instantiation
			p.instance = true
		case p.peek(1) == ">": // a specialisation for all arguments
			p.instance = true
			p.at += 2
		default:
			p.skip("<", ">")
			p.template = true
		}
	case "typedef":
		p.typedef()
	case "using":
		p.using()
	case "__global__":
		return p.kernel()
	default:
		p.at++
	}
	return nil
}

// namespace reads "namespace a::b {".
func (p *reader) namespace() {
	p.at++
	name := ""
	for p.at < len(p.tokens) && (p.tokens[p.at].isName() || p.peek(0) == "::") {
		name += p.peek(0)
		p.at++
	}
	if p.peek(0) == "{" {
		p.scopes = append(p.scopes, name)
		p.at++
	}
}

// skip moves behind a bracket's partner.
func (p *reader) skip(open, close string) {
	depth := 0
	for ; p.at < len(p.tokens); p.at++ {
		switch p.peek(0) {
		case open:
			depth++
		case close:
			if depth--; depth == 0 {
				p.at++
				return
			}
		}
	}
}

// typedef reads "typedef unsigned long word;"; anything more difficult is left alone.
func (p *reader) typedef() {
	p.at++
	var words []string
	for p.at < len(p.tokens) && p.tokens[p.at].isName() {
		words = append(words, p.peek(0))
		p.at++
	}
	if p.peek(0) == ";" && len(words) >= 2 {
		p.aliases[words[len(words)-1]] = strings.Join(words[:len(words)-1], " ")
	}
}

// using reads "using word = unsigned long;".
func (p *reader) using() {
	p.at++
	name := p.peek(0)
	if p.peek(1) != "=" {
		return
	}
	p.at += 2
	var words []string
	for p.at < len(p.tokens) && p.tokens[p.at].isName() {
		words = append(words, p.peek(0))
		p.at++
	}
	if p.peek(0) == ";" && len(words) > 0 && !p.template {
		p.aliases[name] = strings.Join(words, " ")
	}
}

// kernel reads a declaration from __global__ on.
func (p *reader) kernel() error {
	line := p.tokens[p.at].line
	p.at++
	name, args := "", ""
	for ; p.at < len(p.tokens) && p.peek(0) != "("; p.at++ {
		switch {
		case p.peek(0) == ";" || p.peek(0) == "{":
			return nil // no function
		case p.tokens[p.at].isName() && p.peek(1) == "(" && isAttribute(p.peek(0)):
			p.at++
			p.skip("(", ")")
			p.at--
		case p.tokens[p.at].isName():
			if p.peek(-1) == "::" && p.instance {
				name += "::" + p.peek(0)
			} else {
				name = p.peek(0)
			}
			args = ""
			line = p.tokens[p.at].line
		case p.peek(0) == "<":
			from := p.at + 1
			p.skip("<", ">")
			p.at--
			args = text(p.tokens[from:max(from, p.at)])
		}
	}
	from := p.at + 1
	p.skip("(", ")")
	to := p.at - 1
	for p.at < len(p.tokens) && p.tokens[p.at].isName() { // attributes behind the parameters
		p.at++
		if p.peek(0) == "(" {
			p.skip("(", ")")
		}
	}
	body := p.peek(0) == "{"
	if !body && !p.instance || name == "" || to < from {
		return nil
	}
	k := Kernel{Name: p.qualified(name), Line: line, Template: p.template}
	if p.instance {
		if args == "" {
			return &Error{line, fmt.Sprintf("kernel %s: an instantiation names its arguments: template __global__ void %s<float>(…);", k.Name, name)}
		}
		k.Name += "<" + args + ">"
	}
	if !k.Template {
		for _, words := range splitParams(p.tokens[from:to]) {
			q, err := p.param(k, words)
			if err != nil {
				return err
			}
			k.Params = append(k.Params, q)
		}
	}
	if !slices.ContainsFunc(p.kernels, func(o Kernel) bool { return o.Name == k.Name }) {
		p.kernels = append(p.kernels, k)
	}
	return nil
}

// text writes tokens as in C++, with one space between words and after commas.
func text(tokens []word) string {
	s := ""
	for i, t := range tokens {
		if i > 0 && (tokens[i-1].text == "," || isWord(tokens[i-1]) && isWord(t)) {
			s += " "
		}
		s += t.text
	}
	return s
}

func isWord(t word) bool { return t.isName() || t.text != "" && isDigit(t.text[0]) }

func (p *reader) qualified(name string) string {
	var parts []string
	for _, s := range p.scopes {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(append(parts, name), "::")
}

func isAttribute(s string) bool {
	return strings.HasPrefix(s, "__") && s != "__global__" || s == "alignas"
}

// splitParams cuts at the commas that are in no bracket.
func splitParams(tokens []word) [][]word {
	var out [][]word
	depth, from := 0, 0
	for i, t := range tokens {
		switch t.text {
		case "(", "<", "[", "{":
			depth++
		case ")", ">", "]", "}":
			depth--
		case ",":
			if depth == 0 {
				out = append(out, tokens[from:i])
				from = i + 1
			}
		}
	}
	if from < len(tokens) {
		out = append(out, tokens[from:])
	}
	if len(out) == 1 && len(out[0]) == 1 && out[0][0].text == "void" {
		return nil
	}
	return out
}
