package native

import (
	"fmt"
	"go/types"
	"strconv"
	"strings"

	"github.com/gander-go/gander/kernel/eval/check"
)

// typePrinter writes types as Go text. A type of the session is written by name, an anonymous struct with unexported
// fields by anonymous; the rest is what the spec says.
type typePrinter struct {
	b         strings.Builder
	c         *check.Checked
	named     func(sym *check.Symbol, embedded bool) string
	pkg       func(p *types.Package) string
	anonymous func(st *types.Struct) string // "" to write the struct out
}

func (p *typePrinter) print(t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		if t.Obj().Pkg() != nil && t.Obj().Pkg() != p.c.Pkg && t.Obj().Exported() && t.TypeArgs().Len() == 0 {
			p.b.WriteString(p.pkg(t.Obj().Pkg()) + "." + t.Obj().Name())
			return
		}
		p.print(types.Unalias(t))
	case *types.Basic:
		if t.Kind() == types.UnsafePointer {
			p.b.WriteString(p.pkg(types.Unsafe) + ".Pointer")
			return
		}
		p.b.WriteString(types.Default(t).String())
	case *types.Named:
		p.name(t, false)
		p.args(t.TypeArgs())
	case *types.TypeParam:
		p.b.WriteString(t.Obj().Name())
	case *types.Pointer:
		p.b.WriteByte('*')
		p.print(t.Elem())
	case *types.Slice:
		p.b.WriteString("[]")
		p.print(t.Elem())
	case *types.Array:
		fmt.Fprintf(&p.b, "[%d]", t.Len())
		p.print(t.Elem())
	case *types.Map:
		p.b.WriteString("map[")
		p.print(t.Key())
		p.b.WriteByte(']')
		p.print(t.Elem())
	case *types.Chan:
		switch t.Dir() {
		case types.SendRecv:
			p.b.WriteString("chan (")
		case types.SendOnly:
			p.b.WriteString("chan<- (")
		case types.RecvOnly:
			p.b.WriteString("<-chan (")
		}
		p.print(t.Elem())
		p.b.WriteByte(')')
	case *types.Signature:
		p.b.WriteString("func")
		p.signature(t)
	case *types.Struct:
		if s := p.anonymous(t); s != "" {
			p.b.WriteString(s)
			return
		}
		p.structure(t)
	case *types.Interface:
		p.iface(t)
	case *types.Union:
		for i := range t.Len() {
			if i > 0 {
				p.b.WriteString(" | ")
			}
			if t.Term(i).Tilde() {
				p.b.WriteByte('~')
			}
			p.print(t.Term(i).Type())
		}
	case *types.Tuple:
		for i := range t.Len() {
			if i > 0 {
				p.b.WriteString(", ")
			}
			p.print(t.At(i).Type())
		}
	default:
		panic(fmt.Sprintf("printing type %v: unknown kind %T", t, t))
	}
}

func (p *typePrinter) name(t *types.Named, embedded bool) {
	o := t.Obj()
	switch {
	case o.Pkg() == nil:
		p.b.WriteString(o.Name())
	case o.Pkg() != p.c.Pkg:
		p.b.WriteString(p.pkg(o.Pkg()) + "." + o.Name())
	default:
		if sym := p.c.Symbol(o); sym != nil {
			p.b.WriteString(p.named(sym, embedded))
		} else {
			p.b.WriteString(o.Name()) // local to a function
		}
	}
}

func (p *typePrinter) args(l *types.TypeList) {
	if l.Len() == 0 {
		return
	}
	p.b.WriteByte('[')
	for i := range l.Len() {
		if i > 0 {
			p.b.WriteString(", ")
		}
		p.print(l.At(i))
	}
	p.b.WriteByte(']')
}

func (p *typePrinter) signature(s *types.Signature) {
	p.b.WriteByte('(')
	for i := range s.Params().Len() {
		if i > 0 {
			p.b.WriteString(", ")
		}
		t := s.Params().At(i).Type()
		if s.Variadic() && i == s.Params().Len()-1 {
			p.b.WriteString("...")
			if sl, ok := t.(*types.Slice); ok {
				t = sl.Elem()
			} else {
				t = types.Typ[types.Byte] // append([]byte, string...)
			}
		}
		p.print(t)
	}
	p.b.WriteByte(')')
	if s.Results().Len() > 0 {
		p.b.WriteString(" (")
		p.print(s.Results())
		p.b.WriteByte(')')
	}
}

func (p *typePrinter) structure(t *types.Struct) {
	p.b.WriteString("struct{")
	for i := range t.NumFields() {
		if i > 0 {
			p.b.WriteString("; ")
		}
		f := t.Field(i)
		if f.Embedded() {
			ft, isPtr := stripPointer(f.Type())
			if isPtr {
				p.b.WriteByte('*')
			}
			if n, ok := ft.(*types.Named); ok {
				p.name(n, true)
				p.args(n.TypeArgs())
			} else {
				p.print(ft)
			}
		} else {
			p.b.WriteString(f.Name() + " ")
			p.print(f.Type())
		}
		if tag := t.Tag(i); tag != "" {
			p.b.WriteString(" " + strconv.Quote(tag))
		}
	}
	p.b.WriteString("}")
}

func (p *typePrinter) iface(t *types.Interface) {
	if t == types.Universe.Lookup("any").Type().Underlying() {
		p.b.WriteString("interface{}")
		return
	}
	p.b.WriteString("interface{")
	sep := ""
	for i := range t.NumExplicitMethods() {
		m := t.ExplicitMethod(i)
		p.b.WriteString(sep + p.method(m))
		p.signature(m.Signature())
		sep = "; "
	}
	for i := range t.NumEmbeddeds() {
		p.b.WriteString(sep)
		p.print(t.EmbeddedType(i))
		sep = "; "
	}
	p.b.WriteString("}")
}

// method is the name that cells' packages give a method: all are exported, so that interfaces of one cell fit types of another.
func (p *typePrinter) method(m *types.Func) string {
	if m.Pkg() == p.c.Pkg {
		return exported(m.Name())
	}
	return m.Name()
}
