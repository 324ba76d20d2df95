package interp

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"
	"strings"

	"github.com/gander-go/gander/kernel/session/rt"
)

var basicTypes = map[string]reflect.Type{
	"bool": reflect.TypeFor[bool](), "string": reflect.TypeFor[string](), "error": reflect.TypeFor[error](),
	"int": reflect.TypeFor[int](), "int8": reflect.TypeFor[int8](), "int16": reflect.TypeFor[int16](), "int32": reflect.TypeFor[int32](),
	"int64": reflect.TypeFor[int64](), "uint": reflect.TypeFor[uint](), "uint8": reflect.TypeFor[uint8](), "uint16": reflect.TypeFor[uint16](),
	"uint32": reflect.TypeFor[uint32](), "uint64": reflect.TypeFor[uint64](), "uintptr": reflect.TypeFor[uintptr](),
	"float32": reflect.TypeFor[float32](), "float64": reflect.TypeFor[float64](), "byte": reflect.TypeFor[byte](), "rune": reflect.TypeFor[rune](),
}

// typeOf finds the type of a link.Var: Go's notation, with session.Name for types of the session and "path".Name for
// those of packages.
func (r *runner) typeOf(text string) (reflect.Type, error) {
	var paths []string // "path".Name is no Go: paths become identifiers
	var b strings.Builder
	for rest := text; ; {
		i := strings.IndexByte(rest, '"')
		if i < 0 {
			b.WriteString(rest)
			break
		}
		q, err := strconv.QuotedPrefix(rest[i:])
		if err != nil {
			return nil, fmt.Errorf("reading type %s: %w", text, err)
		}
		path, _ := strconv.Unquote(q)
		fmt.Fprintf(&b, "%sp%d", rest[:i], len(paths))
		paths = append(paths, path)
		rest = rest[i+len(q):]
	}
	e, err := parser.ParseExpr(b.String())
	if err != nil {
		return nil, fmt.Errorf("reading type %s: %w", text, err)
	}
	t, err := r.build(e, paths)
	if err != nil {
		return nil, fmt.Errorf("reading type %s: %w", text, err)
	}
	return t, nil
}

func (r *runner) build(e ast.Expr, paths []string) (reflect.Type, error) {
	switch e := e.(type) {
	case *ast.Ident:
		if t, ok := basicTypes[e.Name]; ok {
			return t, nil
		}
	case *ast.StarExpr:
		t, err := r.build(e.X, paths)
		if err != nil {
			return nil, err
		}
		return reflect.PointerTo(t), nil
	case *ast.ArrayType:
		t, err := r.build(e.Elt, paths)
		if err != nil {
			return nil, err
		}
		if e.Len == nil {
			return reflect.SliceOf(t), nil
		}
		if lit, ok := e.Len.(*ast.BasicLit); ok && lit.Kind == token.INT {
			n, err := strconv.Atoi(lit.Value)
			if err != nil {
				return nil, err
			}
			return reflect.ArrayOf(n, t), nil
		}
	case *ast.MapType:
		k, err := r.build(e.Key, paths)
		if err != nil {
			return nil, err
		}
		v, err := r.build(e.Value, paths)
		if err != nil {
			return nil, err
		}
		return reflect.MapOf(k, v), nil
	case *ast.InterfaceType:
		if e.Methods.NumFields() == 0 {
			return reflect.TypeFor[any](), nil
		}
	case *ast.FuncType:
		return r.function(e, paths)
	case *ast.SelectorExpr:
		return r.named(e, paths)
	}
	return nil, fmt.Errorf("%T is not supported", e)
}

func (r *runner) function(e *ast.FuncType, paths []string) (reflect.Type, error) {
	var sides [2][]reflect.Type
	variadic := false
	for i, fields := range []*ast.FieldList{e.Params, e.Results} {
		if fields == nil {
			continue
		}
		for _, f := range fields.List {
			x := f.Type
			dots, ok := x.(*ast.Ellipsis)
			if ok {
				variadic, x = true, &ast.ArrayType{Elt: dots.Elt}
			}
			t, err := r.build(x, paths)
			if err != nil {
				return nil, err
			}
			sides[i] = append(sides[i], t)
		}
	}
	return reflect.FuncOf(sides[0], sides[1], variadic), nil
}

func (r *runner) named(e *ast.SelectorExpr, paths []string) (reflect.Type, error) {
	x, ok := e.X.(*ast.Ident)
	if !ok {
		return nil, fmt.Errorf("%T is no package", e.X)
	}
	if x.Name == "session" {
		if t := rt.Type(e.Sel.Name); t != nil {
			return t, nil
		}
		return nil, fmt.Errorf("the session has no type %s", e.Sel.Name)
	}
	n, err := strconv.Atoi(strings.TrimPrefix(x.Name, "p"))
	if err != nil || n >= len(paths) {
		return nil, fmt.Errorf("%s is no package", x.Name)
	}
	table, err := r.table(paths[n])
	if err != nil {
		return nil, err
	}
	v := table[e.Sel.Name]
	if !v.IsValid() || v.Kind() != reflect.Pointer || !v.IsNil() {
		return nil, fmt.Errorf("package %s has no type %s", paths[n], e.Sel.Name)
	}
	return v.Type().Elem(), nil
}
