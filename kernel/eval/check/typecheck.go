package check

import (
	"go/ast"
	"go/parser"
	"go/types"
	"runtime"
	"strings"
)

// typecheck checks the generated file with the items that are kept.
func (k *checker) typecheck() {
	c := k.c
	c.Cell.Text = k.gen.text
	c.Info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Instances: map[*ast.Ident]types.Instance{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes: map[ast.Node]*types.Scope{}, Implicits: map[ast.Node]types.Object{},
	}
	c.Pkg = types.NewPackage("main", "cell")
	c.names = k.ns
	f, err := parser.ParseFile(k.v.fset, "", k.gen.text, parser.SkipObjectResolution|parser.ParseComments)
	if f == nil {
		f = &ast.File{Name: ast.NewIdent("cell")}
	}
	if err != nil { // each piece parsed, so this is a cell that no cutting makes sense of
		k.problem(0, 0, "syntax error: "+err.Error())
	}
	c.Cell.File = f
	files := []*ast.File{f}
	isNew := map[*item]bool{}
	for _, it := range k.rebound {
		isNew[it] = true
	}
	for _, it := range k.kept {
		k.enter(it)
		switch pf := k.v.parse(it, k.ns); {
		case pf == nil:
		case isNew[it]:
			files = append(files, pf.full)
		default:
			files = append(files, pf.bare)
		}
	}
	for _, o := range k.own {
		if o.sym.Kind != MethodSymbol {
			k.spelt[k.ns.spell(o.sym)] = o.sym
		}
	}
	c.spelt = k.spelt
	conf := types.Config{
		Importer:                 importerFunc(k.importPackage),
		DisableUnusedImportCheck: true,
		Sizes:                    types.SizesFor("gc", runtime.GOARCH),
		Error:                    func(err error) { k.collect(err.(types.Error)) },
	}
	types.NewChecker(&conf, k.v.fset, c.Pkg, c.Info).Files(files) //nolint:errcheck // every error went to conf.Error
}

func (k *checker) enter(it *item) {
	if it.kind == MethodSymbol {
		return
	}
	for _, s := range it.syms {
		k.spelt[k.ns.spell(s)] = s
	}
}

// collect sets apart what cells may do, leave something unused, and joins continuation lines to what they continue. The
// type checker's own mark of soft errors will not do: constraints that are not met bear it, too.
func (k *checker) collect(e types.Error) {
	switch {
	case strings.HasPrefix(e.Msg, "\t"):
		if n := len(k.errs); n > 0 {
			k.errs[n-1].Msg += "\n" + e.Msg
		}
	case e.Soft && strings.Contains(e.Msg, "and not used"):
		k.soft = append(k.soft, e)
	default:
		k.errs = append(k.errs, e)
	}
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }
