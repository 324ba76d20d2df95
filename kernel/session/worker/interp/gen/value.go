package main

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// value is the expression for a symbol's entry in a table; "" for what is generic, or no value.
func value(ref string, obj types.Object) string {
	switch obj := obj.(type) {
	case *types.Const:
		if b, ok := obj.Type().(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
			kind := map[constant.Kind]token.Token{constant.Int: token.INT, constant.Float: token.FLOAT, constant.String: token.STRING, constant.Complex: token.IMAG}[obj.Val().Kind()]
			if obj.Val().Kind() == constant.Bool {
				return fmt.Sprintf("reflect.ValueOf(constant.MakeBool(%t))", constant.BoolVal(obj.Val()))
			}
			if kind == token.ILLEGAL || kind == token.IMAG {
				return ""
			}
			if num, den, ok := strings.Cut(obj.Val().ExactString(), "/"); ok && kind == token.FLOAT { // no literal says that exactly
				return fmt.Sprintf("reflect.ValueOf(constant.BinaryOp(constant.MakeFromLiteral(%q, token.INT, 0), token.QUO, constant.MakeFromLiteral(%q, token.INT, 0)))", num, den)
			}
			return fmt.Sprintf("reflect.ValueOf(constant.MakeFromLiteral(%q, token.%s, 0))", obj.Val().ExactString(), kind)
		}
		return "reflect.ValueOf(" + ref + ")"
	case *types.Var:
		return "reflect.ValueOf(&" + ref + ").Elem()"
	case *types.Func:
		if obj.Signature().TypeParams().Len() > 0 {
			return ""
		}
		return "reflect.ValueOf(" + ref + ")"
	case *types.TypeName:
		if isGeneric(obj) {
			return ""
		}
		if n, ok := types.Unalias(obj.Type()).(*types.Named); ok && n.TypeArgs().Len() > 0 {
			return ""
		}
		return "reflect.ValueOf((*" + ref + ")(nil))"
	}
	return ""
}

// isGeneric reports whether reflection knows nothing of obj: it has type parameters, or is a constraint.
func isGeneric(obj types.Object) bool {
	switch obj := obj.(type) {
	case *types.Func:
		return obj.Signature().TypeParams().Len() > 0
	case *types.TypeName:
		if n, ok := types.Unalias(obj.Type()).(*types.Named); ok && n.TypeParams().Len() > 0 {
			return true
		}
		if a, ok := obj.Type().(*types.Alias); ok && a.TypeParams().Len() > 0 {
			return true
		}
		i, ok := obj.Type().Underlying().(*types.Interface)
		return ok && !i.IsMethodSet()
	}
	return false
}
