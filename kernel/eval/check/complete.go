package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"sort"
	"strings"

	"github.com/gander-go/gander/kernel/cell"
)

// maxItems bounds a completion.
const maxItems = 500

// Complete lists what can stand at the byte offset cursor of code. It works on code that is still broken elsewhere, and
// while a cell runs.
func (s *Session) Complete(code string, cursor int) cell.Completion {
	cursor = min(max(cursor, 0), len(code))
	if inside, literal := inText(code, cursor); inside {
		return s.completeImport(code, cursor, literal)
	}
	s.query.mu.Lock()
	defer s.query.mu.Unlock()
	st := s.snapshot()
	none := cell.Completion{Start: cursor, End: cursor}
	if start, _ := identAt(code, cursor); start < cursor && code[start] >= '0' && code[start] <= '9' {
		return none
	}
	q := s.ask(st, code, cursor)
	if q == nil {
		return none
	}
	defer q.release()
	l := &list{q: q, seen: map[string]bool{}}
	switch p := q.parent(1).(type) {
	case *ast.SelectorExpr:
		if p.Sel == q.id {
			l.members(p)
			break
		}
		l.scope()
	case *ast.BranchStmt:
		l.labels()
	default:
		l.fields()
		l.scope()
	}
	return cell.Completion{Start: q.start, End: q.end, Items: l.sorted()}
}

// list collects candidates.
type list struct {
	q     *query
	items []candidate
	seen  map[string]bool
}

type candidate struct {
	cell.CompletionItem
	rank int // the lower, the nearer
}

func (l *list) add(rank int, name, kind, signature string) {
	if name == "_" || name == "" || strings.Contains(name, mark) || l.seen[name] {
		return
	}
	if len(name) < len(l.q.prefix) || !strings.EqualFold(name[:len(l.q.prefix)], l.q.prefix) {
		return
	}
	l.seen[name] = true
	if !strings.HasPrefix(name, l.q.prefix) {
		rank += 10
	}
	l.items = append(l.items, candidate{cell.CompletionItem{Text: name, Type: kind, Signature: signature}, rank})
}

func (l *list) object(rank int, name string, o types.Object) {
	l.add(rank, name, kindOf(o), l.signature(o))
}

func (l *list) sorted() []cell.CompletionItem {
	sort.SliceStable(l.items, func(i, j int) bool {
		a, b := l.items[i], l.items[j]
		if a.rank != b.rank {
			return a.rank < b.rank
		}
		return a.Text < b.Text
	})
	out := make([]cell.CompletionItem, 0, min(len(l.items), maxItems))
	for _, c := range l.items[:min(len(l.items), maxItems)] {
		out = append(out, c.CompletionItem)
	}
	return out
}

// signature is the part of an object's declaration that follows its name.
func (l *list) signature(o types.Object) string {
	switch o := o.(type) {
	case *types.Func:
		return strings.TrimPrefix(l.q.typeString(o.Type()), "func")
	case *types.PkgName:
		return o.Imported().Path()
	case *types.TypeName:
		if o.Type() == nil {
			return ""
		}
		switch u := o.Type().Underlying().(type) {
		case *types.Struct:
			return "struct"
		case *types.Interface:
			return "interface"
		default:
			return l.q.typeString(u)
		}
	case *types.Builtin, *types.Nil:
		return ""
	case *types.Const:
		return l.q.typeString(o.Type()) + " = " + o.Val().String()
	}
	if o.Type() == nil {
		return ""
	}
	return l.q.typeString(o.Type())
}

func kindOf(o types.Object) string {
	switch o := o.(type) {
	case *types.Func:
		if o.Signature().Recv() != nil {
			return "method"
		}
		return "function"
	case *types.Builtin:
		return "function"
	case *types.TypeName:
		return "type"
	case *types.Const, *types.Nil:
		return "constant"
	case *types.PkgName:
		return "module"
	case *types.Var:
		if o.IsField() {
			return "field"
		}
	}
	return "variable"
}

// members lists what can follow the dot of sel.
func (l *list) members(sel *ast.SelectorExpr) {
	info := l.q.c.Info
	if id, ok := sel.X.(*ast.Ident); ok {
		if pn, ok := info.Uses[id].(*types.PkgName); ok {
			scope := pn.Imported().Scope()
			for _, name := range scope.Names() {
				if token.IsExported(name) {
					l.object(0, name, scope.Lookup(name))
				}
			}
			return
		}
	}
	tv := info.Types[sel.X]
	if tv.Type == nil || invalid(tv.Type) {
		return
	}
	if tv.IsType() { // method expressions
		for _, t := range []types.Type{tv.Type, types.NewPointer(tv.Type)} {
			l.methods(t)
		}
		return
	}
	if _, ok := tv.Type.(*types.Tuple); ok {
		return
	}
	l.structFields(tv.Type, 0, map[types.Type]bool{})
	t := tv.Type
	l.methods(t)
	if _, isPtr := t.Underlying().(*types.Pointer); !isPtr && !types.IsInterface(t) && tv.Addressable() {
		l.methods(types.NewPointer(t))
	}
}

func (l *list) visible(o types.Object) bool { return o.Exported() || o.Pkg() == l.q.c.Pkg }

// structFields lists the fields of a struct, also those of embedded ones.
func (l *list) structFields(t types.Type, depth int, seen map[types.Type]bool) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok || seen[t] {
		return
	}
	seen[t] = true
	for i := range st.NumFields() {
		if f := st.Field(i); l.visible(f) {
			l.object(min(depth, 5), f.Name(), f)
		}
	}
	for i := range st.NumFields() {
		if f := st.Field(i); f.Embedded() {
			l.structFields(f.Type(), depth+1, seen)
		}
	}
}

func (l *list) methods(t types.Type) {
	set := types.NewMethodSet(t)
	for i := range set.Len() {
		if o := set.At(i).Obj(); l.visible(o) {
			l.object(1, o.Name(), o)
		}
	}
}

// fields lists the fields that a composite literal around the cursor has not set yet.
func (l *list) fields() {
	lit, ok := l.q.parent(1).(*ast.CompositeLit)
	if kv, isKV := l.q.parent(1).(*ast.KeyValueExpr); isKV && kv.Key == l.q.id {
		lit, ok = l.q.parent(2).(*ast.CompositeLit)
	}
	if !ok || lit.Type == l.q.id {
		return
	}
	t := l.q.c.Info.Types[lit].Type
	if t == nil {
		return
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	set := map[string]bool{}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok {
				set[id.Name] = true
			}
		}
	}
	for i := range st.NumFields() {
		if f := st.Field(i); l.visible(f) && !set[f.Name()] {
			l.object(-1, f.Name(), f)
		}
	}
}

// labels lists the labels of the cell's statements.
func (l *list) labels() {
	ast.Inspect(l.q.c.Cell.File, func(n ast.Node) bool {
		if s, ok := n.(*ast.LabeledStmt); ok {
			l.add(0, s.Label.Name, "keyword", "label")
		}
		return true
	})
}

// scope lists everything that is visible at the cursor: locals, the session's names, packages, predeclared names,
// keywords, and standard packages that an import will be added for.
func (l *list) scope() {
	q := l.q
	pkg := q.c.Pkg.Scope()
	rank := 0
	for s := q.scopeAt(); s != nil && s != pkg && s != types.Universe; s = s.Parent() {
		for _, name := range s.Names() {
			o := s.Lookup(name)
			if _, isPkg := o.(*types.PkgName); !isPkg && o.Pos() < q.id.Pos() {
				l.object(rank, name, o)
			}
		}
		rank = min(rank+1, 3)
	}
	for key, sym := range q.ns.syms {
		if sym.Kind == MethodSymbol {
			continue
		}
		if o := pkg.Lookup(q.ns.spell(sym)); o != nil {
			l.object(4, key, o)
		}
	}
	for name, path := range q.ns.imports {
		l.add(5, name, "module", path)
	}
	for _, path := range q.ns.dots {
		if p, err := q.importPackage(path); err == nil {
			for _, name := range p.Scope().Names() {
				if token.IsExported(name) {
					l.object(5, name, p.Scope().Lookup(name))
				}
			}
		}
	}
	for _, name := range types.Universe.Names() {
		l.object(6, name, types.Universe.Lookup(name))
	}
	for t := token.BREAK; t <= token.VAR; t++ {
		l.add(7, t.String(), "keyword", "")
	}
	if q.prefix == "" {
		return
	}
	for _, name := range q.s.pkgs.StandardNames() {
		if paths := q.s.pkgs.Standard(name); len(paths) > 0 {
			l.add(8, name, "module", paths[0])
		}
	}
}

// completeImport lists import paths inside the string literal of an import declaration.
func (s *Session) completeImport(code string, cursor, literal int) cell.Completion {
	none := cell.Completion{Start: cursor, End: cursor}
	if literal < 0 {
		return none
	}
	inImport := false
	for _, p := range Cut(code) {
		inImport = inImport || p.Kind == ImportPiece && p.Start <= literal && literal < p.End
	}
	if !inImport {
		return none
	}
	prefix := code[literal+1 : cursor]
	end := cursor
	for end < len(code) && !strings.ContainsRune("\"`\n ;)", rune(code[end])) {
		end++
	}
	out := cell.Completion{Start: literal + 1, End: end}
	for _, path := range s.pkgs.Paths() {
		if strings.HasPrefix(path, prefix) && len(out.Items) < maxItems {
			out.Items = append(out.Items, cell.CompletionItem{Text: path, Type: "module"})
		}
	}
	slices.SortFunc(out.Items, func(a, b cell.CompletionItem) int { return strings.Compare(a.Text, b.Text) })
	return out
}
